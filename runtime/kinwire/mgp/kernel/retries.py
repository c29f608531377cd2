"""Which failed calls are repeated when, and which tool is tried in the end (MGP 14.6).

`rules/retry.py` decides; here are the clock, chance, and what each server may still repeat.
"""

from __future__ import annotations

__all__ = ("RetryEngine",)

import random
from collections.abc import Awaitable, Callable

import anyio

from kinwire.mgp.errors import recovery_of, typed
from kinwire.mgp.kernel.call import GuardedCall
from kinwire.mgp.rules.retry import (
    Retries,
    RetryBudget,
    may_be_retried,
    most_retries,
    retry_delay,
)
from kinwire.support.bounded import LruDict
from kinwire_protocols.base import RpcError

_MOST_SERVERS = 10_000


class RetryEngine:
    """Decides for the calls of one kernel."""

    def __init__(
        self,
        options: Retries,
        *,
        draw: Callable[[], float] = random.random,
        sleep: Callable[[float], Awaitable[object]] = anyio.sleep,
    ) -> None:
        self._options = options
        self._draw = draw
        self.sleep = sleep
        self._budgets = LruDict[str, RetryBudget](_MOST_SERVERS)

    def budget(self, server_id: str) -> RetryBudget:
        """Return what counts the calls and retries of a server, also over several connections."""
        budget = self._budgets.get(server_id)
        if budget is None:
            budget = RetryBudget(self._options)
            self._budgets.put(server_id, budget)
        return budget

    def delay(self, call: GuardedCall, error: RpcError, failures: int) -> float | None:
        """Return the seconds until a call is tried again, and count that; None if it is not.

        `failures` is how often it has failed, at least 1.
        """
        error = _known(call, error)
        recovery = recovery_of(error)
        if not may_be_retried(error, recovery, call.tool):
            return None
        if failures > most_retries(recovery, self._options):
            return None
        wait = retry_delay(recovery, failures, self._options, jitter=self._draw())
        return wait if wait is not None and self.budget(call.server.id).take() else None

    def fallback(self, call: GuardedCall, error: RpcError) -> str | None:
        """Return the tool to try instead, when a call has failed for the last time."""
        error = _known(call, error)
        recovery = recovery_of(error)
        if not may_be_retried(error, recovery, call.tool):
            return None
        return None if recovery.fallback_tool == call.tool.name else recovery.fallback_tool


def _known(call: GuardedCall, error: RpcError) -> RpcError:
    """Return an error with the class that its code has in MGP, if the server speaks MGP."""
    return error if call.server.offer is None else typed(error)
