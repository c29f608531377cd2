"""What a server of MCP-lite keeps, for how long, and how much of it."""

from __future__ import annotations

__all__ = ("LiteLimits",)

from dataclasses import dataclass, fields

from kinwire.support.arguments import SECONDS, ArgumentCheck, count_from


@dataclass(frozen=True, slots=True, kw_only=True)
class LiteLimits:
    """Bounds of a `LiteServer`. Sizes are in bytes, times in seconds."""

    token_life: float = 86_400.0
    """How long a promise can be redeemed; work that takes longer is cancelled."""

    result_kept: float = 3600.0
    """How long the result of a promise is kept after it was redeemed first."""

    open_promises: int = 10_000
    """Promises of a process whose work is not over. Without a store, also the results that are kept
    in memory: the oldest are forgotten."""

    open_promises_per_caller: int = 1000
    """The same of one caller."""

    result_size: int = 4 * 1024 * 1024
    """The largest result of a promise, and of a call with an idempotency key."""

    poll: float = 1.0
    """The shortest time that clients are asked to wait before they redeem again."""

    longest_poll: float = 30.0
    """The longest of these times."""

    refusal_time: float = 0.05
    """When a token that cannot be redeemed is answered, counted from its arrival."""

    questions_life: float = 3600.0
    """How long the questions of a tool can be answered."""

    state_size: int = 65_536
    """The largest state that goes with questions."""

    worker_lease: float = 15.0
    """How long a process is believed to work on its promises without a sign of life."""

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            ValueError: a value is not a number, or out of range.
        """
        _LITE_LIMITS.check(**{one.name: getattr(self, one.name) for one in fields(self)})


_COUNTED = {"open_promises", "open_promises_per_caller", "result_size", "state_size"}

_LITE_LIMITS = ArgumentCheck(
    "LiteLimits",
    "LiteLimits(token_life=3600)",
    {},
    **{one.name: count_from(1) if one.name in _COUNTED else SECONDS for one in fields(LiteLimits)},
)
