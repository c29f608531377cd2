"""Which paths an application answers at: its endpoint, and a health check. All others get 404."""

from __future__ import annotations

__all__ = ("HEALTH", "PATH_KIND", "ServedPaths", "elsewhere", "path_below_mount")

from kinwire.support.arguments import ValueKind
from kinwire.transports.http.replies import JSON, HttpResponse, Scope, refusal

HEALTH = HttpResponse(200, b'{"status":"ok"}', (JSON, (b"cache-control", b"no-store")))
"""The answer to a health check."""

_HEALTH_METHODS = ("GET", "HEAD")


def _is_path(value: object) -> bool:
    return isinstance(value, str) and value.startswith("/") and not {"?", "#"} & {*value}


PATH_KIND = ValueKind('a path that begins with "/"', '"/mcp"', _is_path, error=ValueError)
"""What a parameter for a path takes."""


def path_below_mount(scope: Scope) -> str:
    """Return the path of a request without the mount point of the application, if it has one."""
    path: str = scope["path"]
    root: str = scope.get("root_path", "").rstrip("/")
    below = root and (path == root or path.startswith(f"{root}/"))
    return (path[len(root) :] if below else path).rstrip("/")


class ServedPaths:
    """The paths of one application.

    `path` is that of the endpoint. With None it is `default`, and where the application is mounted
    in another one the mount point, too; `at_root` says that a port of its own is one. A slash at
    the end of a path makes no difference. A request to `health` is answered here.

    Raises:
        ValueError: endpoint and health check have the same path.
    """

    def __init__(
        self, path: str | None, default: str, health: str | None, *, at_root: bool = False
    ) -> None:
        self.path = path or default
        """The path of the endpoint, for an application that is not mounted."""
        self._endpoint = self.path.rstrip("/")
        self._at_mount = path is None
        self._at_root = path is None and at_root
        self._health = None if health is None else health.rstrip("/")
        if self._health == self._endpoint:
            raise ValueError(f"health: expected another path than that of the endpoint, {path!r}")

    def other_reply(self, scope: Scope) -> HttpResponse | None:
        """Return what a request gets that is not for the endpoint; None if it is for it."""
        path = path_below_mount(scope)
        at_top = self._at_mount if scope.get("root_path", "").rstrip("/") else self._at_root
        if path == self._endpoint or (not path and at_top):
            return None
        return elsewhere(scope, path, self._health)


def elsewhere(scope: Scope, path: str, health: str | None) -> HttpResponse:
    """Return what a request gets that is for no endpoint: a health check, or that it is lost.

    `path` is that of the request below the mount point, `health` that of the check, both without a
    slash at the end.
    """
    if path == health and scope["type"] == "http":
        return _health_reply(scope["method"])
    return refusal(404, "Nothing is served at this path.")


def _health_reply(method: str) -> HttpResponse:
    if method in _HEALTH_METHODS:
        return HEALTH
    allowed = ", ".join(_HEALTH_METHODS)
    return refusal(405, f"{allowed} only.", headers=((b"allow", allowed.encode()),))
