"""Peers that say too much, or too long, or odd things: there is an end to what is kept of it."""

from __future__ import annotations

import json
import sys
import tracemalloc
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from kinwire import Context, Host, InvalidResponseError, RpcError, Server, stdio
from kinwire.mcpl import (
    Channels,
    Hooks,
    Inference,
    McplHost,
    McplServer,
    ModelAnswer,
    PushedEvent,
    ScopeRequest,
    Scopes,
    ScriptedProvider,
    ServerPeer,
)
from kinwire.mcpl.host import hooks
from kinwire.mcpl.server import inference_streams
from kinwire.mcpl.server.inference_streams import InferenceStream
from kinwire.rpc.routes import Handler
from kinwire.storage import open_store
from kinwire_protocols import mcpl
from kinwire_protocols.mcp.methods import RESOURCES_READ
from kinwire_protocols.mcpl.methods import CONTEXT_BEFORE_INFERENCE
from kinwire_protocols.peer import Method
from tests.runtime.mcpl.fixtures_chat import Chat, chatting
from tests.runtime.mcpl.fixtures_hooks import BEFORE, after, before
from tests.runtime.mcpl.fixtures_pairs import RawServer, feature, live_pair, raw_server

pytestmark = pytest.mark.anyio

USES = [BEFORE, "pushEvents", "inferenceRequest", "tools"]
OFFER: dict[str, Any] = {
    "featureSets": {"all": {"description": "All", "uses": USES, "scoped": True}},
    "contextHooks": {"beforeInference": True},
    "pushEvents": True,
    "inferenceRequest": True,
    "channels": {"register": True},
}
CHANNEL = {"id": "c", "type": "chat", "label": "c", "direction": "bidirectional"}


@asynccontextmanager
async def held(
    host: McplHost, routes: Mapping[Method[Any, Any], Handler] | None = None
) -> AsyncGenerator[tuple[RawServer, ServerPeer]]:
    """Yield a server that says what it likes, and what its host has of it."""
    async with (
        raw_server(OFFER, routes, resources={}) as raw,
        Host("h", "1", extensions=[host]) as opened,
    ):
        live = host.of(await opened.connect(raw.transport, server_id="raw"))
        assert live is not None
        yield raw, live


async def take(event: PushedEvent) -> mcpl.PushEventResult:
    return mcpl.PushEventResult(accepted=True)


async def yes(request: ScopeRequest) -> bool:
    return True


def live() -> McplServer:
    return McplServer(feature_sets={"a": feature("tools", rollback=True)})


# What is kept.


async def test_what_is_remembered_of_endless_ids_is_short() -> None:
    provider = ScriptedProvider(*(ModelAnswer("x", "m") for _ in range(20)))
    policy = Inference(provider=provider, routing=mcpl.RoutingPolicy(default="m"))
    host = McplHost(enabled=["*"], on_push=take, scopes=Scopes(ask=yes), inference=policy)
    tracemalloc.start()
    try:
        async with held(host) as (raw, _):
            raw.heard.clear()
            for number in range(20):
                endless = f"{number}" + "x" * 500_000
                event = {
                    "eventId": endless,
                    "timestamp": "2026-01-23T10:30Z",
                    "payload": {"content": ""},
                }
                await raw.session.raw("push/event", {"featureSet": "all", **event})
                message = {"role": "user", "content": "x"}
                asked = {"messages": [message], "conversationId": endless}
                await raw.session.raw("inference/request", {"featureSet": "all", **asked})
                scope = {"label": "x", "payload": {"x": endless}}
                await raw.session.raw("scope/elevate", {"featureSet": "all", "scope": scope})
                provider.requests.clear()
                raw.heard.clear()
            kept, _most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 8_000_000


async def test_an_approval_keeps_data_of_the_host_and_not_of_the_server() -> None:
    async def add(request: ScopeRequest) -> Any:
        return {**(request.payload or {}), "added": 1} if request.label == "b" else None

    async with open_store("memory:") as store:
        records = await store.records("mcpl")
        host = McplHost(enabled=["*"], scopes=Scopes(ask=yes, enrich=add), records=records)
        async with held(host) as (raw, _):
            for label in "aabb":
                scope = {"label": label, "payload": {"n": 1}}
                asked = {"featureSet": "all", "scope": scope}
                answer = await raw.session.raw("scope/elevate", asked)
                assert answer["payload"]["n"] == 1
        kept = [record.value["payload"] async for record in records.scan("approval/")]
    assert sorted(kept, key=str) == [None, {"added": 1, "n": 1}]


async def test_a_message_with_an_endless_id_is_refused() -> None:
    async with held(McplHost(enabled=["*"], channels=Channels())) as (raw, _):
        await raw.session.raw("channels/register", {"channels": [CHANNEL]})
        for name in ("messageId", "threadId"):
            message = {"channelId": "c", "messageId": "m", "content": "", name: "x" * 513}
            answer = await raw.session.raw("channels/incoming", {"messages": [message]})
            (outcome,) = answer["results"]
            assert outcome["accepted"] is False
            assert "at most 512 characters, not 513" in outcome["reason"]


async def test_a_change_of_too_many_channels_is_logged_in_a_bounded_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with held(McplHost(enabled=["*"], channels=Channels())) as (raw, live):
        gone = [str(number) for number in range(5000)]
        await raw.session.raw_notify("channels/changed", {"added": [CHANNEL], "removed": gone})
        await raw.session.raw("channels/list")
        assert [one.id for one in live.channels.known] == ["c"]
    assert sum("channels/changed" in one.getMessage() for one in caplog.records) == 1000


