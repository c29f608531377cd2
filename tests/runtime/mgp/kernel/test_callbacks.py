"""A kernel that raw servers ask: who is asked, what is sent, and what it never waits for."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import pytest
from trio.testing import MockClock

from kinwire import Connection, ConnectionClosedError, Limits
from kinwire.mcp.host import Host
from kinwire.mgp import CallbackQuestion, Callbacks, MgpKernel
from kinwire.support.background import background
from tests.runtime.mgp.fixtures_kernel import audited, outcome
from tests.runtime.mgp.raw_peers import NOTHING, Json, RawServer, tool

pytestmark = pytest.mark.anyio

JUMPS = ("trio", {"clock": MockClock(autojump_threshold=0)})  # to the next time that is awaited

MGP: Json = {"version": "0.2.0", "extensions": ["security", "bidirectional"]}
ASKS = "notifications/mgp.callback.request"
RESPONDS = "mgp/callback/respond"
FOREVER = Callbacks(answer=lambda _: anyio.sleep_forever())


class Asking(RawServer):
    """A raw server whose tools answer when a test says so."""

    def __init__(self) -> None:
        super().__init__(
            tool("think"),
            mgp=MGP,
            tools_call=lambda _: NOTHING,
            mgp_callback_respond=lambda _: {},
        )

    @property
    def ids(self) -> list[Any]:
        """The ids of the calls that came."""
        return [one["id"] for one in self.heard if one.get("method") == "tools/call"]

    async def called(self) -> int:
        """Wait for a call, and return its id."""
        await self.tells("tools/call")
        found: int = self.ids[-1]
        return found

    def question(self, request_id: object, **parts: Any) -> None:
        """Ask."""
        usual = {"callback_id": "cb-001", "type": "confirmation", "message": "Continue?"}
        params = {**usual, "request_id": request_id, "timeout_ms": 60_000, **parts}
        self.say(method=ASKS, params={k: v for k, v in params.items() if v is not None})

    def finish(self, request_id: int) -> None:
        """Answer a call."""
        text = {"type": "text", "text": "done"}
        self.say(id=request_id, result={"content": [text]})


@asynccontextmanager
async def asked(
    callbacks: Callbacks | None = None, *, timeout: float = 60.0
) -> AsyncGenerator[tuple[Asking, int, MgpKernel, Connection]]:
    """Yield a raw server of a kernel, with the id of a call that is under way."""
    kernel, raw = MgpKernel(callbacks=callbacks), Asking()
    with anyio.fail_after(20):
        limits = Limits(request_timeout=timeout)
        async with Host("h", "1", extensions=[kernel], limits=limits) as host:
            connection = await host.connect(raw, server_id="s")
            async with background() as tasks:

                async def call() -> None:
                    with kernel.acting_for("agent.a"), suppress(ConnectionClosedError):
                        await outcome(connection.session.raw("tools/call", {"name": "think"}))

                tasks.start_soon(call)
                id = await raw.called()
                yield raw, id, kernel, connection
                raw.finish(id)
                tasks.cancel_scope.cancel()


def answers(raw: RawServer) -> list[Any]:
    """Return what was answered, without what comes with every request."""
    return [one["response"] for one in raw.of(RESPONDS)]


# what the server asks, what the function returns, what is sent
ANSWERED: list[tuple[Json, Any, Any]] = [
    ({"options": ["confirm", "cancel"]}, True, "confirm"),
    ({"options": ["confirm", "cancel"]}, False, "cancel"),
    ({"options": ["confirm", "cancel"]}, "confirm", "confirm"),
    ({"options": ["confirm", "cancel"]}, None, "cancel"),
    ({"options": ["confirm", "cancel"]}, "perhaps", "cancel"),
    ({"options": ["confirm", "cancel"]}, ValueError("broken"), "cancel"),
    ({"options": ["Overwrite", "Keep"]}, "Keep", "Keep"),
    ({"options": ["Overwrite", "Keep"]}, True, None),
    ({}, True, "confirm"),
    ({}, False, "cancel"),
    ({"type": "input"}, "docs", "docs"),
    ({"type": "input"}, {"a": [1]}, {"a": [1]}),
    ({"type": "input"}, None, None),
    ({"type": "input"}, object(), None),
    ({"type": "selection", "options": ["red", "blue"]}, "blue", "blue"),
    ({"type": "selection", "options": ["red", "blue"]}, "green", None),
    ({"type": "com.example.colour"}, "green", "green"),
]


@pytest.mark.spec("mgp-13.4-mgp-callback-respond-1", "mgp-13-1", "mgp-13.1-1")
async def test_the_answer_of_a_person_is_sent_and_what_does_not_fit_refuses() -> None:
    returned: list[Any] = []
    seen: list[CallbackQuestion] = []

    async def answer(question: CallbackQuestion) -> Any:
        seen.append(question)
        if isinstance(returned[-1], Exception):
            raise returned[-1]
        return returned[-1]

    for parts, value, sent in ANSWERED:
        returned.append(value)
        async with asked(Callbacks(answer=answer)) as (raw, id, _, _):
            raw.question(id, message="Delete\n15 files?", **parts)
            (said,) = await raw.tells(RESPONDS)
            assert said["params"]["callback_id"] == "cb-001"
            assert answers(raw) == [sent], (parts, value)
        question = seen[-1]
        assert (question.server, question.agent, question.tool) == ("s", "agent.a", "think")
        assert question.options == tuple(parts.get("options", ()))
        assert (question.shown, question.timeout) == ("Delete\\n15 files?", 60.0)


async def test_without_somebody_to_ask_the_answer_is_no_at_once() -> None:
    for parts, sent in (
        ({"options": ["confirm", "cancel"]}, ["cancel"]),
        ({"options": ["Overwrite", "Keep"]}, [None]),
        ({}, ["cancel"]),
        ({"type": "input"}, [None]),
        ({"type": "selection", "options": ["a"]}, [None]),
        ({"type": "com.example.colour"}, []),  # it is not known what refuses such a question
    ):
        async with asked() as (raw, id, _, _):
            raw.question(id, **parts)
            await raw.settle()
            assert answers(raw) == sent, parts


async def test_a_question_that_comes_again_is_not_asked_again() -> None:
    times = 0

    async def answer(question: CallbackQuestion) -> bool:
        nonlocal times
        times += 1
        return times == 1

    async with asked(Callbacks(answer=answer)) as (raw, id, _, _):
        raw.question(id)
        await raw.tells(RESPONDS)
        raw.question(id)
        await raw.tells(RESPONDS, 2)
        raw.question(id, message="Format the disk?")  # under the name of what was approved
        raw.question(id, options=["cancel", "confirm"])
        await raw.settle()
        raw.finish(id)
        raw.question(id)
        await raw.tells(RESPONDS, 3)
        assert (answers(raw), times) == (["confirm"] * 3, 1)


async def test_a_repeat_of_an_open_question_waits_for_its_answer() -> None:
    answered = anyio.Event()

    async def answer(question: CallbackQuestion) -> bool:
        await answered.wait()
        return True

    async with asked(Callbacks(answer=answer)) as (raw, id, _, connection):
        for _ in range(3):
            raw.question(id)
        await raw.settle()
        assert answers(raw) == []
        await connection.mcp.ping()  # a person who thinks holds nothing up
        answered.set()
        await raw.tells(RESPONDS)
        await raw.settle()
        assert answers(raw) == ["confirm"]


async def test_only_an_open_call_of_the_connection_can_ask() -> None:
    async def answer(question: CallbackQuestion) -> bool:
        return True

    async with asked(Callbacks(answer=answer)) as (raw, id, _, _):
        for number, other in enumerate((id + 1, str(id), -1, 0)):
            raw.question(other, callback_id=f"cb-{number}")
        await raw.tells(RESPONDS, 4)
        assert answers(raw) == ["cancel"] * 4
        raw.question(None, callback_id="cb-9")  # it belongs to the only call
        await raw.tells(RESPONDS, 5)
        assert answers(raw)[-1] == "confirm"
        raw.finish(id)
        await raw.settle()
        for late in (id, None):
            raw.question(late, callback_id=f"cb-late-{late}")
        await raw.tells(RESPONDS, 7)
        assert answers(raw)[-2:] == ["cancel", "cancel"]


async def test_a_call_asks_only_so_many_questions() -> None:
    async def answer(question: CallbackQuestion) -> bool:
        return True

    async with asked(Callbacks(answer=answer, most=3)) as (raw, id, _, _):
        for number in range(5):
            raw.question(id, callback_id=f"cb-{number}")
            await raw.tells(RESPONDS, number + 1)
        assert answers(raw) == ["confirm"] * 3 + ["cancel"] * 2


async def test_of_too_many_open_questions_the_others_are_refused() -> None:
    async with asked(Callbacks(answer=FOREVER.answer, most=1000)) as (raw, id, _, _):
        for number in range(102):
            raw.question(id, callback_id=f"cb-{number}")
        await raw.tells(RESPONDS, 2)
        assert answers(raw) == ["cancel", "cancel"]


async def yes(question: CallbackQuestion) -> bool:
    return True


async def test_the_time_of_a_question_is_the_shorter_of_both() -> None:
    """At the server's own end it has to give up itself; before that the kernel refuses."""
    for callbacks, timeout_ms, sent in (
        (Callbacks(answer=FOREVER.answer, timeout=0.01), 60_000, ["cancel"]),
        (Callbacks(answer=FOREVER.answer, timeout=0.01), None, ["cancel"]),
        (FOREVER, 10, []),
    ):
        with audited() as events:
            async with asked(callbacks) as (raw, id, _, _):
                raw.question(id, timeout_ms=timeout_ms)
                while not events.of("io.kinwire.callback_answered"):
                    await anyio.lowlevel.checkpoint()
                await raw.settle()
                assert answers(raw) == sent


