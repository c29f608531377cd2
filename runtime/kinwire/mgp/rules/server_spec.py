"""How one supervised server is started, watched and stopped, as configured (MGP 0.2.0, 11, 15)."""

from __future__ import annotations

__all__ = ("ServerSpec", "SpecTransport", "WhenRestarting")

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from os import PathLike, fspath
from typing import Literal, get_args

from kinwire.mgp.rules.restart_rules import RestartRules
from kinwire.support.arguments import (
    FLAG,
    PATH,
    SECONDS,
    SECONDS_OR_ZERO,
    SECRET,
    ArgumentCheck,
    ValueKind,
    count_from,
    instance_of,
    list_of,
    one_of,
    table_of,
)
from kinwire_protocols.mgp.tables import HEALTH_PING_TIMEOUT_MS, SHUTDOWN_TIMEOUT_MS

WhenRestarting = Literal["wait", "refuse"]
"""What happens to a call while its server is restarting."""
SpecTransport = Literal["stdio", "http", "ws"]
"""How a server is reached; `http` is Streamable HTTP, or HTTP+SSE where a server has only that."""

_OF_PROCESS = ("id", "command", "args", "env", "cwd", "url", "headers", "insecure", "public_only")
_SCHEMES = ("http://", "https://", "ws://", "wss://")


def _is_url(value: object) -> bool:
    return isinstance(value, str) and value.lower().startswith(_SCHEMES)


def _is_id(value: object) -> bool:
    return isinstance(value, str) and bool(value) and value.isprintable() and value == value.strip()


_SERVER_SPEC = ArgumentCheck(
    "ServerSpec",
    'ServerSpec("files", command="python")',
    {
        "id": ValueKind("a name in one line", '"files"', _is_id, error=ValueError),
        "command": PATH.or_none,
    },
    args=list_of(SECRET, "several strings"),
    env=table_of(SECRET, "a dictionary of strings", '"NAME"'),
    cwd=PATH.or_none,
    restart=instance_of(RestartRules, "RestartRules", "RestartRules()"),
    start_timeout=SECONDS,
    ping_interval=SECONDS.or_none,
    ping_timeout=SECONDS,
    ping_misses=count_from(1),
    idle_timeout=SECONDS.or_none,
    max_memory_bytes=count_from(1).or_none,
    drain_timeout=SECONDS_OR_ZERO,
    when_restarting=one_of(*get_args(WhenRestarting)),
    wait_timeout=SECONDS,
    leased=FLAG,
)


