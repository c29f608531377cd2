"""Cases from public reports about others, B069 to B081, each as the whole thing that failed there.

B072 to B077 are in `test_state_cases.py`. What the rules alone decide is a table in `rules/` too;
here it goes over the wire.
"""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest

from kinwire import Host
from kinwire.mcpl import Hooks, HostPeer, McplHost, McplServer, PushedEvent, Scopes
from kinwire_protocols import mcpl
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcpl import ScopeRules
from tests.runtime.mcp.http.fake_asgi_client import Client, message
from tests.runtime.mcpl.fake_peer import INFO, NOTHING, Fake, outcome
from tests.runtime.mcpl.fixtures_chat import GENERAL, Chat, chatting
from tests.runtime.mcpl.fixtures_hooks import AFTER, BEFORE, after, before, texts
from tests.runtime.mcpl.fixtures_pairs import feature, live_pair
from tests.runtime.programs import live as program

pytestmark = pytest.mark.anyio

EVENT: JsonObject = {
    "eventId": "evt_1",
    "timestamp": "2026-01-23T14:00:00Z",
    "payload": {"content": "Now"},
}

TAKEN = {"accepted": True}


async def pushed(side: HostPeer, feature_set: str) -> Any:
    """Push past the server's own check; return what comes of it."""
    event = {**EVENT, "featureSet": feature_set, "eventId": f"evt_{feature_set}"}
    return await outcome(side.session.raw("push/event", event))


async def test_b069_a_star_covers_all_below_a_name_and_nothing_else() -> None:
    names = ("memory.retrieval", "memory.a.b", "memory", "memoryx.y")
    serving = McplServer(feature_sets={name: feature("pushEvents") for name in names})

    async def take(event: PushedEvent) -> mcpl.PushEventResult:
        return mcpl.PushEventResult(accepted=True)

    host = McplHost(enabled=["*"], on_push=take)
    async with live_pair(serving, host) as (connection, live):
        (side,) = serving.hosts
        for pattern, switch in (("memory.*", "disabled"), ("*", "enabled")):
            await (live.disable if switch == "disabled" else live.enable)(pattern)
            # Our host sends names. One that knows the server less sends the pattern itself.
            await connection.session.raw_notify("featureSets/update", {switch: [pattern]})
            await connection.mcp.ping()
            off = {"memory.retrieval", "memory.a.b"} if switch == "disabled" else set[str]()
            assert set(side.enabled) == set(live.enabled) == set(names) - off
            assert await pushed(side, "memory.a.b") == (-32001 if off else TAKEN)
            assert await pushed(side, "memoryx.y") == TAKEN
            assert await pushed(side, "undeclared") == -32003


LABELS = [
    pytest.param("B070", "/project/.env", False),
    pytest.param("B070", "/project/a/.env", False),
    pytest.param("B070", "/project/.cache/secrets/k", False),
    pytest.param("B070", "/project/.github/x", True),
    pytest.param("B070", "/project/src/a.ts", True),
    pytest.param("B071", "#admin-ops", False),
    pytest.param("B071", "#admin-a/b", False),
    pytest.param("B071", "#dev", True),
    pytest.param("B071", "/project/../other/key", False),
    pytest.param("B071", "/project/./x", True),
]
LISTS = {
    "B070": ScopeRules(whitelist=["/project/**"], blacklist=["**/.env", "**/secrets/**"]),
    "B071": ScopeRules(whitelist=["#*", "/project/**"], blacklist=["#admin-*"]),
}


@pytest.mark.parametrize(("case", "label", "approved"), LABELS)
async def test_b070_and_b071_deny_lists_cover_dot_files_and_what_has_a_slash(
    case: str, label: str, approved: bool
) -> None:
    serving = McplServer(feature_sets={case: feature("tools", scoped=True)})
    host = McplHost(enabled=["*"], scopes=Scopes(lists=LISTS))
    async with live_pair(serving, host) as (connection, live):
        await connection.mcp.ping()
        asking = mcpl.ClientStub(serving.hosts[0].session)
        scope = mcpl.Scope(label=label)
        asked = await asking.scope_elevate(feature_set=case, scope=scope)
        assert asked.approved is approved
        # What a pattern approves it denies as well, and denying wins.
        await live.scopes.set(
            case, whitelist=["/project/**", "#*"], blacklist=["/project/**", "#*"]
        )
        assert not (await asking.scope_elevate(feature_set=case, scope=scope)).approved


async def test_b078_concurrent_repeats_of_an_event_are_one_run() -> None:
    """Twenty in the report; fifty here."""
    serving = McplServer(feature_sets={"a": feature("pushEvents")})
    runs: list[str] = []
    answers: list[JsonObject] = []
    go_on = anyio.Event()

    async def take(event: PushedEvent) -> mcpl.PushEventResult:
        runs.append(event.params.event_id)
        await go_on.wait()
        return mcpl.PushEventResult(accepted=True, inference_id=f"inf_{len(runs)}")

    async with live_pair(serving, McplHost(enabled=["*"], on_push=take)) as (connection, _):
        await connection.mcp.ping()
        session = serving.hosts[0].session

        async def push() -> None:
            answers.append(await session.raw("push/event", {"featureSet": "a", **EVENT}))

        async with anyio.create_task_group() as tasks:
            for _repeat in range(50):
                tasks.start_soon(push)
            while sum(b"push/event" in frame.data for frame in connection.frames) < 50:
                await anyio.lowlevel.checkpoint()
            await connection.mcp.ping()
            go_on.set()
    assert runs == ["evt_1"]
    assert answers == [{"accepted": True, "inferenceId": "inf_1"}] * 50


