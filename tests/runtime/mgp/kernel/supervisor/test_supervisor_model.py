"""Whatever is ordered and whatever servers do: the supervisor follows the table and its last order.

Raw servers; the delays are 0, and which thing happens when is up to hypothesis.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import anyio
from hypothesis import given, settings, strategies as st

from kinwire.mgp import RestartRules, ServerSpec, Supervisor
from kinwire_protocols.mgp.tables import SERVER_LIFECYCLE
from tests.runtime.mgp.fixtures_kernel import AuditEvents, audited
from tests.runtime.mgp.kernel.supervisor.fixtures_raw import LIFECYCLE, OFFER, SHUTDOWN
from tests.runtime.mgp.kernel.supervisor.fixtures_supervisor import supervising, ways
from tests.runtime.mgp.raw_peers import Json, RawServer, tool

IDS = ("a", "b")
MOST = 2


class Step(NamedTuple):
    """Something that happens."""

    kind: str
    id: str
    lets: bool
    """Whether everything that it leads to happens before the next step."""


STEPS = st.lists(
    st.builds(
        Step,
        st.sampled_from(("start", "stop", "restart", "crash", "exit", "announce", "replace")),
        st.sampled_from(IDS),
        st.booleans(),
    ),
    max_size=20,
)


class World:
    """Two servers, and every connection that was made to them."""

    def __init__(self, policy: Any) -> None:
        self.rules = RestartRules(policy=policy, max_restarts=MOST, backoff_base=0)
        self.raws = defaultdict[str, list[RawServer]](list)
        self.version = 0

    def spec(self, id: str) -> ServerSpec:
        args = [str(self.version)] if id == "a" else []
        return ServerSpec(id, "x", args=args, restart=self.rules, ping_interval=None)

    def raw(self, spec: ServerSpec) -> RawServer:
        """Return another server; the one before has to be closed."""
        made = self.raws[spec.id]
        assert all(one.closed for one in made), "two processes of one server"
        answers: dict[str, Any] = {SHUTDOWN: {"accepted": False}}
        made.append(RawServer(tool("run"), mgp=OFFER, **answers))
        return made[-1]

    async def play(self, supervisor: Supervisor, step: Step, tasks: Any) -> None:
        """Let something happen."""
        last = self.raws[step.id][-1] if self.raws[step.id] else None
        if step.kind in ("start", "stop", "restart"):
            tasks.start_soon(getattr(supervisor, step.kind), step.id)
        elif step.kind == "replace":
            self.version += 1
            tasks.start_soon(supervisor.replace, [self.spec(id) for id in IDS])
        elif last is not None and step.kind == "announce":
            said: Json = {"server_id": "x", "previous_state": "x", "new_state": "draining"}
            last.say(method=LIFECYCLE, params=said)
            await anyio.wait_all_tasks_blocked()
            last.hang_up(0)
        elif last is not None:
            last.hang_up(0 if step.kind == "exit" else 1)
        if step.lets:
            await anyio.wait_all_tasks_blocked()


def follow_the_table(events: AuditEvents) -> None:
    for id in IDS:
        state: str = SERVER_LIFECYCLE.initial
        for way in ways(events, id):
            before, _, after = way.partition(" ")
            assert before == state
            assert SERVER_LIFECYCLE.allows(before, after)  # type: ignore[arg-type]
            state = after
        assert state in ("registered", "disconnected")


@settings(max_examples=12)
@given(policy=st.sampled_from(("never", "on_failure", "always")), steps=STEPS)
def test_whatever_happens_states_follow_the_table(policy: str, steps: Sequence[Step]) -> None:
    world = World(policy)

    async def play() -> None:
        with anyio.fail_after(30):
            async with supervising(*map(world.spec, IDS), raw=world.raw) as supervisor:
                async with anyio.create_task_group() as tasks:
                    for step in steps:
                        await world.play(supervisor, step, tasks)
                await supervisor.stop("a")
                await supervisor.start("b")
                states = {one.id: one.state for one in supervisor.statuses}
                assert states["a"] in ("registered", "disconnected")  # it may not have been started
                assert states["b"] == "connected"
                assert [one.closed for one in world.raws["b"]].count(False) == 1

    with audited() as events:
        anyio.run(play)
    follow_the_table(events)
    assert all(one.closed for made in world.raws.values() for one in made)