async def test_times_and_ids_of_any_size_are_read_and_long_ids_are_not_kept() -> None:
    async with asked(Callbacks(answer=yes)) as (raw, id, _, _):
        for name, timeout_ms in (("a", 10**400), ("b", 1e300), ("x" * 256, 1)):
            raw.question(id, callback_id=name, timeout_ms=timeout_ms)
        raw.question(id, callback_id="x" * 257)
        raw.question(id, callback_id="c")
        await raw.tells(RESPONDS, 4)
        await raw.settle()
        names = sorted(one["callback_id"] for one in raw.of(RESPONDS))
        assert names == ["a", "b", "c", "x" * 256]
        assert answers(raw) == ["confirm"] * 4


async def test_a_question_ends_with_its_call() -> None:
    over: list[str] = []

    async def answer(question: CallbackQuestion) -> bool:
        try:
            await anyio.sleep_forever()
        finally:
            over.append(question.message)
        return True

    ends: list[Callable[[Asking, int], None]] = [
        lambda raw, id: raw.finish(id),
        lambda raw, id: raw.say(id=id, error={"code": 3003, "message": "late"}),
        lambda raw, id: raw.hang_up(),
    ]
    for number, end in enumerate(ends):
        async with asked(Callbacks(answer=answer)) as (raw, id, kernel, _):
            (server,) = kernel.servers
            assert [one.ids for one in server.open_calls] == [[id]]
            raw.question(id, message=str(number))
            await raw.settle()
            end(raw, id)
            while len(over) <= number:
                await anyio.lowlevel.checkpoint()
            assert answers(raw) == []
    assert over == ["0", "1", "2"]


