"""Guards the tools of all servers of a kernel: which calls pass, and which tools are listed."""

from __future__ import annotations

__all__ = ("CallChecks", "ServerDigests", "ToolGuard")

import logging
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from kinwire.mgp.kernel.access import AccessManager
from kinwire.mgp.kernel.argument_guard import ArgumentGuard
from kinwire.mgp.kernel.audit import AuditLog, kernel_event
from kinwire.mgp.kernel.call_guard import CallGuard, CallStep, KernelServices
from kinwire.mgp.kernel.call_limits import CallLimits
from kinwire.mgp.kernel.callers import agent_now
from kinwire.mgp.kernel.code_guard import CodeGuard
from kinwire.mgp.kernel.confirmations import ConfirmationManager
from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.mgp.kernel.permissions import PermissionManager
from kinwire.mgp.kernel.policy_guard import PolicyGuard
from kinwire.mgp.kernel.retries import RetryEngine
from kinwire.mgp.kernel.suspicious_tools import SuspiciousTools
from kinwire.mgp.kernel.tool_list import ToolList
from kinwire.mgp.kernel.tool_sight import ToolSight
from kinwire.mgp.kernel.tool_switches import ToolSwitches
from kinwire.mgp.kernel.validators import CallValidators
from kinwire.mgp.rules.definitions import definition_flags
from kinwire.mgp.rules.tools import KnownTool, known_tool
from kinwire.rpc.errors import KinwireError
from kinwire.storage.clock import Clock
from kinwire.support.bounded import LruDict
from kinwire_protocols.base import JsonObject, RpcError
from kinwire_protocols.mcp.methods import TOOLS_CALL

_EVENTS = ("experimental.mcpe", "mcpe", "events")
"""Where a server offers MCP Events."""

logger = logging.getLogger("kinwire.mgp")

_MOST_DIGESTS = 100_000  # of the tools of all servers
POLICY_MISTAKE = "io.kinwire.policy_mistake"


class CallChecks(NamedTuple):
    """What decides about calls, in the order in which it is asked."""

    switches: ToolSwitches
    policy: PolicyGuard
    access: AccessManager
    permissions: PermissionManager
    limits: CallLimits
    validators: CallValidators
    confirmations: ConfirmationManager


class ServerDigests:
    """The digests of one server; those of a server that only its connection names end with it."""

    def __init__(self, digests: LruDict[tuple[str, str], str], server: GuardedServer) -> None:
        self._digests = digests
        self._prefix = None if server.transient else server.prefix

    def of(self, name: str) -> str | None:
        """Return the digest of the last definition of a tool; None if it was not seen."""
        return None if self._prefix is None else self._digests.get((self._prefix, name))

    def keep(self, name: str, digest: str) -> None:
        """Remember the digest of a tool."""
        if self._prefix is not None:
            self._digests.put((self._prefix, name), digest)


class ToolGuard:
    """Guards the tools of every server that connects."""

    def __init__(
        self, checks: CallChecks, audit: AuditLog, clock: Clock, retries: RetryEngine
    ) -> None:
        self._checks = checks
        self._audit = audit
        self._suspicious = SuspiciousTools(audit, clock)
        self._digests = LruDict[tuple[str, str], str](_MOST_DIGESTS)
        self._services = KernelServices(audit, clock, retries, self._steps)

    def join(self, server: GuardedServer) -> None:
        """Guard the calls to a server, and what agents see of its list."""
        session = server.session
        tools = ToolList(
            session,
            partial(_known, server),
            partial(self._shown, server),
            partial(self._suspicious.changed, server),
            ServerDigests(self._digests, server),
            is_traced=server.offer is not None,
        )
        tools.on_listed.append(partial(self._listed, server))
        server.tool_list = tools
        guard = CallGuard(server, tools, self._services)
        session.intercept_wire(TOOLS_CALL.name, guard.call)

    async def negotiate(self, server: GuardedServer) -> None:
        """Load which tools are switched off.

        Raises:
            StorageError: the store failed, or a record cannot be read.
        """
        await self._checks.switches.load()

    def left(self, server: GuardedServer) -> None:
        """Forget the tools of a server whose session is over."""
        self._checks.policy.left(server)

    def report_mistakes(self, servers: Iterable[GuardedServer]) -> None:
        """Report again what in the configuration does not fit servers that have listed tools."""
        for server in servers:
            if server.tools:
                self._listed(server)

    def _steps(self, server: GuardedServer, tool: KnownTool) -> Iterator[CallStep]:
        """Yield what a call of a tool has to pass, in order; left out is what it cannot fail."""
        checks = self._checks
        yield CallStep("disabled", checks.switches.check)
        if checks.policy.applies:
            yield CallStep("policy", checks.policy.check)
        yield CallStep("access", checks.access.check)
        if tool.permissions:
            yield CallStep("permission", checks.permissions.check, asks=True)
        yield CallStep("credentials", checks.limits.check_credentials)
        limited = (server.policy, tool.policy)
        if any(one.rate is not None or one.quota is not None for one in limited):
            yield CallStep("limit", checks.limits.check, counts=True)
        yield CallStep("arguments", ArgumentGuard(server, tool).check, again=False)
        if tool.validators:
            yield CallStep("validator", checks.validators.check)
        if "code_safety" in tool.validators:
            yield CallStep("code", CodeGuard(server, tool).check, again=False)
        if tool.confirm or (tool.changed and tool.policy.confirm is None):
            yield CallStep("confirmation", checks.confirmations.check, again=False, asks=True)

    async def _shown(self, server: GuardedServer, tools: Sequence[KnownTool]) -> frozenset[str]:
        """Return the tools that the agent of this task may call, by the rules of calls."""
        if self._checks.policy.is_new(server):  # a page of the list does not say what is missing
            server.session.start_soon(partial(_list_tools, server))
        self._suspicious.report(server, tools)
        sight = await self.sight(agent_now(), server)
        return frozenset(tool.name for tool in tools if sight.shows(tool))

    async def sight(self, agent: str, server: GuardedServer) -> ToolSight:
        """Return which tools of a server an agent may see now."""
        checks = self._checks
        row = await checks.access.row(agent, server)
        return ToolSight(server, checks.policy, checks.switches, row)

    def _listed(self, server: GuardedServer) -> None:
        """Report what the configuration says about tools that the server does not have."""
        self._suspicious.report(server, server.tools.values())
        for name in server.policy.tools:
            if name not in server.tools:
                logger.warning("%s: the policy names a tool %r that it lacks", server.id, name)
        for problem in self._checks.policy.listed(server):
            details: JsonObject = {"place": str(problem.place), "problem": problem.text}
            event = kernel_event(POLICY_MISTAKE, server.id, "FAILURE", details)
            self._audit.note(event)


def _known(server: GuardedServer, definition: JsonObject) -> KnownTool | None:
    """Return what is known of a tool, with what is suspicious in its definition."""
    has_events = any(map(server.session.server_offers, _EVENTS))
    flags = definition_flags(definition, has_events=has_events)
    return known_tool(definition, server.policy, server.trust, flags)


async def _list_tools(server: GuardedServer) -> None:
    try:
        if server.tool_list is not None:
            await server.tool_list.find("")
    except (KinwireError, RpcError) as error:
        logger.warning("%s: its tools could not be listed: %s", server.id, error)
