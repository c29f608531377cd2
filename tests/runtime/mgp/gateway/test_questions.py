"""What servers ask and log reaches the client whose call is in progress, and nobody else."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest

from kinwire import Sampling, unattended
from kinwire.mgp.gateway import request
from kinwire_protocols import mcp
from tests.runtime.mgp.gateway.fixtures_gateway import RawClient, asking, gateway_of, last_id
from tests.runtime.mgp.raw_peers import NOTHING, Json, RawServer

pytestmark = pytest.mark.anyio

SAMPLE: Json = {"messages": [], "maxTokens": 5, "extra": {"a": 1}}
ANSWER: Json = {"role": "assistant", "model": "m", "content": {"type": "hologram"}, "more": [1]}


async def call(client: RawClient, raw: RawServer, id: object = "call") -> None:
    """Call the tool of a server, which leaves it unanswered."""
    before = len(raw.calls)
    client.say(id=id, method="tools/call", params={"name": "s__t"})
    await raw.tells("tools/call", before + 1)


def content_of(reply: Json) -> Any:
    return reply.get("result") or reply["error"]["code"]


async def test_a_question_goes_to_the_client_whose_call_is_in_progress() -> None:
    refused = {"code": -1, "message": "no", "data": {"x": [1]}}
    first = RawClient(sampling_createMessage=ANSWER, roots_list={"roots": [{"uri": "file:///a"}]})
    second = RawClient(sampling_createMessage=refused, roots_list={"roots": []})
    raw = asking()
    async with gateway_of({"s": raw}, first, second):
        await call(first, raw)
        assert content_of(await raw.ask("q1", "sampling/createMessage", SAMPLE)) == ANSWER
        assert content_of(await raw.ask("q2", "roots/list")) == {"roots": [{"uri": "file:///a"}]}
        raw.say(id=last_id(raw), result={"content": []})
        await first.ask("p", "ping")
        await call(second, raw)
        reply = await raw.ask("q3", "sampling/createMessage", SAMPLE)
        assert {key: reply["error"][key] for key in refused} == refused
        assert content_of(await raw.ask("q4", "roots/list")) == {"roots": []}
    assert first.of("sampling/createMessage") == second.of("sampling/createMessage") == [SAMPLE]
    assert set(raw.of("initialize")[0]["capabilities"]) >= {"sampling", "roots"}


async def test_a_question_that_could_be_for_several_clients_or_for_none_is_asked_of_nobody() -> (
    None
):
    raw, first, second = asking(), RawClient(), RawClient()
    answers = {"sampling/createMessage": ANSWER}
    first.answers = second.answers = answers
    async with gateway_of({"s": raw}, first, second):
        assert content_of(await raw.ask("none", "sampling/createMessage", SAMPLE)) == -32600
        await call(first, raw)
        await call(second, raw)
        for method in ("sampling/createMessage", "roots/list"):
            reply = await raw.ask(method, method, SAMPLE)
            assert (content_of(reply), "several clients" in reply["error"]["message"]) == (
                -32600,
                True,
            )
        second.say(method="notifications/cancelled", params={"requestId": "call"})
        await raw.tells("notifications/cancelled")
        await call(first, raw, "another")  # two calls of one client
        assert content_of(await raw.ask("one", "sampling/createMessage", SAMPLE)) == ANSWER
    assert len(first.of("sampling/createMessage")) == 1
    assert second.of("sampling/createMessage") == []


async def test_a_client_reports_progress_on_a_question() -> None:
    raw, client = asking(), RawClient(sampling_createMessage=NOTHING)
    async with gateway_of({"s": raw}, client):
        await call(client, raw)
        params = {**SAMPLE, "_meta": {"progressToken": "t", "k": 1}}
        raw.say(id="q", method="sampling/createMessage", params=params)
        [asked] = await client.tells("sampling/createMessage")
        meta = asked["params"]["_meta"]
        assert (meta["k"], meta["progressToken"] != "t") == (1, True)
        report = {"progressToken": meta["progressToken"], "progress": 0.5}
        client.say(method="notifications/progress", params=report)
        found = await raw.wait_for("notifications/progress", 1)
        assert found == [{"progressToken": "t", "progress": 0.5}]
        client.say(id=asked["id"], result=ANSWER)
        await raw.settle()


async def test_what_comes_in_the_reply_to_a_call_belongs_to_that_call() -> None:
    """As over HTTP, where each call has a reply of its own."""
    raw, first, second = asking(), RawClient(), RawClient()
    first.answers = second.answers = {"sampling/createMessage": ANSWER}

    def say_in_reply(to: int, **message: Any) -> None:
        assert raw._callbacks is not None
        raw._callbacks.answer(json.dumps({"jsonrpc": "2.0", **message}).encode(), to)

    async with gateway_of({"s": raw}, first, second):
        ids = []
        for client in (first, second):
            await call(client, raw)
            ids.append(last_id(raw))
        say_in_reply(ids[0], id="q", method="sampling/createMessage", params=SAMPLE)
        logged = {"level": "error", "data": "mine"}
        say_in_reply(ids[0], method="notifications/message", params=logged)
        await first.tells("sampling/createMessage")
        await first.tells("notifications/message")
        say_in_reply(999, id="r", method="sampling/createMessage", params=SAMPLE)
        assert content_of(await raw.ask("s", "sampling/createMessage", SAMPLE)) == -32600
        [refused] = [one for one in raw.heard if one.get("id") == "r"]
        assert content_of(refused) == -32600
    assert second.of("sampling/createMessage") == second.of("notifications/message") == []


async def test_a_question_ends_with_its_call_and_a_client_that_cannot_answer_is_not_asked() -> None:
    raw, able, unable = asking(), RawClient(sampling_createMessage=NOTHING), RawClient()
    async with gateway_of({"s": raw}, able) as gateway, anyio.create_task_group() as tasks:
        await call(able, raw)
        raw.say(id="q", method="sampling/createMessage", params=SAMPLE)
        [asked] = await able.tells("sampling/createMessage")
        raw.say(id=last_id(raw), result={"content": []})
        [cancelled] = await able.tells("notifications/cancelled")
        assert cancelled["params"]["requestId"] == asked["id"]
        await raw.settle()
        assert [one["error"]["code"] for one in raw.heard if one.get("id") == "q"] == [-32600]
        await call(able, raw)
        raw.say(id="r", method="sampling/createMessage", params=SAMPLE)
        await able.tells("sampling/createMessage", 2)
        raw.say(method="notifications/cancelled", params={"requestId": "r"})
        await able.tells("notifications/cancelled", 2)
        raw.say(id=last_id(raw), result={"content": []})
        tasks.start_soon(gateway.server.serve, unable)
        await unable.greet(None)
        await call(unable, raw)
        reply = await raw.ask("s", "sampling/createMessage", SAMPLE)
        assert content_of(reply) == -32601
        tasks.cancel_scope.cancel()
    assert unable.of("sampling/createMessage") == []


async def test_an_answer_that_cannot_be_read_or_does_not_come_is_an_error_for_the_server(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    raw, client = asking(), RawClient(sampling_createMessage=NOTHING)
    answers: list[Json] = [{"error": 5}, {"result": 5}, {"error": {"code": "x"}}]
    said = list[str]()
    async with gateway_of({"s": raw}, client):
        await call(client, raw)
        for number, answer in enumerate(answers, 1):
            raw.say(id=f"q{number}", method="sampling/createMessage", params=SAMPLE)
            asked = await client.tells("sampling/createMessage", number)
            client.say(id=asked[-1]["id"], **answer)
            await raw.settle()
        monkeypatch.setattr(request, "_ASK_TIMEOUT", 0.01)
        reply = await raw.ask("late", "sampling/createMessage", SAMPLE)
        for one in [*(one for one in raw.heard if one.get("id") in {"q1", "q2", "q3"}), reply]:
            assert one["error"]["code"] == -32600
            said.append(one["error"]["message"].partition("sampling/createMessage: ")[2])
    unreadable = "the answer of the client cannot be read."
    assert said == [
        unreadable,
        "the answer of the client is not an object.",
        unreadable,
        "no answer of the client came in time.",
    ]
    assert "Traceback" not in caplog.text


async def test_handlers_of_the_host_come_first() -> None:
    async def model(request: Any) -> Any:
        text = mcp.TextContent(text="from the host")
        return mcp.CreateMessageResult(role="assistant", content=text, model="m")

    raw, client = asking(), RawClient(sampling_createMessage=ANSWER)
    sampling = Sampling(model, approve_request=unattended, approve_result=unattended)
    async with gateway_of({"s": raw}, client, host={"sampling": sampling, "roots": []}):
        await call(client, raw)
        found = content_of(await raw.ask("q", "sampling/createMessage", {**SAMPLE}))
        assert content_of(await raw.ask("r", "roots/list")) == {"roots": []}
    assert "from the host" in str(found)
    assert client.of("sampling/createMessage") == []


async def test_log_messages_go_to_the_client_whose_call_is_in_progress() -> None:
    raw, first, second = asking(), RawClient(), RawClient()

    def log(level: str, data: Any, **more: Any) -> None:
        raw.say(method="notifications/message", params={"level": level, "data": data, **more})

    async with gateway_of({"s": raw}, first, second):
        log("error", "before")
        await raw.ask("read", "ping")
        await call(first, raw)
        log("info", {"own": 1}, logger="part", extra=True)
        log("debug", "not wanted")
        log("loud", "no level")
        await first.ask("level", "logging/setLevel", {"level": "debug"})
        await raw.wait_for("logging/setLevel", 2)
        log("debug", "wanted")
        log("info", "the last")  # right before the answer
        raw.say(id=last_id(raw), result={"content": []})
        await first.tells("notifications/message", 3)
        await call(first, raw)
        await call(second, raw)
        log("error", "whose?")
        raw.say(id=last_id(raw), result={"content": []})
        await second.ask("ping", "ping")
    assert first.of("notifications/message") == [
        {"level": "info", "data": {"own": 1}, "logger": "s/part", "extra": True},
        {"level": "debug", "data": "wanted", "logger": "s"},
        {"level": "info", "data": "the last", "logger": "s"},
    ]
    assert second.of("notifications/message") == []
    assert raw.of("logging/setLevel") == [{"level": "info"}, {"level": "debug"}]
