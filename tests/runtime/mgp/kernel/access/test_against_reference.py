"""The manager against a plain reference: two kernels on one store, in any order of calls."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count
from math import inf
from typing import Any, ClassVar, Literal

import pytest
from anyio.from_thread import start_blocking_portal
from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from kinwire.mgp.kernel.access import AccessManager
from kinwire.mgp.rules.audit_events import SecurityEvent
from kinwire.storage.clock import forward
from tests.runtime.mgp.kernel.access.reference import Reference
from tests.runtime.storage.fixtures_engines import ON_ALL, Engine

AGENTS, SERVERS = st.sampled_from(["agent.a", "agent/b"]), st.sampled_from(["files", "s/t"])
TOOLS = st.sampled_from(["t", "u"])
LEVELS = st.sampled_from([None, "t", "u"])
KERNELS = st.integers(0, 1)
DEFAULTS: dict[str, Literal["opt-in", "opt-out"]] = {"files": "opt-in", "s/t": "opt-out"}


class AccessAgainstReference(RuleBasedStateMachine):
    engine: ClassVar[Engine]
    backend: ClassVar[str]
    names: ClassVar[Iterator[int]] = count()

    def __init__(self) -> None:
        super().__init__()
        self.reference = Reference()
        self.events: list[SecurityEvent] = []
        self.now = forward(self.engine.clock, lambda: 0.0)  # put back, it stands still
        self.stack = ExitStack()
        self.portal = self.stack.enter_context(start_blocking_portal(self.backend))
        name = f"n{next(self.names)}"
        self.kernels = [self.opened(name)]
        self.kernels.append(
            self.kernel(self.records) if self.engine.kind == "memory" else self.opened(name)
        )

    def opened(self, name: str) -> AccessManager:
        """Open the store, as another process would."""
        opening = self.portal.wrap_async_context_manager(self.engine.open())
        store = self.stack.enter_context(opening)
        self.records = self.portal.call(store.records, name)
        return self.kernel(self.records)

    def kernel(self, records: Any) -> AccessManager:
        async def record(event: SecurityEvent) -> None:
            self.events.append(event)

        return AccessManager(records, self.now, DEFAULTS.__getitem__, record)

    def teardown(self) -> None:
        self.stack.close()

    @rule(
        kernel=KERNELS,
        agent=AGENTS,
        server=SERVERS,
        tool=LEVELS,
        permission=st.sampled_from(["allow", "deny"]),
        expires_in=st.sampled_from([None, None, 10.0]),
    )
    def grant(
        self,
        kernel: int,
        agent: str,
        server: str,
        tool: str | None,
        permission: Literal["allow", "deny"],
        expires_in: float | None,
    ) -> None:
        manager = self.kernels[kernel]
        entry = self.portal.call(
            lambda: manager.grant(agent, server, permission, tool=tool, expires_in=expires_in)
        )
        ends = inf if expires_in is None else self.now() + expires_in
        self.reference.grant(agent, server, tool, permission, ends)
        assert (entry.agent_id, entry.server_id, entry.tool_name) == (agent, server, tool)
        assert (entry.permission, entry.granted_by) == (permission, "operator")
        assert self.events[-1].event_type == "ACCESS_GRANTED"

    @rule(kernel=KERNELS, agent=AGENTS, server=SERVERS, tool=LEVELS)
    def revoke(self, kernel: int, agent: str, server: str, tool: str | None) -> None:
        manager, before = self.kernels[kernel], len(self.events)
        found = self.portal.call(lambda: manager.revoke(agent, server, tool=tool))
        there = self.reference.revoke(agent, server, tool, self.now())
        assert found.revoked is there
        assert (found.entry is not None) is there
        assert [one.event_type for one in self.events[before:]] == ["ACCESS_REVOKED"] * there

    @rule(kernel=KERNELS, agent=AGENTS, server=SERVERS, tool=TOOLS)
    def query(self, kernel: int, agent: str, server: str, tool: str) -> None:
        found = self.portal.call(self.kernels[kernel].query, agent, server, tool)
        wanted = self.reference.decide(agent, server, tool, DEFAULTS[server], self.now())
        assert (found.permission, found.source) == wanted

    @rule(kernel=KERNELS)
    def list(self, kernel: int) -> None:
        found = self.portal.call(self.kernels[kernel].list)
        now = self.now()
        assert {(one.agent_id, one.server_id, one.tool_name): one.permission for one in found} == {
            key: entry[0] for key, entry in self.reference.entries.items() if entry[1] > now
        }

    @rule(seconds=st.sampled_from([4.0, 10.0]))
    def wait(self, seconds: float) -> None:
        self.now()
        self.engine.clock.now += seconds

    @rule()
    def put_the_clock_back(self) -> None:
        self.now()
        self.engine.clock.now -= 5.0


ONE_IN = {"memory": 2, "sqlite": 5, "nats": 10}


@pytest.mark.hypothesis
@ON_ALL
def test_access_is_decided_as_the_reference_does(
    engine: Engine, anyio_backend: tuple[str, Any]
) -> None:
    class Machine(AccessAgainstReference):
        pass

    Machine.engine, Machine.backend = engine, anyio_backend[0]
    examples = settings().max_examples // ONE_IN[engine.kind]
    few = settings(max_examples=examples, stateful_step_count=30)
    run_state_machine_as_test(Machine, settings=few)