@pytest.mark.parametrize("anyio_backend", [JUMPS])
async def test_a_call_does_not_run_out_of_time_while_a_person_thinks() -> None:
    answered = anyio.Event()

    async def answer(question: CallbackQuestion) -> bool:
        await answered.wait()
        return True

    async with asked(Callbacks(answer=answer), timeout=5.0) as (raw, id, _, _):
        raw.question(id)
        await anyio.sleep(8)
        assert "notifications/cancelled" not in [one.get("method") for one in raw.heard]
        answered.set()
        await raw.tells(RESPONDS)
        assert answers(raw) == ["confirm"]


@pytest.mark.spec("mgp-13.4-mgp-callback-respond-5")
async def test_a_message_is_shown_and_not_answered() -> None:
    shown: list[tuple[str, str | None]] = []

    async def show(question: CallbackQuestion) -> None:
        shown.append((question.message, question.tool))
        if len(shown) == 1:
            raise ValueError("broken")

    async with asked(Callbacks(answer=FOREVER.answer, show=show)) as (raw, id, _, _):
        raw.question(id, type="notification", message="15 files are gone.", options=["ok"])
        raw.question(id, type="notification", message="15 files are gone.")
        raw.question(77, type="notification", message="It is over.")
        await raw.settle()
        assert answers(raw) == []
    assert sorted(shown, key=str) == [
        ("15 files are gone.", "think"),
        ("15 files are gone.", "think"),
        ("It is over.", None),
    ]
    async with asked() as (raw, id, _, _):
        raw.question(id, type="notification")
        await raw.settle()
        assert answers(raw) == []


