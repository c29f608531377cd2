"""What a server says of its health, and how it ends: `MgpServer(lifecycle=Lifecycle(...))`."""

from __future__ import annotations

__all__ = ("HealthCheck", "Lifecycle", "OnShutdown", "Resources", "Shutdown")

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from kinwire.support.arguments import (
    FUNCTION,
    SECONDS,
    SECONDS_OR_ZERO,
    TEXTS,
    ArgumentCheck,
    table_of,
)
from kinwire_protocols.mgp.tables import SHUTDOWN_TIMEOUT_MS

HealthCheck = Callable[[], bool | Awaitable[bool]]
"""Says whether one thing that a server needs is there: a plain or an `async` function."""
Resources = Callable[[], Mapping[str, Any] | Awaitable[Mapping[str, Any]]]
"""Returns what a server uses, as JSON: a plain or an `async` function."""


@dataclass(frozen=True, slots=True)
class Shutdown:
    """That a session is to end, as `Lifecycle.on_shutdown` gets it."""

    reason: str | None
    """Why, in the kernel's word (MGP 0.2.0 section 11.4); `signal` after SIGTERM, and where a
    listener stops. None if the kernel gave none."""
    timeout: float
    """How many seconds there are at most."""


OnShutdown = Callable[[Shutdown], object]
"""Is called when a session begins to end: a plain or an `async` function."""

_LIFECYCLE = ArgumentCheck(
    "Lifecycle",
    "Lifecycle()",
    {},
    checks=table_of(FUNCTION, "a dictionary from names to functions", '"database"'),
    vital=TEXTS,
    resources=FUNCTION.or_none,
    check_timeout=SECONDS,
    drain_timeout=SECONDS_OR_ZERO,
    on_shutdown=FUNCTION.or_none,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifecycle:
    """How a server answers for its health, and how it ends. Times are in seconds.

    Functions are plain or `async`; a plain check or `resources` runs in a thread. A check that
    fails, is late or returns anything but True counts as False.

    Raises:
        TypeError, ValueError: an argument is not of its type, or `vital` names no check.

    Source: MGP 0.2.0 sections 11.3 and 11.4.
    """

    checks: Mapping[str, HealthCheck] = field(default_factory=dict[str, HealthCheck])
    """What the server needs, by names of its own: with one that is False it is `degraded`."""
    vital: Collection[str] = ()
    """The checks without which it is `unhealthy`."""
    resources: Resources | None = None
    """Adds to what the server says it uses: `memory_bytes` and `open_connections`."""
    check_timeout: float = 2.0
    """How long all checks, which run at the same time, may take."""
    drain_timeout: float = SHUTDOWN_TIMEOUT_MS / 1000
    """How long what is under way may take where a shutdown does not say."""
    on_shutdown: OnShutdown | None = None
    """Is called when a session with a kernel begins to end, and has until the timeout. Only that
    session ends, unless this function ends more; over stdio the program ends with it."""

    def __post_init__(self) -> None:
        _LIFECYCLE.check(**{one.name: getattr(self, one.name) for one in fields(self)})
        for name in self.vital:
            if name not in self.checks:
                raise ValueError(
                    f"Lifecycle.vital: expected names of checks, got {name!r:.60}. There is no "
                    "check of that name. Add it."
                )