@pytest.mark.spec("mcpl-6.7-5")
async def test_sets_that_go_without_having_come_cost_nothing() -> None:
    revoked: list[str] = []
    async with held(McplHost(enabled=["*"], channels=Channels())) as (raw, live):

        async def removed(feature_set: str) -> None:
            revoked.append(feature_set)

        live.scopes.removed = removed  # type: ignore[method-assign]
        gone = [*map(str, range(100)), "all", "all"]
        await raw.session.raw_notify("featureSets/changed", {"removed": gone})
        await raw.session.raw("channels/list")
        assert live.feature_sets == {}
    assert revoked == ["all"]


# What is read.


async def test_there_is_an_end_to_what_is_read_for_a_hook(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(hooks, "_MOST_BROUGHT", 100)
    read: list[str] = []

    async def hook(params: Any, request: Any) -> Any:
        blocks = [{"type": "resource", "uri": f"m://{number}"} for number in range(9)]
        injection = {"namespace": "n", "position": "system", "content": blocks}
        return {"featureSet": "all", "contextInjections": [injection]}

    async def give(params: Any, request: Any) -> Any:
        read.append(params.uri)
        blob = {"uri": params.uri, "mimeType": "image/png", "blob": "A" * 60}
        return {"contents": [blob]}

    host = McplHost(enabled=["*"])
    async with held(host, {CONTEXT_BEFORE_INFERENCE: hook, RESOURCES_READ: give}):
        (injection,) = (await host.before_inference(before())).system
    assert len(injection.content) == len(read) == 2
    assert "the reply brings more than 100 characters of text and data" in caplog.text


async def test_an_answer_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inference_streams, "_MOST_SAID", 3000)
    stream = InferenceStream()
    for index in range(5000):
        stream.take(index, "x")
    stream.end(mcpl.InferenceRequestResult(content="x", model="m", finish_reason="end_turn"), None)
    said = 0
    with anyio.fail_after(5):
        while said < 3000:
            said += len(await anext(stream))
        with pytest.raises(InvalidResponseError, match="at most 3000 characters"):
            await anext(stream)
    assert said == 3000


DEAF = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["method"] == "initialize":
        offer = {"experimental": {"mcpl": json.loads(sys.argv[1])}}
        info = {"name": "deaf", "version": "0"}
        result = {"protocolVersion": "2024-11-05", "capabilities": offer, "serverInfo": info}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
    if message["method"] == "featureSets/update":
        break
import signal; signal.pause()
"""


async def test_a_server_that_does_not_read_keeps_no_response_back(
    caplog: pytest.LogCaptureFixture,
) -> None:
    uses = ["contextHooks.afterInference"]
    offer = {
        "featureSets": {"a": {"description": "A", "uses": uses}},
        "contextHooks": {"afterInference": True},
    }
    host = McplHost(enabled=["*"], hooks=Hooks(after_timeout=0.05))
    long = "x" * 700_000
    async with Host("h", "1", extensions=[host]) as opened:
        await opened.connect(stdio(sys.executable, "-c", DEAF, json.dumps(offer)))
        with anyio.fail_after(10):
            for _ in range(6):
                assert await host.after_inference(after(long)) == long
    assert "deaf was not notified of an inference: it was late" in caplog.text


# What is reported.


async def test_a_peer_writes_no_lines_of_its_own_into_a_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def hook(params: Any, request: Any) -> Any:
        raise RpcError("failed\nroot: all is well\n" + "x" * 10_000)

    host = McplHost(enabled=["*"])
    async with held(host, {CONTEXT_BEFORE_INFERENCE: hook}):
        await host.before_inference(before())
    (told,) = [one.getMessage() for one in caplog.records if "hook" in one.getMessage()]
    assert "\n" not in told
    assert len(told) < 600


async def test_state_that_is_not_json_is_refused_where_it_is_saved() -> None:
    mcpl_server = live()
    server = Server("s", "1", extensions=[mcpl_server])
    faults: list[str] = []

    @server.tool
    async def keep(context: Context) -> None:
        """Try to keep what cannot be kept."""
        for bad in (float("nan"), {1, 2}, b"x"):
            with pytest.raises(ValueError, match="state: expected a JSON value") as raised:
                mcpl_server.state_of(context).save({"x": bad})
            faults.append(str(raised.value))

    async with live_pair(mcpl_server, McplHost(enabled=["*"]), server) as (connection, of_server):
        await connection.mcp.tools_call(name="keep")
        assert len((await of_server.state("a")).tree) == 0
    assert len(faults) == 3


async def test_invalid_notifications_of_a_host_are_refused_without_an_alarm(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with chatting(Chat()) as (_, (connection, _live), _side):
        params = {"channelId": "nowhere", "content": "Hello"}
        with caplog.at_level("INFO", "kinwire"):
            await connection.session.raw_notify("channels/publish", params)
            with pytest.raises(mcpl.UnknownChannelError):
                await connection.session.raw("channels/publish", params)
    assert [one.levelname for one in caplog.records if "refused" in one.message] == ["INFO"]
    assert "Traceback" not in caplog.text


async def test_what_a_server_calls_itself_is_short_and_of_one_line() -> None:
    server = Server("notes\nroot: all is well" + "x" * 10_000, "1", extensions=[live()])
    async with live_pair(live(), host := McplHost(), server):
        (found,) = host.servers
    assert found.id.startswith("notes root: all is well")
    assert len(found.id) == 500
