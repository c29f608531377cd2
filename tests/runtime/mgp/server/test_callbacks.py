"""Questions of a server's functions to a raw kernel: what is sent, and which answers count."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from kinwire import CapabilityNotNegotiatedError, Context, Limits, Server, SessionStateError
from kinwire.mgp import MgpContext, MgpServer, Questions
from kinwire.support.background import background
from tests.runtime.mgp.raw_peers import Json, RawKernel, codes

pytestmark = pytest.mark.anyio

OFFER: Json = {"version": "0.2.0", "extensions": ["security", "bidirectional"]}
ASKS = "notifications/mgp.callback.request"


def shop(*, limits: Limits | None = None, **options: Any) -> Server:
    guarded = MgpServer(questions=Questions(**options))
    server = Server("shop", "1", extensions=[guarded], limits=limits or Limits())

    @server.tool
    async def confirm(context: MgpContext) -> str:
        return str(await context.confirm("Delete 15 files?"))

    @server.tool
    async def ask(context: MgpContext) -> str:
        return str(await context.ask("Which folder?", timeout=30))

    @server.tool
    async def select(context: MgpContext) -> str:
        return await context.select("Which colour?", ["red", "blue"])

    @server.tool
    async def notify(context: MgpContext) -> str:
        return str(await context.notify("15 files are gone."))

    @server.tool
    async def hurried(context: MgpContext) -> str:
        return str(await context.confirm("Now?", timeout=0.01))

    @server.tool
    def threaded(context: MgpContext) -> str:
        return str(anyio.from_thread.run(context.confirm, "From a thread?"))

    _add_several(server)
    return server


def _add_several(server: Server) -> None:
    """Add tools that ask more than once."""

    @server.tool
    async def curious(context: MgpContext, times: int) -> str:
        return ",".join([str(await context.ask(f"{number}?")) for number in range(times)])

    @server.tool
    async def patient(context: MgpContext) -> str:
        async with background() as tasks:
            for number in range(2):
                tasks.start_soon(context.ask, f"{number}?")
        return "both"


@asynccontextmanager
async def kernel_of(server: Server, offer: Json | None = OFFER) -> AsyncGenerator[RawKernel]:
    raw = RawKernel()
    with anyio.fail_after(20):
        async with background() as tasks:
            tasks.start_soon(server.serve, raw)
            await raw.greet(offer)
            yield raw
            tasks.cancel_scope.cancel()


async def called(raw: RawKernel, name: str, id: int = 20, **arguments: Any) -> Json:
    """Call a tool, and return its question: it waits for the answer then."""
    before = len(raw.of(ASKS))
    raw.say(id=id, method="tools/call", params={"name": name, "arguments": arguments})
    while len(raw.of(ASKS)) == before:
        assert not any(one["id"] == id for one in raw.heard if "result" in one or "error" in one)
        await raw.settle()
    params: Json = raw.of(ASKS)[-1]
    return params


async def answer(raw: RawKernel, question: Json | str, response: Any, id: str = "a") -> Json:
    name = question if isinstance(question, str) else question["callback_id"]
    return await raw.ask(id, "mgp/callback/respond", {"callback_id": name, "response": response})


async def outcome(raw: RawKernel, id: int = 20) -> Any:
    """Return what the tool has returned, or the code of its error."""
    while True:
        for one in raw.heard:
            if one.get("id") == id and "method" not in one:
                return (
                    one["error"]["code"] if "error" in one else one["result"]["content"][0]["text"]
                )
        await raw.settle()


# tool, what is in the question, answers in order with what the kernel hears, what the tool returns
PLAYED: list[tuple[str, Json, list[tuple[Any, int | None]], str | int]] = [
    (
        "confirm",
        {"type": "confirmation", "options": ["confirm", "cancel"], "timeout_ms": 60_000},
        [("perhaps", 4000), ("confirm", None), ("confirm", None), ("cancel", 4000)],
        "True",
    ),
    ("confirm", {}, [("cancel", None), ("cancel", None), ("confirm", 4000)], "False"),
    ("confirm", {}, [(True, None)], "True"),
    ("confirm", {}, [(False, None)], "False"),
    ("confirm", {}, [(None, None)], "False"),
    (
        "confirm",
        {},
        [(1, 4000), ({"confirm": True}, 4000), ("Confirm", 4000), (False, None)],
        "False",
    ),
    ("threaded", {"type": "confirmation"}, [("confirm", None)], "True"),
    ("ask", {"type": "input", "timeout_ms": 30_000}, [("docs", None), ("docs", None)], "docs"),
    ("ask", {}, [({"a": [1]}, None), ({"a": [1]}, None), ({"a": [2]}, 4000)], "{'a': [1]}"),
    ("ask", {}, [(None, None)], 3003),
    (
        "select",
        {"type": "selection", "options": ["red", "blue"]},
        [("green", 4000), (0, 4000), (True, 4000), ("blue", None), ("blue", None), ("red", 4000)],
        "blue",
    ),
    ("select", {}, [(None, None)], 3003),
]


@pytest.mark.spec(
    "mgp-13.4-mgp-callback-respond-2",
    "mgp-13.4-mgp-callback-respond-3",
    "mgp-13.4-mgp-callback-respond-4",
)
async def test_the_first_answer_that_fits_counts_and_repeats_change_nothing() -> None:
    async with kernel_of(shop()) as raw:
        for id, (tool, parts, answers, returned) in enumerate(PLAYED):
            question = await called(raw, tool, id)
            assert parts.items() <= question.items()
            assert ("options" in question) is (tool != "ask")
            assert question["request_id"] == id
            for response, code in answers:
                reply = await answer(raw, question, response)
                if code is None:
                    assert reply["result"] == {}
                else:
                    assert codes(reply)[0] == code, (tool, response)
            assert await outcome(raw, id) == returned, (tool, answers)
        assert len({one["callback_id"] for one in raw.of(ASKS)}) == len(PLAYED)


@pytest.mark.spec("mgp-14.3-13", "mgp-13.4-1", "mgp-13.4-notifications-mgp.callback.request-1")
async def test_a_question_without_an_answer_ends_its_tool_and_holds_nothing_up() -> None:
    """The case B096: late, repeated and unknown answers are errors, and other calls go on."""
    async with kernel_of(shop()) as raw:
        waiting = await called(raw, "confirm", 1)
        question = await called(raw, "hurried", 2)
        assert question["timeout_ms"] == 10
        assert await raw.ask(3, "ping") == {"jsonrpc": "2.0", "id": 3, "result": {}}
        assert await outcome(raw, 2) == 3003
        (failed,) = [one for one in raw.heard if one.get("id") == 2]
        assert codes(failed)[1]["retryable"] is False
        for name in (question["callback_id"], question["callback_id"], "unheard-of", "x" * 5000):
            for response in ("confirm", "cancel", None):
                code, recovery = codes(await answer(raw, name, response))
                assert (code, recovery["category"]) == (4000, "validation")
        assert (await answer(raw, waiting, "confirm"))["result"] == {}
        assert await outcome(raw, 1) == "True"
    assert ["result" in one for one in raw.heard if one.get("id") == 1] == [True]


@pytest.mark.spec("mgp-13.4-mgp-callback-respond-5")
async def test_a_message_wants_no_answer_and_takes_none() -> None:
    async with kernel_of(shop()) as raw:
        shown = await called(raw, "notify")
        assert await outcome(raw) == "True"
        assert (shown["type"], shown["message"]) == ("notification", "15 files are gone.")
        assert not {"options", "timeout_ms"} & shown.keys()
        assert codes(await answer(raw, shown, "seen"))[0] == 4000


async def test_an_answer_is_taken_where_all_requests_wait_for_one() -> None:
    async with kernel_of(shop(limits=Limits(in_flight=2))) as raw:
        questions = [await called(raw, "confirm", id) for id in (1, 2)]
        assert (await raw.ask(3, "tools/list"))["error"]["code"] == -32000
        for id, question in enumerate(questions, 1):
            assert (await answer(raw, question, "confirm"))["result"] == {}
            assert await outcome(raw, id) == "True"


async def test_only_the_connection_that_was_asked_can_answer() -> None:
    server = shop()
    async with kernel_of(server) as one, kernel_of(server) as other:
        question = await called(one, "confirm")
        assert codes(await answer(other, question, "confirm"))[0] == 4000
        assert (await answer(one, question, "cancel"))["result"] == {}
        assert await outcome(one) == "False"


@pytest.mark.parametrize("offer", [{"version": "0.2.0", "extensions": ["security"]}, None])
async def test_a_client_that_cannot_be_asked_gets_the_default_or_an_error(
    offer: Json | None,
) -> None:
    for default, expected in ((True, "True"), (False, "False"), (None, -32603)):
        async with kernel_of(shop(confirm_default=default), offer) as raw:
            for id, (name, returned) in enumerate(
                [("confirm", expected), ("ask", -32603), ("select", -32603), ("notify", "False")]
            ):
                raw.say(id=id, method="tools/call", params={"name": name, "arguments": {}})
                assert await outcome(raw, id) == returned
            refused = [one["error"]["message"] for one in raw.heard if "error" in one]
            assert len(refused) >= 2
            for message in refused:  # the person at the client learns what to do without
                assert message.startswith(f"{ASKS}: needs mgp:extensions.bidirectional, but the")
            assert raw.of(ASKS) == []


async def test_a_function_sees_why_it_cannot_ask() -> None:
    server, found = Server("s", "1", extensions=[MgpServer()]), []

    @server.tool
    async def look(context: Context) -> str:
        own = MgpContext.of(context)
        assert (own.kernel is None) is (own.request_id == 1)
        with pytest.raises(CapabilityNotNegotiatedError, match="bidirectional") as raised:
            await own.confirm("Really?")
        found.append(raised.value.method)
        with pytest.raises(ValueError, match="at least one, got none"):
            await own.select("Which?", [])
        with pytest.raises(TypeError, match=r"MgpContext.confirm: message: expected a string"):
            await own.confirm(1)  # type: ignore[arg-type]
        return "looked"

    for id, offer in ((1, None), (2, {"version": "0.2.0", "extensions": ["audit"]})):
        async with kernel_of(server, offer) as raw:
            raw.say(id=id, method="tools/call", params={"name": "look", "arguments": {}})
            assert await outcome(raw, id) == "looked"
    assert found == [ASKS, ASKS]

    plain = Server("plain", "1")

    @plain.tool
    async def lost(context: MgpContext) -> None:
        with pytest.raises(SessionStateError, match=r"Pass MgpServer\(\) to Server"):
            await context.confirm("Really?")

    async with kernel_of(plain) as raw:
        raw.say(id=1, method="tools/call", params={"name": "lost", "arguments": {}})
        while not any(one.get("id") == 1 for one in raw.heard):
            await raw.settle()
        assert "result" in raw.heard[-1]


async def test_one_request_asks_only_so_many_questions() -> None:
    async with kernel_of(shop(most=2)) as raw:
        for id, (times, expected) in enumerate([(2, "0,1"), (3, 3001), (2, "0,1")]):
            question = await called(raw, "curious", id, times=times)
            await answer(raw, question, 0)
            question = (await raw.tells(ASKS, 2 * id + 2))[-1]["params"]
            await answer(raw, question, 1)
            assert await outcome(raw, id) == expected
        assert len(raw.of(ASKS)) == 6


async def test_a_cancelled_call_takes_no_answer_and_questions_may_overlap() -> None:
    async with kernel_of(shop()) as raw:
        question = await called(raw, "confirm", 1)
        raw.say(method="notifications/cancelled", params={"requestId": 1})
        await raw.settle()
        assert codes(await answer(raw, question, "confirm"))[0] == 4000
        raw.say(id=2, method="tools/call", params={"name": "patient", "arguments": {}})
        _, first, second = await raw.tells(ASKS, 3)
        await answer(raw, second["params"], "b")
        await answer(raw, first["params"], "a")
        assert await outcome(raw, 2) == "both"
    assert not any(one.get("id") == 1 for one in raw.heard)


def test_what_holds_for_questions_is_checked() -> None:
    for wrong in ({"timeout": 0}, {"most": -1}, {"confirm_default": "no"}):
        with pytest.raises((TypeError, ValueError), match="Questions"):
            Questions(**wrong)
    with pytest.raises(TypeError, match="questions: expected Questions"):
        MgpServer(questions=60)  # type: ignore[arg-type]
