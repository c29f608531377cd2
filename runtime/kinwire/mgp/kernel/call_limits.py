"""Limits of calls that the configuration sets: rates, quotas, and when credentials expire.

What was used is kept by agent, and by the kernel's name for the server: connecting again does not
begin with a new window or a new quota.
"""

from __future__ import annotations

__all__ = ("AtServer", "CallLimits")

from typing import Protocol, TypeVar

from kinwire.mgp.errors import refusal
from kinwire.mgp.kernel.call import GuardedCall
from kinwire.mgp.kernel.callers import UNNAMED_AGENTS, caller_now
from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.mgp.rules.call_limits import CallWindows, Exceeded
from kinwire.storage.clock import Clock
from kinwire_protocols.mgp import errors
from kinwire_protocols.mgp.errors import RateLimitedError

Key = tuple[str, ...]
V = TypeVar("V")


class AtServer(Protocol):
    """What goes to a server."""

    @property
    def server(self) -> GuardedServer:
        """The server."""
        ...


class CallLimits:
    """Counts the calls of one kernel."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._windows = CallWindows()
        self._used: dict[Key, int] = {}

    def check_credentials(self, call: GuardedCall | AtServer) -> None:
        """Check that the agent of this task and the server are authenticated, and still are.

        Raises:
            AuthRequiredError: the server is for agents, and no agent calls.
            AuthExpiredError: the credentials of the agent or of the server have expired.
        """
        agent = caller_now()
        if call.server.policy.needs_agent and any(agent is one for one in UNNAMED_AGENTS):
            raise refusal(
                errors.AuthRequiredError,
                f"{call.server.id}: only an authenticated agent may call its tools. Call them in "
                "`with kernel.acting_for(...)`.",
            )
        if self._is_over(agent.expires_at):
            raise refusal(
                errors.AuthExpiredError,
                f"The authentication of {agent.id} has expired. Authenticate it again, and call "
                "tools in a new `with kernel.acting_for(Agent(...))`.",
            )
        if self._is_over(call.server.policy.credentials_expire):
            raise refusal(
                errors.AuthExpiredError,
                f"{call.server.id}: the credentials have expired. An operator must renew them, "
                "and configure their new end in ServerPolicy.credentials_expire.",
            )

    def _is_over(self, expires: float | None) -> bool:
        return expires is not None and self._clock() >= expires

    def check(self, call: GuardedCall) -> None:
        """Count a call against all limits, or refuse it without counting.

        Raises:
            RateLimitedError: too many calls in the window of the tool or the server.
            QuotaExceededError: the quota of the agent is used.
        """
        of_server, of_tool = call.server.policy, call.tool.policy
        rates = _by_key(call, of_server.rate, of_tool.rate)
        quotas = _by_key(call, of_server.quota, of_tool.quota)
        now = self._clock()
        for key, rate in rates:
            exceeded = self._windows.exceeded(key, rate, now=now)
            if exceeded is not None:
                raise _limited(key[-1], exceeded)
        for key, quota in quotas:
            if self._used.get(key, 0) >= quota:
                raise _spent(call.agent, key[-1], quota)
        for key, _ in rates:
            self._windows.count(key, now=now)
        for key, _ in quotas:
            self._used[key] = self._used.get(key, 0) + 1

    def reset_quota(self, agent: str, server: str) -> None:
        """Begin again with nothing used by an agent of the tools of a server."""
        for key in [key for key in self._used if key[:2] == (agent, server)]:
            del self._used[key]


def _by_key(call: GuardedCall, of_server: V | None, of_tool: V | None) -> list[tuple[Key, V]]:
    """Return the limits that there are, by what they count: a key ends with server or tool."""
    key: Key = (call.agent, call.server.id)
    found = ((key, of_server), ((*key, call.tool.name), of_tool))
    return [(key, limit) for key, limit in found if limit is not None]


def _limited(of: str, exceeded: Exceeded) -> RateLimitedError:
    limit = exceeded.limit
    return refusal(
        errors.RateLimitedError,
        f"Rate limited: {limit.calls} calls of {of} in {limit.seconds:g} seconds exceeded",
        retry_after=exceeded.retry_after,
        details={
            "limit": limit.calls,
            "window_secs": limit.seconds,
            "current": exceeded.current,
        },
    )


def _spent(agent: str, of: str, quota: int) -> errors.QuotaExceededError:
    return refusal(
        errors.QuotaExceededError,
        f"Quota exceeded: {agent} has made all {quota} calls of {of}. An operator can call "
        "MgpKernel.reset_quota.",
        details={"limit": quota, "current": quota + 1},
    )
