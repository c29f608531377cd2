"""Permissions of two servers against a small model: decisions, policies, time, and restarts."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from itertools import product
from types import SimpleNamespace
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from kinwire.mgp import Permissions, ServerPolicy
from kinwire.mgp.kernel.audit import AuditLog, AuditOptions
from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.mgp.kernel.permissions import PermissionManager
from kinwire.rpc.identity import PeerIdentity
from kinwire.storage import open_store
from tests.runtime.mcpl.fixtures_long_runs import BRIEF, long_run

NAMES = ("shell.execute", "network.listen", "network.outbound")
POLICIES = ("interactive", "auto_approve", "deny_all", "config_only")
PARTS = {"shell": NAMES[:1], "network": NAMES[1:], "network.listen": NAMES[1:2]}
CONFIGURED = ("b", "network.outbound")

servers, written = st.sampled_from("ab"), st.sampled_from(sorted(PARTS))


class PermissionsAgainstModel(RuleBasedStateMachine):
    """What holds for each permission is what the model says, also after a restart."""

    def __init__(self) -> None:
        super().__init__()
        self.loop, self.open = asyncio.Runner(), AsyncExitStack()
        self.now, self.policy = 1e9, "interactive"
        self.model: dict[tuple[str, str], float | None] = {}  # approved until; None: denied
        self.loop.run(self.opened())

    async def opened(self) -> None:
        store = await self.open.enter_async_context(open_store("memory:", clock=lambda: self.now))
        self.records = await store.records("mgp")
        await self.started()

    async def started(self) -> None:
        audit = AuditLog(AuditOptions(), lambda: self.now)
        options = Permissions(policy=self.policy)  # type: ignore[arg-type]
        self.real = PermissionManager(options, self.records, audit, lambda: self.now)
        self.servers = {name: self.server(name) for name in "ab"}
        for server in self.servers.values():
            self.real.join(server)
            await self.real.negotiate(server)

    def server(self, name: str) -> GuardedServer:
        session: Any = SimpleNamespace(identity=PeerIdentity.of(None, name))
        policy = ServerPolicy(permissions=[CONFIGURED[1]] if name == CONFIGURED[0] else [])
        return GuardedServer(session, None, frozenset(), policy)

    def teardown(self) -> None:
        self.loop.run(self.open.aclose())
        self.loop.close()

    @rule(seconds=st.integers(1, 8))
    def wait(self, seconds: int) -> None:
        self.now += seconds

    @rule(policy=st.sampled_from(POLICIES))
    def switch(self, policy: Any) -> None:
        self.policy = self.real.policy = policy

    @rule(server=servers, name=written, lasts=st.sampled_from([None, 3.0, 9.0]))
    def approve(self, server: str, name: str, lasts: float | None) -> None:
        self.loop.run(self.real.approve(server, name, lasts=lasts))
        for part in PARTS[name]:
            self.model[server, part] = 1e99 if lasts is None else self.now + lasts

    @rule(server=servers, name=written, revoked=st.booleans())
    def deny(self, server: str, name: str, revoked: bool) -> None:
        decide = self.real.revoke if revoked else self.real.deny
        self.loop.run(decide(server, name))
        for part in PARTS[name]:
            self.model[server, part] = None

    @rule()
    def restart(self) -> None:
        async def again() -> None:
            for server in self.servers.values():
                self.real.left(server)
            await self.started()

        self.loop.run(again())

    @rule(server=servers)
    def reconnect(self, server: str) -> None:
        async def again() -> None:
            self.real.left(self.servers[server])
            self.servers[server] = self.server(server)
            self.real.join(self.servers[server])
            await self.real.negotiate(self.servers[server])

        self.loop.run(again())

    @invariant()
    def every_permission_is_as_the_model_says(self) -> None:
        for name, permission in product("ab", NAMES):
            state = self.real.state(self.servers[name], permission)
            assert state.value == self.expected(name, permission)

    def expected(self, server: str, permission: str) -> str:
        until = self.model.get((server, permission), -1.0)
        if until is None:
            return "denied"
        if (server, permission) == CONFIGURED or self.policy == "auto_approve":
            return "approved"
        if self.policy != "interactive":
            return "denied"
        return "approved" if until > self.now else "deferred"


TestPermissions = PermissionsAgainstModel.TestCase
TestPermissions.settings = BRIEF
TestPermissionsAtLength = long_run(PermissionsAgainstModel)
