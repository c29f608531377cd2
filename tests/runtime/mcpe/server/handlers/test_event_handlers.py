"""Handlers next to subscriptions: order, attempts, dead letters, restarts, and agents."""

from __future__ import annotations

import logging
from asyncio import CancelledError
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from kinwire import Server
from kinwire.mcpe import (
    AgentHandlers,
    BashHandlers,
    EventClient,
    EventHandlers,
    HandlerFailedError,
    HandlerWork,
    McpeServer,
    RetryHandlerError,
    WebhookHandlers,
    new_event,
)
from kinwire.mcpe.server.handlers.work import HandlerWork as Work
from kinwire.storage import open_store
from kinwire.storage.errors import StorageUnavailableError
from kinwire.support.background import background
from kinwire_protocols.mcpe.models import AgentEventHandler
from tests.runtime.managers.fixtures_records import FailingRecords
from tests.runtime.managers.fixtures_time import FakeTime
from tests.runtime.mcpe.fixtures_server import serving
from tests.runtime.mcpe.raw_client import OFFER, RawClient, subscription
from tests.runtime.mcpe.server.handlers.fixtures_work import EVENT, Json, hand, subscribed, work_for

pytestmark = pytest.mark.anyio

AGENT: Json = {"type": "agent", "instructions": "Label it.", "tools": ["add_label"]}


class Agents:
    """Agents that note their work, and fail as a test says."""

    def __init__(self, failure: Callable[[HandlerWork], Exception | None] | None = None) -> None:
        self.time = FakeTime()
        self.done: list[tuple[str, int]] = []
        self._failure = failure or (lambda work: None)

    async def __call__(self, work: HandlerWork, handler: AgentEventHandler) -> None:
        self.done.append((work.subscription_id, work.attempt))
        failure = self._failure(work)
        if failure is not None:
            raise failure

    def handlers(self, **options: Any) -> EventHandlers:
        return EventHandlers(
            agent=AgentHandlers(self), sleep=self.time.sleep, draw=lambda: 0.0, **options
        )


async def settle(condition: Callable[[], bool]) -> None:
    with anyio.fail_after(5):
        while not condition():
            await anyio.lowlevel.checkpoint()


async def test_work_that_may_succeed_later_is_tried_with_growing_delays() -> None:
    agents = Agents(lambda work: RetryHandlerError("busy") if work.attempt < 4 else None)
    handlers = agents.handlers()
    hand(handlers, AGENT)
    times: list[float] = []
    for wait in (0.0, 1.0, 2.0, 4.0):
        await agents.time.advance(wait)
        await settle(lambda: len(agents.done) > len(times))
        times.append(agents.time.now)
    await handlers.drain()
    assert [attempt for _, attempt in agents.done] == [1, 2, 3, 4]
    assert len(handlers.dead) == 0


async def test_what_fails_is_a_dead_letter_and_can_be_tried_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    wrong = [RetryHandlerError("busy"), HandlerFailedError("refused"), RuntimeError("s3cret")]
    agents = Agents(lambda work: wrong[0] if wrong else None)
    handlers = agents.handlers(attempts=2)
    with caplog.at_level(logging.WARNING, "kinwire.mcpe"):
        for number, attempts in enumerate((2, 1, 1)):
            hand(handlers, AGENT, id=f"s{number}")
            await settle(lambda: len(agents.done) >= 1)
            await agents.time.advance(10)
            await handlers.drain()
            assert len(agents.done) == attempts
            agents.done.clear()
            wrong.pop(0)
    letters = handlers.dead.all()
    assert [(one.work.subscription_id, one.reason, one.work.attempt) for one in letters] == [
        ("s0", "busy", 2),
        ("s1", "refused", 1),
        ("s2", "an exception was raised: RuntimeError", 1),
    ]
    assert letters[0].work.events == (EVENT,)
    assert await handlers.retry_dead(letters[0].id)
    assert not await handlers.retry_dead(letters[0].id)
    await handlers.drain()
    assert agents.done == [("s0", 1)]
    assert [one.id for one in handlers.dead.all()] == [one.id for one in letters[1:]]


