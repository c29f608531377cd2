"""A policy file at work: it judges calls and lists, and reports what in it does not fit."""

from __future__ import annotations

__all__ = ("PolicyGuard",)

import logging
from collections.abc import Iterator, Mapping, Sequence
from weakref import WeakKeyDictionary

from kinwire.mgp.errors import refusal
from kinwire.mgp.kernel.call import GuardedCall
from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.mgp.rules.config_problem import ConfigProblem
from kinwire.mgp.rules.policy import Policy
from kinwire.mgp.rules.server_policy import ServerPolicy
from kinwire.mgp.rules.tools import KnownTool
from kinwire_protocols.mgp.errors import AccessDeniedError

logger = logging.getLogger("kinwire.mgp")


class PolicyGuard:
    """Applies a policy, which may say nothing."""

    def __init__(self, policy: Policy | None, configured: Mapping[str, ServerPolicy]) -> None:
        """Apply `policy`, and what the program has `configured` of other servers.

        Raises:
            ValueError: both have the same server.
        """
        self._configured = configured
        self._policy = policy
        self.servers = {**configured} if policy is None else _joined(policy, configured)
        """What the file and the program say of each server."""
        self._hidden = WeakKeyDictionary[GuardedServer, tuple[Policy | None, int, frozenset[str]]]()
        self._mistakes: dict[str, list[ConfigProblem]] = {}

    def replace(self, policy: Policy) -> None:
        """Apply another policy.

        Raises:
            ValueError: there was no policy, or the program has a server that this one has.
        """
        if self._policy is None:
            text = "expected a kernel that has a policy: MgpKernel(policy=...)"
            raise ValueError(f"MgpKernel.replace_policy: {text}")
        self.servers = _joined(policy, self._configured)
        self._policy = policy
        self._mistakes.clear()

    @property
    def applies(self) -> bool:
        """Whether there is a policy."""
        return self._policy is not None

    @property
    def mistakes(self) -> Mapping[str, Sequence[ConfigProblem]]:
        """What in the file does not fit the servers that have listed their tools, by server."""
        return self._mistakes

    def is_new(self, server: GuardedServer) -> bool:
        """Return whether the file was not compared with the tools of a server yet."""
        return self._policy is not None and server.id not in self._mistakes

    def check(self, call: GuardedCall) -> None:
        """Raise if the file forbids a call.

        Raises:
            AccessDeniedError: it forbids the tool or an argument, or a rule cannot be applied.
        """
        if self._policy is None:
            return
        problem = self._policy.problem(call.server.id, call.tool, call.arguments)
        if problem is not None:
            end = "" if problem.text.endswith((".", "?")) else "."
            raise refusal(
                AccessDeniedError,
                f"{problem.place}: {call.tool.name:.60} of {call.server.id} was refused: "
                f"{problem.text}{end}",
                details={"reason": "policy", "place": str(problem.place)},
            )

    def shows(self, server: GuardedServer, tool: KnownTool) -> bool:
        """Return whether some call of a tool is not forbidden."""
        return self._policy is None or self._policy.problem(server.id, tool) is None

    def hidden(self, server: GuardedServer) -> frozenset[str]:
        """Return the tools that a server has listed and of which no call is allowed.

        It is made once for each change of the list.
        """
        version = 0 if server.tool_list is None else server.tool_list.version
        kept = self._hidden.get(server)
        if kept is None or kept[0] is not self._policy or kept[1] != version:
            tools = server.tools.values()
            hidden = (one for one in tools if not (one.policy.enabled and self.shows(server, one)))
            names = (one.name for one in hidden)
            kept = self._hidden[server] = self._policy, version, frozenset(names)
        return kept[2]

    def listed(self, server: GuardedServer) -> Iterator[ConfigProblem]:
        """Yield what in the file does not fit the tools that a server has listed, if it is new."""
        if self._policy is None:
            return
        found = self._policy.mistakes(server.id, server.tools)
        before, self._mistakes[server.id] = self._mistakes.get(server.id, []), found
        for problem in found:
            if problem not in before:
                logger.warning("%s (server %s)", problem, server.id)
                yield problem

    def left(self, server: GuardedServer) -> None:
        """Forget the tools that a server had."""
        self._mistakes.pop(server.id, None)


def _joined(policy: Policy, configured: Mapping[str, ServerPolicy]) -> dict[str, ServerPolicy]:
    """Return what the file and the program say of servers.

    Raises:
        ValueError: both have the same server.
    """
    for name in configured:
        if name in policy.servers:
            raise ValueError(
                f"MgpKernel.servers: expected servers that the policy file does not have, got "
                f"{name!r:.60}. Write what holds for it in one of both"
            )
    return {**policy.servers, **configured}