async def test_an_error_of_the_server_about_an_answer_changes_nothing() -> None:
    async def answer(question: CallbackQuestion) -> bool:
        return True

    async with asked(Callbacks(answer=answer)) as (raw, id, _, connection):
        raw.answers[RESPONDS] = {"code": 4000, "message": "late"}
        for number in range(2):
            raw.question(id, callback_id=f"cb-{number}")
        await raw.tells(RESPONDS, 2)
        await connection.mcp.ping()


async def test_what_came_of_a_question_is_audited_without_the_answer() -> None:
    async def answer(question: CallbackQuestion) -> Any:
        return "my secret" if question.type == "input" else None

    with audited() as events:
        async with asked(Callbacks(answer=answer)) as (raw, id, _, _):
            raw.question(id, type="input", message="Which password?")
            await raw.tells(RESPONDS)
            raw.question(id, callback_id="cb-2")
            await raw.tells(RESPONDS, 2)
    first, second = events.of("io.kinwire.callback_answered")
    assert first["details"] == {"type": "input", "outcome": "answered", "agent": "agent.a"}
    assert (first["result"], second["result"]) == ("SUCCESS", "FAILURE")
    assert second["details"]["outcome"] == "declined"
    assert first["target"] == {"server_id": "s", "tool_name": "think"}
    call = events.of_calls[-1]
    assert first["trace_id"] == call["trace_id"]
    assert "secret" not in str(events)
    assert "password" not in str(events)


async def test_a_server_that_has_not_negotiated_it_is_not_answered() -> None:
    kernel, raw = MgpKernel(callbacks=FOREVER), Asking()
    raw.capabilities["mgp"] = {"version": "0.2.0", "extensions": ["security"]}
    with anyio.fail_after(20):
        async with Host("h", "1", extensions=[kernel]) as host:
            await host.connect(raw, server_id="s")
            raw.question(1)
            raw.question(1, type="notification")
            await raw.settle()
    assert raw.of(RESPONDS) == []


def test_who_answers_is_checked() -> None:
    for wrong in ({"answer": 1}, {"show": "x"}, {"timeout": 0}, {"most": -1}):
        with pytest.raises((TypeError, ValueError), match="Callbacks"):
            Callbacks(**wrong)
    with pytest.raises(TypeError, match="callbacks: expected Callbacks"):
        MgpKernel(callbacks=print)  # type: ignore[arg-type]
