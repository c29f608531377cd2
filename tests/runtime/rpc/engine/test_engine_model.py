"""The engine against a dull model: whatever arrives in whatever order, one answer a request."""

from __future__ import annotations

from typing import Any

from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from kinwire.rpc.calls import Outbound
from kinwire.rpc.limits import Limits
from kinwire.rpc.request import Request
from tests.runtime.rpc.engine.fixtures_engine import Bench

IDS = st.sampled_from([1, "1", 2, "2"])
LIMIT = 3


class EngineAgainstModel(RuleBasedStateMachine):
    """The model knows which handlers run, which were cancelled, and what must leave."""

    def __init__(self) -> None:
        super().__init__()
        self.bench = Bench(limits=Limits(in_flight=LIMIT))
        self.running: list[Request] = []
        self.cancelled: list[Request] = []
        self.calls: list[Outbound] = []

    def expect(self, *expected: tuple[Any, Any]) -> None:
        """Compare what left with (id, result or code)."""
        left = [
            (one["id"], one.get("result", one.get("error", {}).get("code")))
            for one in self.bench.sent()
            if "method" not in one
        ]
        assert left == list(expected)

    @rule(id=IDS)
    def request(self, id: int | str) -> None:
        before = len(self.bench.started)
        self.bench.receive(id=id, method="ping")
        if any(type(work.id) is type(id) and work.id == id for work in self.running):
            self.expect((id, -32600))
        elif len(self.running) == LIMIT:
            self.expect((id, -32000))
        else:
            self.running += self.bench.started[before:]
            self.expect()
        assert len(self.bench.started) - before <= 1

    @rule(id=IDS)
    def cancel(self, id: int | str) -> None:
        self.bench.receive(method="notifications/cancelled", params={"requestId": id})
        for work in self.running:
            if type(work.id) is type(id) and work.id == id:
                self.cancelled.append(work)
        self.expect()

    @precondition(lambda self: self.running)
    @rule(data=st.data(), failing=st.booleans())
    def end(self, data: st.DataObject, failing: bool) -> None:
        work = self.running.pop(data.draw(st.integers(0, len(self.running) - 1)))
        if failing:
            self.bench.engine.fail(work, ValueError())
        else:
            self.bench.engine.finish(work, {})
        if work in self.cancelled:
            self.expect()
        else:
            self.expect((work.id, -32603 if failing else {}))

    @rule(leaves=st.booleans())
    def call(self, leaves: bool) -> None:
        self.calls.append(self.bench.called() if leaves else self.bench.call())

    @precondition(lambda self: self.calls)
    @rule(data=st.data())
    def answer(self, data: st.DataObject) -> None:
        call = data.draw(st.sampled_from(self.calls))
        late = call.id in self.bench.settled or call.over
        before = self.bench.engine.counts.late_replies
        self.bench.receive(id=call.id, result={"for": call.id})
        assert self.bench.engine.counts.late_replies - before == int(late)
        if not late:
            assert self.bench.settled[call.id].result == {"for": call.id}

    @precondition(lambda self: self.calls)
    @rule(data=st.data())
    def abandon(self, data: st.DataObject) -> None:
        call = data.draw(st.sampled_from(self.calls))
        self.bench.engine.take()
        told = call.sent and not call.over
        self.bench.engine.outbound.abandon(call)
        cancelled = [one["params"]["requestId"] for one in self.bench.sent()]
        assert cancelled == ([call.id] if told else [])


TestEngineAgainstModel = EngineAgainstModel.TestCase
TestEngineAgainstModel.settings = settings(stateful_step_count=40)