async def test_one_subscription_in_order_and_several_concurrently() -> None:
    gate, running = anyio.Event(), list[str]()

    async def slow(work: HandlerWork, handler: AgentEventHandler) -> None:
        running.append(f"{work.subscription_id}{work.events[0]['type']}")
        await gate.wait()

    handlers = EventHandlers(agent=AgentHandlers(slow), concurrently=3)
    for id in "abcd":
        for number in range(2):
            hand(handlers, AGENT, {**EVENT, "type": f"{number}"}, id=id)
    await settle(lambda: len(running) == 3)
    assert running == ["a0", "b0", "c0"]
    gate.set()
    await handlers.drain()
    assert sorted(running) == [f"{id}{number}" for id in "abcd" for number in range(2)]
    assert all(running.index(f"{id}0") < running.index(f"{id}1") for id in "abcd")


async def test_clients_take_turns_however_much_work_one_of_them_has() -> None:
    gates, running = [anyio.Event() for _ in range(6)], list[str]()

    async def slow(work: HandlerWork, handler: AgentEventHandler) -> None:
        running.append(work.client_id)
        await gates[len(running) - 1].wait()

    handlers = EventHandlers(agent=AgentHandlers(slow), concurrently=1)
    for at, client in enumerate(("greedy",) * 4 + ("other",) * 2):
        about, made = EventClient(client), subscribed(AGENT, f"{client}{at}")
        handlers.handle(made, about, (EVENT,), f"{at}")
    for _ in range(100):
        await anyio.lowlevel.checkpoint()  # until all of it waits
    for at, gate in enumerate(gates):
        await settle(lambda at=at: len(running) == at + 1)  # type: ignore[misc]
        gate.set()
    await handlers.drain()
    assert running == ["greedy", "greedy", "other", "greedy", "other", "greedy"]


async def test_more_than_may_wait_are_dead_letters_and_nobody_waits_for_them() -> None:
    gate = anyio.Event()

    async def slow(work: HandlerWork, handler: AgentEventHandler) -> None:
        await gate.wait()

    handlers = EventHandlers(agent=AgentHandlers(slow), waiting=2)
    for _ in range(5):
        hand(handlers, AGENT, id="greedy")
    hand(handlers, AGENT, id="other")
    await settle(lambda: len(handlers.dead) == 3)
    assert {one.work.subscription_id for one in handlers.dead.all()} == {"greedy"}
    assert {one.reason for one in handlers.dead.all()} == {
        "too much work of this subscription, or of all, waits"
    }
    gate.set()
    await handlers.drain()
    hand(handlers, AGENT, id="greedy")
    await handlers.drain()
    assert len(handlers.dead) == 3


async def test_work_and_dead_letters_outlive_the_process() -> None:
    async with open_store("memory:") as store:
        records = await store.records("mcpe")
        busy = Agents(lambda work: RetryHandlerError("busy"))
        first = busy.handlers(records=records, attempts=3)
        hand(first, AGENT, id="waits")
        await settle(lambda: bool(busy.done))
        failing = Agents(lambda work: HandlerFailedError("no"))
        other = failing.handlers(records=records, name="other")
        hand(other, AGENT, id="failed")
        await other.drain()

        well = Agents()
        second = well.handlers(records=records)
        second.begin(lambda client_id: None)
        await settle(lambda: bool(well.done))
        await second.drain()
        assert well.done == [("waits", 1)]
        assert [one.work.subscription_id for one in second.dead.all()] == ["failed"]


