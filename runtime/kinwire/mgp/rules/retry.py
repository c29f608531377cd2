"""Whether, and when, a call of a tool is tried again after an error (MGP 14.5, 14.6)."""

from __future__ import annotations

__all__ = ("Retries", "RetryBudget", "may_be_retried", "most_retries", "retry_delay")

from dataclasses import dataclass, fields

from kinwire.mgp.rules.durations import in_seconds
from kinwire.mgp.rules.tools import KnownTool
from kinwire.support.arguments import (
    COUNT,
    SECONDS,
    SECONDS_OR_ZERO,
    ArgumentCheck,
    ValueKind,
)
from kinwire.support.backoff import Backoff
from kinwire.support.validation import is_number
from kinwire_protocols.base import RpcError
from kinwire_protocols.mgp import errors
from kinwire_protocols.mgp.models import ErrorRecovery

_NOT_RUN = (
    errors.ServerNotReadyError,
    errors.ServerDrainingError,
    errors.ServerRestartingError,
    errors.RateLimitedError,
    errors.ResourceExhaustedError,
)
"""With these a server refuses a call: the tool has not run."""

_SHARE = ValueKind(
    "a number from 0 to 1",
    "0.1",
    lambda value: is_number(value) and 0 <= value <= 1,
    error=ValueError,
)
_RETRIES = ArgumentCheck(
    "Retries",
    "Retries()",
    {},
    most=COUNT,
    first_delay=SECONDS_OR_ZERO,
    longest_delay=SECONDS,
    share=_SHARE,
    burst=COUNT,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """How a kernel repeats calls that failed with a retryable error: `MgpKernel(retries=...)`.

    Times are in seconds. `Retries(most=0)` repeats nothing.
    """

    most: int = 3
    """The most retries of one call; an error may ask for fewer (`max_retries`)."""
    first_delay: float = 0.5
    """The delay before the first retry, if the error does not ask for a longer one."""
    longest_delay: float = 60.0
    """The longest delay; an error that asks for a longer one is not retried."""
    share: float = 0.1
    """The most retries of a server's calls, as a part of the calls, after the first `burst`."""
    burst: int = 10
    """How many retries may be made at a time, whatever `share` allows."""

    def __post_init__(self) -> None:
        _RETRIES.check(**{one.name: getattr(self, one.name) for one in fields(self)})


class RetryBudget:
    """Counts the calls and the retries of one server, which are a small part of its load."""

    def __init__(self, options: Retries) -> None:
        self._share = options.share
        self._most = self._left = float(options.burst)

    def called(self) -> None:
        """Count a call, which allows a part of a retry."""
        self._left = min(self._most, self._left + self._share)

    def take(self) -> bool:
        """Count a retry, if one may be made; return whether it may."""
        if self._left < 1:
            return False
        self._left -= 1
        return True


def may_be_retried(error: RpcError, recovery: ErrorRecovery, tool: KnownTool) -> bool:
    """Return whether a call that failed may be repeated at all.

    A dangerous tool may have run before it failed: its call is repeated only if the error says that
    it has not run, or if the tool declares that running it twice changes nothing.
    """
    if not recovery.retryable:
        return False
    if tool.risk != "dangerous" or tool.annotations.get("idempotentHint") is True:
        return True
    return isinstance(error, _NOT_RUN)


def most_retries(recovery: ErrorRecovery, options: Retries) -> int:
    """Return how many retries an error allows."""
    said = recovery.max_retries
    return options.most if said is None else min(said, options.most)


def retry_delay(
    recovery: ErrorRecovery, failures: int, options: Retries, *, jitter: float
) -> float | None:
    """Return the seconds to wait after `failures` tries in a row; None if that is too long.

    `jitter` is a random number from 0 to 1. It only lengthens a delay, and a delay is never shorter
    than the error asks for. A strategy that is unknown is taken for `exponential_backoff`.
    """
    least = in_seconds(recovery.retry_after_ms or 0)
    if least > options.longest_delay:
        return None
    if recovery.retry_strategy == "immediate":
        return least
    first = least or options.first_delay
    growing = recovery.retry_strategy != "fixed_delay"
    backoff = Backoff(first=first, longest=max(first, options.longest_delay) if growing else first)
    return max(least, min(options.longest_delay, backoff.delay(failures, jitter=jitter)))