def injecting(text: str) -> JsonObject:
    injection = {"namespace": "n", "position": "system", "content": text}
    return {"featureSet": "m", "contextInjections": [injection]}


def hooking(injected: Any, changed: Any) -> Fake:
    declared = {"m": {"description": "All hooks", "uses": [BEFORE, AFTER]}}
    offer = {"contextHooks": {"afterInference": {"blocking": True}, "beforeInference": True}}
    return Fake(
        {
            "initialize": {
                "protocolVersion": "2024-11-05",
                "capabilities": {"experimental": {"mcpl": {**offer, "featureSets": declared}}},
                "serverInfo": INFO,
            },
            "ping": {},
            "context/beforeInference": injected,
            "context/afterInference": changed,
        }
    )


async def test_b079_a_peer_that_never_answers_its_hook_blocks_nobody(
    caplog: pytest.LogCaptureFixture,
) -> None:
    mute, memory = hooking(NOTHING, NOTHING), hooking(injecting("Known"), {})
    host = McplHost(enabled=["*"], hooks=Hooks(before_timeout=0.05, after_timeout=0.05))
    found: list[list[str]] = []
    said: list[str] = []

    async def ask() -> None:
        found.append(texts((await host.before_inference(before())).system))

    async def show() -> None:
        said.append(await host.after_inference(after("As it was")))

    with anyio.fail_after(10):
        async with Host("h", "1", extensions=[host]) as opened:
            for name, server in (("mute", mute), ("memory", memory)):
                await opened.connect(server, server_id=name)
            async with anyio.create_task_group() as tasks:  # conversations do not wait for others
                for _conversation in range(3):
                    tasks.start_soon(ask)
                    tasks.start_soon(show)
            late = {"featureSet": "m", "modifiedResponse": "Too late", **injecting("Too late")}
            for method in ("context/beforeInference", "context/afterInference"):
                for request in await mute.tells(method, 3):
                    mute.say(id=request["id"], result=late)
            for live in host.servers:
                assert await live.session.raw("ping") == {}
            await ask()
    assert found == [["Known"]] * 4
    assert said == ["As it was"] * 3
    assert sum("late" in one for one in caplog.messages) == 4 + 3  # one a hook


async def test_b080_a_tool_that_waits_for_inference_needs_no_stream_but_its_own() -> None:
    """Over memory, pipes and HTTP with a stream for news it is part of `test_same_everywhere`."""
    offer = {"inferenceRequest": {"streaming": True}, "featureSets": True}
    client = await Client(program.server.asgi()).begin(experimental={"mcpl": offer})
    call = message("tools/call", name="think_aloud", arguments={"question": "Why?"})
    async with client.open("POST", call) as answer:
        asked = await answer.frame()
        assert asked["method"] == "inference/request"
        for index, delta in enumerate(("Be", "cause")):
            chunk = {"requestId": asked["id"], "index": index, "delta": delta}
            told = {"jsonrpc": "2.0", "method": "inference/chunk", "params": chunk}
            assert (await client.post(told)).status == 202
        result = {"content": "Because", "model": "m", "finishReason": "end_turn"}
        await client.post({"jsonrpc": "2.0", "id": asked["id"], "result": result})
        said = (await answer.frame())["result"]["content"][0]["text"]
    assert json.loads(said) == ["Be", "cause"]


async def test_b080_without_a_connection_to_the_host_the_tool_fails() -> None:
    client = Client(program.server.asgi(stateless=True))
    call = message("tools/call", name="think_aloud", arguments={"question": "Why?"})
    with anyio.fail_after(5):
        answer = await client.post(call)
    assert answer.json["error"]["code"] == -32603
    assert (await client.post(message("ping"))).json["result"] == {}


PUBLISHED = [
    pytest.param(GENERAL.id, {"delivered": True, "messageId": "m1"}, id="known"),
    pytest.param("nowhere", -32023, id="unknown"),
]


@pytest.mark.parametrize(("channel_id", "expected"), PUBLISHED)
async def test_b081_publishing_is_answered_if_it_has_an_id_and_else_never(
    channel_id: str, expected: Any
) -> None:
    chat = Chat()
    times = 2 if channel_id == GENERAL.id else 0
    async with chatting(chat) as (_, (connection, live), _side):
        params = {"channelId": channel_id, "content": "Hello"}
        before = sum(frame.sender == "server" for frame in connection.frames)
        assert await outcome(live.session.raw("channels/publish", params)) == expected
        await live.session.raw_notify("channels/publish", params)
        await connection.mcp.ping()
        while len(chat.delivered) < times:
            await anyio.lowlevel.checkpoint()
        await connection.mcp.ping()
        replies = sum(frame.sender == "server" for frame in connection.frames) - before
    assert replies == 3
    assert chat.delivered == [(GENERAL.id, "Hello")] * times
