"""Which path leads to what: the endpoints of the document, with and without the base address.

Pure: the paths and their aliases are those of `kinwire_protocols.mcplite.tables.HTTP`.
"""

from __future__ import annotations

__all__ = ("LitePaths",)

from kinwire.transports.http.paths import elsewhere, path_below_mount
from kinwire.transports.http.replies import HttpResponse, Scope
from kinwire_protocols.mcplite.tables import HTTP
from kinwire_protocols.tables import HttpPath


class LitePaths:
    """The paths of one application below `base`, and a health check.

    Raises:
        ValueError: the health check has the path of an endpoint.
    """

    def __init__(self, base: str, health: str | None) -> None:
        self.base = base.rstrip("/") + "/"
        """What clients are given as the address, without scheme and host."""
        self._known: dict[str, HttpPath] = {}
        for name, row in HTTP.paths.items():
            for one in (name, *row.aliases):
                self._known[f"/{one}"] = self._known[self.base + one] = row
        self._health = None if health is None else health.rstrip("/")
        if self._health in self._known:
            raise ValueError(f"health: expected another path than that of an endpoint, {health!r}")

    def endpoint(self, scope: Scope) -> HttpPath | HttpResponse:
        """Return the row that a request is for, or what it gets where there is no such row."""
        row = self._known.get(scope["path"])
        if row is not None:  # almost always
            return row
        path = path_below_mount(scope)
        return self._known.get(path) or elsewhere(scope, path, self._health)
