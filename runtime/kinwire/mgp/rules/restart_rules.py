"""When and how often a server that ended is started again, as configured (MGP 0.2.0, 11.5)."""

from __future__ import annotations

__all__ = ("RestartRules",)

from dataclasses import dataclass, fields

from kinwire.support.arguments import COUNT, SECONDS_OR_ZERO, ArgumentCheck, one_of
from kinwire_protocols.mgp.models import RestartPolicy
from kinwire_protocols.mgp.tables import (
    RESTART_BACKOFF_BASE_MS,
    RESTART_BACKOFF_MAX_MS,
    RESTART_MAX,
    RESTART_POLICIES,
    RESTART_WINDOW_SECS,
)

_RESTART_RULES = ArgumentCheck(
    "RestartRules",
    "RestartRules()",
    {},
    policy=one_of(*RESTART_POLICIES),
    max_restarts=COUNT,
    window=SECONDS_OR_ZERO,
    backoff_base=SECONDS_OR_ZERO,
    backoff_max=SECONDS_OR_ZERO,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartRules:
    """When and how often a server is started again: `ServerSpec(..., restart=RestartRules())`.

    Times are in seconds; the defaults are those of MGP 0.2.0 section 11.5.

    Raises:
        ValueError: `policy` is not one of the three, or a number is out of range.
    """

    policy: RestartPolicy = "on_failure"
    """`never` restarts after no failure, `on_failure` after an end with an error, `always` after
    every end, also after a graceful one. An operator's `stop` holds with each of them."""
    max_restarts: int = RESTART_MAX
    """How many restarts a window has room for; with one more the server is given up. 0 means one
    start and no restart."""
    window: float = RESTART_WINDOW_SECS
    """How long a restart counts. With 0 restarts are not limited. A server that was connected for
    this long is healthy: the delays begin again from `backoff_base`."""
    backoff_base: float = RESTART_BACKOFF_BASE_MS / 1000
    """The delay before the first restart; it doubles with each, and grows by up to a tenth."""
    backoff_max: float = RESTART_BACKOFF_MAX_MS / 1000
    """The longest delay."""

    def __post_init__(self) -> None:
        _RESTART_RULES.check(**{one.name: getattr(self, one.name) for one in fields(self)})