@pytest.mark.parametrize("capabilities", [OFFER, {}])
async def test_work_goes_on_when_any_client_connects_after_a_restart(capabilities: Json) -> None:
    async with open_store("memory:") as store:
        records = await store.records("mcpe")
        busy = Agents(lambda work: RetryHandlerError("busy"))
        hand(busy.handlers(records=records, attempts=3), AGENT, id="waits")
        await settle(lambda: bool(busy.done))
        well = Agents()
        events = McpeServer(records=records, handlers=well.handlers(records=records))
        async with serving(events, RawClient(), capabilities=capabilities):
            await settle(lambda: bool(well.done))
        assert well.done == [("waits", 1)]


@pytest.mark.parametrize("capabilities", [OFFER, {}])
async def test_a_store_that_fails_ends_no_session(
    capabilities: Json, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_store("memory:") as store:
        records = FailingRecords(await store.records("mcpe"))
    records.fails = True
    events, raw = McpeServer(records=records), RawClient()
    async with serving(events, raw, capabilities=capabilities):
        await settle(lambda: "subscriptions cannot be read now" in caplog.text)
        assert (await raw.ask("p", "ping"))["result"] == {}


async def test_of_several_processes_one_tries_a_dead_letter_again() -> None:
    async with open_store("memory:") as store:
        records = await store.records("mcpe")
        failing = Agents(lambda work: HandlerFailedError("no"))
        first = failing.handlers(records=records)
        hand(first, AGENT)
        await first.drain()
        well = [Agents() for _ in range(3)]
        others = [one.handlers(records=records, name=f"{at}") for at, one in enumerate(well)]
        for one in others:
            one.begin(lambda client_id: None)
        failing._failure = lambda work: None
        failing.done.clear()
        (letter,) = first.dead.all()
        await first.dead.request_retry(letter.id)
        everybody = [failing, *well]
        await settle(lambda: any(one.done for one in everybody))
        for handlers in (first, *others):
            await handlers.drain()
        assert [done for one in everybody for done in one.done] == [("sub-1", 1)]
        assert [one async for one in records.scan("mcpe-dead/")] == []


async def test_a_store_that_fails_is_logged_and_work_goes_on_later(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with open_store("memory:") as store:
        records = await store.records("mcpe")
    agents = Agents()
    handlers = agents.handlers(records=records)
    with caplog.at_level(logging.ERROR, "kinwire.mcpe"):
        hand(handlers, AGENT)
        await settle(lambda: "handlers of events wait" in caplog.text)
    assert agents.done == []


async def test_handlers_go_on_by_themselves_when_their_store_works_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with open_store("memory:") as store:
        records: Any = FailingRecords(await store.records("mcpe"))
        gate, agents = anyio.Event(), Agents()

        async def slow(work: HandlerWork, handler: AgentEventHandler) -> None:
            await agents(work, handler)
            if work.subscription_id == "slow":
                await gate.wait()

        handlers = EventHandlers(
            agent=AgentHandlers(slow), records=records, sleep=agents.time.sleep
        )
        records.fails = True
        hand(handlers, AGENT, id="slow")
        await settle(lambda: "handlers of events wait" in caplog.text)
        records.fails = False
        await agents.time.advance(1)
        await settle(lambda: agents.done == [("slow", 1)])
        records.fails = True
        hand(handlers, AGENT, id="other")
        await settle(lambda: "work of handlers waits" in caplog.text)
        records.fails = False
        await agents.time.advance(1)
        await settle(lambda: agents.done == [("slow", 1), ("other", 1)])
        gate.set()
        await handlers.drain()
        assert len(agents.done) == 2


async def test_work_from_before_a_restart_counts_as_work_that_waits() -> None:
    async with open_store("memory:") as store:
        records = await store.records("mcpe")
        busy = Agents(lambda work: RetryHandlerError("busy"))
        first = busy.handlers(records=records, waiting=2)
        for _ in range(2):
            hand(first, AGENT)
        with anyio.fail_after(5):
            while len([one async for one in records.scan("mcpe-handlers/")]) < 2:
                await anyio.lowlevel.checkpoint()
        second = busy.handlers(records=records, waiting=2)
        second.begin(lambda client_id: None)
        await settle(lambda: len(busy.done) == 2)
        hand(second, AGENT)
        await settle(lambda: len(second.dead) == 1)
        assert len([one async for one in records.scan("mcpe-handlers/")]) == 2


@pytest.mark.spec("mcpe-9-1", "mcpe-9.3-1", "mcpe-9.3-2")
async def test_types_that_are_not_given_are_refused_and_others_checked() -> None:
    handlers = EventHandlers(webhook=WebhookHandlers(), agent=AgentHandlers(max_tokens=100))
    table: list[tuple[Json, list[str]]] = [
        (AGENT, []),
        ({"type": "webhook", "url": "https://hooks.example/", "timeout": 1}, []),
        ({"type": "webhook", "url": "http://hooks.example/", "timeout": 1}, ["/handler/url"]),
        ({"type": "bash", "command": "x", "input": "env", "timeout": 1}, ["/handler/type"]),
        ({"type": "agent", "maxTokens": 101}, ["/handler/maxTokens"]),
        ({"type": "agent", "tools": ["x"] * 101}, ["/handler/tools"]),
        ({"type": "agent", "systemPrompt": "x" * 40_000}, ["/handler"]),
    ]
    for given, places in table:
        found = handlers.problems(work_for(given).handler)
        assert [one.pointer for one in found] == places, given
    (problem,) = EventHandlers().problems(work_for(AGENT).handler)
    assert problem.expected == "a type that this server runs: nothing"


async def test_an_agent_that_is_not_done_in_time_has_failed() -> None:
    async def never(work: HandlerWork, handler: AgentEventHandler) -> None:
        await anyio.sleep_forever()

    handlers = EventHandlers(agent=AgentHandlers(never, timeout=0.01))
    hand(handlers, AGENT)
    await handlers.drain()
    assert [one.reason for one in handlers.dead.all()] == [
        "the agent was not done after 0.01 seconds"
    ]


async def test_something_cancelled_that_an_agent_awaits_stops_no_other_work() -> None:
    async def agent(work: HandlerWork, handler: AgentEventHandler) -> None:
        done.append(work.subscription_id)
        if len(done) == 1:
            raise CancelledError  # as of a task of asyncio that was cancelled

    done: list[str] = []
    handlers = EventHandlers(agent=AgentHandlers(agent))
    hand(handlers, AGENT)
    hand(handlers, AGENT)
    with anyio.fail_after(2):
        await handlers.drain()
    assert done == ["sub-1", "sub-1"]
    assert [one.reason for one in handlers.dead.all()] == ["an exception was raised: RuntimeError"]


class Sampled(RawClient):
    """A client with a model."""

    def __init__(self, error: int | None = None, *, role: str = "assistant") -> None:
        super().__init__()
        self.requests: list[Json] = []
        self._error, self._role = error, role

    def reply_to(self, message: Json) -> Json | None:
        assert message["method"] == "sampling/createMessage"
        self.requests.append(message["params"])
        if self._error is not None:
            return {"error": {"code": self._error, "message": "User rejected"}}
        content = {"type": "text", "text": "done"}
        return {"result": {"role": self._role, "content": content, "model": "m"}}


@pytest.mark.parametrize(
    ("error", "role"), [(None, "assistant"), (-1, "assistant"), (None, "somebody")]
)
async def test_without_a_function_the_model_of_the_client_works_on_the_event(
    error: int | None, role: str
) -> None:
    raw, time = Sampled(error, role=role), FakeTime()
    handlers = EventHandlers(agent=AgentHandlers(), sleep=time.sleep)
    events = McpeServer(handlers=handlers)
    server = Server("s", "1", extensions=[events])
    async with background() as tasks:
        tasks.start_soon(server.serve, raw)
        await raw.greet({**OFFER, "sampling": {}})
        handler = {**AGENT, "model": "claude-3-sonnet", "systemPrompt": "You triage."}
        made = await raw.subscribe("github.*", handler=handler)
        assert made["handler"] == handler
        await events.publish(new_event("github.push", {"branch": "main"}))
        await raw.settle()
        assert raw.events() == ["github.push"]  # it is delivered all the same
        await settle(lambda: bool(raw.requests))
        await handlers.drain()
        tasks.cancel_scope.cancel()
    (params,) = raw.requests
    assert params["maxTokens"] == 4096
    assert params["systemPrompt"] == "You triage."
    assert params["modelPreferences"] == {"hints": [{"name": "claude-3-sonnet"}]}
    assert params["metadata"] == {"mcpe/tools": ["add_label"]}
    text = params["messages"][0]["content"]["text"]
    assert text.startswith("Label it.\n\nThe event is data")
    assert '"branch":"main"' in text
    assert len(handlers.dead) == (error is not None)


async def test_a_client_that_is_not_connected_or_has_no_model_is_asked_later() -> None:
    time = FakeTime()
    handlers = EventHandlers(agent=AgentHandlers(), attempts=1, sleep=time.sleep)
    hand(handlers, AGENT)
    await handlers.drain()
    raw, events = RawClient(), McpeServer(handlers=handlers)
    server = Server("s", "1", extensions=[events])
    async with background() as tasks:
        tasks.start_soon(server.serve, raw)
        await raw.greet()
        await raw.call("events_subscribe", **subscription("a.*", handler=AGENT))
        await events.publish(new_event("a.b"))
        await raw.settle()
        await settle(lambda: len(handlers.dead) == 2)
        tasks.cancel_scope.cancel()
    assert [one.reason for one in handlers.dead.all()] == [
        "the client whose model is to be asked is not connected",
        "the client cannot be asked (CapabilityNotNegotiatedError)",
    ]


async def test_a_server_refuses_handlers_that_do_not_fit_with_the_place() -> None:
    raw, events = RawClient(), McpeServer(handlers=EventHandlers(bash=BashHandlers(["ls"])))
    server = Server("s", "1", extensions=[events])
    async with background() as tasks:
        tasks.start_soon(server.serve, raw)
        await raw.greet()
        handler = {"type": "bash", "command": "rm", "input": "stdin", "timeout": 1}
        code, data = await raw.refused("events_subscribe", **subscription("a", handler=handler))
        tasks.cancel_scope.cancel()
    assert code == -32602
    assert [one["pointer"] for one in data["problems"]] == ["/handler/command"]


async def test_records_that_cannot_be_read_are_ignored() -> None:
    other = {**work_for(AGENT).to_record(), "handler": {"type": "x"}}
    damaged: list[Any] = [None, {}, {"handler": {}}, other]
    for kept in damaged:
        with pytest.raises(ValueError, match=r"expected|handler"):
            Work.from_record(kept)
    work = work_for(AGENT)
    assert Work.from_record(work.to_record(), 2) == work_for(AGENT, attempt=2)


class LateWatch(FailingRecords):
    """Records whose first watch fails."""

    watched = 0

    def watch(self, prefix: str = "") -> Any:
        self.watched += 1
        if self.watched == 1:
            raise StorageUnavailableError("records", expected="a", got="b", hint="c")
        return super().watch(prefix)


async def test_requests_of_other_processes_are_taken_once_the_store_works_again() -> None:
    async with open_store("memory:") as store:
        records = LateWatch(await store.records("mcpe"))
        agents = Agents()
        handlers = agents.handlers(records=records)
        await handlers.dead.add(work_for(AGENT), "no time")
        (letter,) = handlers.dead.all()
        await handlers.dead.request_retry(letter.id)
        handlers.begin(lambda client_id: None)
        await settle(lambda: records.watched == 1)
        await agents.time.advance(1.0)
        await settle(lambda: len(agents.done) == 1 and not len(handlers.dead))