_ELSEWHERE = ArgumentCheck(
    "ServerSpec",
    'ServerSpec("files", url="http://127.0.0.1:8000/mcp")',
    {
        "url": ValueKind(
            "a URL of http, https, ws or wss", "", _is_url, error=ValueError, secret=True
        ).or_none
    },
    headers=table_of(SECRET, "a dictionary of headers", '"Authorization"'),
    insecure=FLAG,
    public_only=FLAG,
)
_OF_URL = ("url", "headers", "insecure", "public_only")


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """A server that a `Supervisor` keeps alive: `ServerSpec("files", command="python", ...)`.

    Either `command`, with `args`, `env` and `cwd`, or `url`, with `headers`, `insecure` and
    `public_only`. Times
    are in seconds. `repr` leaves out what may have secrets in it: `args`, `env`, `url`, `headers`.

    Raises:
        TypeError: an argument is not of its type.
        ValueError: a number is out of range, or `command` and `url` are both given, or neither is.
    """

    id: str
    """The identity of the server (`server_id` of `Host.connect`): unique in a supervisor."""
    command: str | None = None
    """The program to start, found as the shell finds it; no shell runs it."""
    args: Sequence[str] = field(default=(), kw_only=True, repr=False)
    env: Mapping[str, str] = field(default_factory=dict[str, str], kw_only=True, repr=False)
    """What is added to the few variables that `stdio` passes on, such as PATH and HOME."""
    cwd: str | None = field(default=None, kw_only=True)
    """The folder in which the program starts; None for that of this program."""
    url: str | None = field(default=None, kw_only=True, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict[str, str], kw_only=True, repr=False)
    insecure: bool = field(default=False, kw_only=True)
    """Whether plain text may go to another machine."""
    public_only: bool = field(default=False, kw_only=True)
    """Whether each connection has to go to an address on the public internet: every address of the
    host is checked, and no proxy is asked. Only for http and https."""
    restart: RestartRules = field(default=RestartRules(), kw_only=True)
    start_timeout: float = field(default=30.0, kw_only=True)
    """How long a start may take, with the whole handshake; a longer one has failed."""
    ping_interval: float | None = field(default=30.0, kw_only=True)
    """How long after an answer the server is pinged again; None for no pings."""
    ping_timeout: float = field(default=HEALTH_PING_TIMEOUT_MS / 1000, kw_only=True)
    """How soon a ping has to be answered."""
    ping_misses: int = field(default=3, kw_only=True)
    """How many pings in a row, without an answer in time, are a failure of the server."""
    idle_timeout: float | None = field(default=None, kw_only=True)
    """How long no call may be made or under way before the server is shut down (`idle_timeout`).

    The next call starts it, unless `restart` has started it already.
    """
    max_memory_bytes: int | None = field(default=None, kw_only=True)
    """The most resident memory of the child and all processes of its group, before it is shut down
    (`resource_limit`). Only for a `command`."""
    drain_timeout: float = field(default=SHUTDOWN_TIMEOUT_MS / 1000, kw_only=True)
    """How long a server that is shut down may take to finish calls; then its group is killed."""
    when_restarting: WhenRestarting = field(default="refuse", kw_only=True)
    """Whether a call during a restart waits for it, or is refused (2002)."""
    wait_timeout: float = field(default=60.0, kw_only=True)
    """How long a call may wait for a restart before it is refused (2002)."""
    leased: bool = field(default=False, kw_only=True)
    """Whether it runs under one of several kernels at a time, which a lease decides."""

    def __post_init__(self) -> None:
        names = [one.name for one in fields(self) if one.name not in _OF_URL]
        _SERVER_SPEC.check(**{name: getattr(self, name) for name in names})
        _ELSEWHERE.check(**{name: getattr(self, name) for name in _OF_URL})
        _check_way(self)
        for name, value in (("args", tuple(self.args)), *_plain_paths(self)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "env", dict(self.env))
        object.__setattr__(self, "headers", dict(self.headers))

    def has_same_process(self, other: ServerSpec) -> bool:
        """Return whether a server of this spec can go on under the other one."""
        return all(getattr(self, name) == getattr(other, name) for name in _OF_PROCESS)

    @property
    def transport(self) -> SpecTransport:
        """How the server is reached: by `command`, or by the scheme of `url`."""
        if self.url is None:
            return "stdio"
        return "ws" if self.url.lower().startswith("ws") else "http"


def _plain_paths(spec: ServerSpec) -> list[tuple[str, str]]:
    """Return the paths of a spec as strings."""
    paths: dict[str, str | PathLike[str] | None] = {"command": spec.command, "cwd": spec.cwd}
    return [(name, fspath(path)) for name, path in paths.items() if path is not None]


def _check_way(spec: ServerSpec) -> None:
    """Raise ValueError unless a spec says one way to reach the server."""
    if (spec.command is None) == (spec.url is None):
        raise ValueError(
            f"ServerSpec {spec.id!r:.60}: expected either a command or a url. Write "
            'ServerSpec("files", command="python", args=["server.py"]) or '
            'ServerSpec("files", url="http://127.0.0.1:8000/mcp")'
        )
    if spec.command == "":
        raise ValueError(f"ServerSpec {spec.id!r:.60}: expected a command, got an empty string.")
    if spec.public_only and spec.transport == "ws":
        raise ValueError(
            f"ServerSpec {spec.id!r:.60}: public_only: expected a url of http or https."
        )
    wrong_way = _OF_URL[1:] if spec.url is None else ("args", "env", "cwd")
    names = (*wrong_way, *(() if spec.url is None else ("max_memory_bytes",)))
    for name in names:
        if getattr(spec, name):
            way = "a url" if spec.url is None else "a command"
            raise ValueError(
                f"ServerSpec {spec.id!r:.60}: {name}: expected nothing, as it is for {way}. "
                "Leave it out."
            )
