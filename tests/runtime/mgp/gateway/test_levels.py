"""What clients see of all tools at each context level, and how they reach the others."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest

from kinwire.mgp import MgpKernel, ServerPolicy, ToolDiscovery
from kinwire.mgp.gateway import clients as gateway_clients
from kinwire.mgp.rules import tool_names
from kinwire.rpc.codec import EncodedObject
from tests.runtime.mgp.gateway.fixtures_gateway import RawClient, full_server, gateway_of
from tests.runtime.mgp.raw_peers import Json, tool

pytestmark = pytest.mark.anyio

META = [
    "mgp_tools_discover",
    "mgp_tools_request",
    "mgp_tools_call",
    "mgp_tools_session",
    "mgp_tools_session_evict",
]
CHANGED = "notifications/tools/list_changed"


async def listed(client: RawClient) -> list[str]:
    reply = await client.ask("list", "tools/list")
    client.heard.remove(reply)
    return [one["name"] for one in reply["result"]["tools"]]


async def call(client: RawClient, name: str, **arguments: Any) -> Any:
    """Call a tool, and return what a model reads, decoded, or the code of the error."""
    reply = await client.ask("call", "tools/call", {"name": name, "arguments": arguments})
    client.heard.remove(reply)
    if "error" in reply:
        return reply["error"]["code"]
    [block] = reply["result"]["content"]
    if reply["result"].get("isError"):
        return json.loads(block["text"])["error"]["code"]
    return json.loads(block["text"]) if name.startswith("mgp") else block["text"]


def pinning(**pinned: list[tuple[str, str]]) -> MgpKernel:
    return MgpKernel(discovery=ToolDiscovery(pinned=pinned))


@pytest.mark.spec("mgp-16.2-2")
async def test_every_level_lists_what_it_says_and_every_tool_can_be_called_at_each() -> None:
    lists: dict[str, list[str]] = {"L0": ["s__t", "s__u"], "L1": META, "L2": META}
    lists["L3"] = [*META, "s__u"]
    for level, names in lists.items():
        raw, client = full_server("t", "u"), RawClient()
        async with gateway_of(
            {"s": raw}, client, kernel=pinning(gateway=[("s", "u")]), level=level
        ):
            assert await listed(client) == names
            assert await call(client, "s__t") == "t"
            assert await call(client, "mgp_tools_session_more") == -32602
            if level == "L0":
                assert await call(client, "mgp_tools_session") == -32602
                continue
            assert (await call(client, "mgp_tools_session"))["cached"] == ["s__t"]
            reply = await client.ask("page", "tools/list", {"cursor": "x"})
            assert reply["error"]["code"] == -32602


async def test_a_wrong_name_is_answered_with_the_nearest_that_the_agent_may_call() -> None:
    search = "Search for tools, or list them again."
    for level in ("L0", "L3"):
        kernel = MgpKernel(servers={"other": ServerPolicy(access="opt-in")})
        peers = {"s": full_server("read_file", "sing"), "other": full_server("hide_me")}
        client = RawClient()
        async with gateway_of(peers, client, kernel=kernel, level=level):
            for name, hint in {
                "read_file": f"Did you mean 's__read_file'? {search}",
                "s__raed_file": f"Did you mean 's__read_file'? {search}",
                "s__hide_me": search,
                "other__hide_m": search,
                "s__": search,
            }.items():
                reply = await client.ask(name, "tools/call", {"name": name})
                assert reply["error"]["message"].endswith(f"Unknown tool: {name!r}. {hint}")
    client = RawClient()
    async with gateway_of({"s": full_server("sing")}, client, level="L3"):
        call = {"name": "mgp_tools_call", "arguments": {"name": "mgp_tools_session"}}
        reply = await client.ask("meta", "tools/call", call)
        assert "called by itself, not by mgp_tools_call" in reply["error"]["message"]


async def test_the_search_names_the_categories_there_are_at_level_1() -> None:
    raw, client = full_server("read_file", "write_file"), RawClient()
    for one in raw.tools:
        one["_mgp"] = {"categories": ["files/text"]}
    async with gateway_of({"s": raw}, client, level="L1"):
        [search, *_] = (await client.ask(1, "tools/list"))["result"]["tools"]
        assert "files (2), files/text (2)" in search["description"]
        client.heard.clear()
        raw.tools.append(tool("sing", _mgp={"categories": ["music"]}))
        raw.say(method=CHANGED)
        await client.tells(CHANGED)
        [search, *_] = (await client.ask(2, "tools/list"))["result"]["tools"]
        assert "music (1)" in search["description"]


async def test_what_a_client_has_used_is_in_its_own_list_and_in_no_other() -> None:
    raw, first, second = full_server("t", "u", "v"), RawClient(), RawClient()
    kernel = pinning(gateway=[("s", "v")])
    async with gateway_of({"s": raw}, first, second, level="L3", kernel=kernel):
        before = [await listed(one) for one in (first, second)]
        first.heard.clear()
        second.heard.clear()
        await call(first, "s__t")
        await first.tells(CHANGED)
        await call(second, "s__v")  # it has this one already
        assert [await listed(one) for one in (first, second)] == [
            [*before[0], "s__t"],
            before[1],
        ]
        states = [await call(one, "mgp_tools_session") for one in (first, second)]
        assert [one["cached"] for one in states] == [["s__t"], []]
        assert {tuple(one["pinned"]) for one in states} == {("s__v",)}
        assert states[0]["total_tokens"] > states[1]["total_tokens"]
        gone = await call(second, "mgp_tools_session_evict", tools=["s__t", "s__v"])
        assert (gone["evicted"], gone["kept"]) == ([], ["s__t", "s__v"])
        gone = await call(first, "mgp_tools_session_evict", tools=["s__t"], reason="done")
        assert gone["evicted"] == ["s__t"]
        assert await listed(first) == before[0]
        assert second.of(CHANGED) == []
        assert await call(first, "mgp_tools_session_evict") == -32602


async def test_a_client_that_comes_back_begins_with_an_empty_session() -> None:
    raw, first, second = full_server("t"), RawClient(), RawClient()
    async with gateway_of({"s": raw}, first, level="L3") as gateway:
        await call(first, "s__t")
        assert await listed(first) == [*META, "s__t"]
        first.hang_up()
        await first.settle()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(gateway.server.serve, second)
            await second.greet(None)
            assert await listed(second) == META
            tasks.cancel_scope.cancel()


async def test_a_tool_is_called_by_another_tool_as_it_is_by_its_name() -> None:
    raw = full_server("t", tools_call=lambda params: {"content": [], "heard": params})
    client = RawClient()
    async with gateway_of({"s": raw}, client, level="L2"):
        inner: Json = {"name": "s__t", "arguments": {"a": [1]}}
        arguments: Json
        for arguments, sent in (
            (inner, {"name": "t", "arguments": {"a": [1]}}),
            ({"name": "s__t"}, {"name": "t"}),
        ):
            params = {"name": "mgp_tools_call", "arguments": arguments, "_meta": {"k": 1}}
            reply = await client.ask("x", "tools/call", params)
            client.heard.remove(reply)
            assert reply["result"]["heard"] == {**sent, "_meta": {"k": 1}}
        for arguments, code in (
            ({}, -32602),
            ({"name": 5}, -32602),
            ({"name": "other__t"}, -32602),
            ({"name": "mgp_tools_call"}, -32602),
            ({"name": "s__t", "arguments": [1]}, 4000),
        ):
            params = {"name": "mgp_tools_call", "arguments": arguments}
            reply = await client.ask("x", "tools/call", params)
            client.heard.remove(reply)
            assert reply["error"]["code"] == code
    assert len(raw.calls) == 2


async def test_no_list_has_what_the_agent_may_not_call() -> None:
    raw, client = full_server("t", "u"), RawClient()
    kernel = pinning(gateway=[("s", "u")])
    async with gateway_of({"s": raw}, client, level="L3", kernel=kernel):
        await call(client, "s__t")
        assert await listed(client) == [*META, "s__u", "s__t"]
        await kernel.access.grant("gateway", "s", "deny", tool="u")
        await kernel.tools.disable("s", "t")
        assert await listed(client) == META
        assert [await call(client, name) for name in ("s__u", "s__t")] == [1001, 4002]
        await kernel.access.revoke("gateway", "s", tool="u")
        assert await listed(client) == [*META, "s__u"]


async def test_a_list_of_a_session_is_encoded_again_only_when_it_has_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[Json] = []

    def encoded(members: Json) -> EncodedObject:
        made.append(members)
        return EncodedObject(members)

    monkeypatch.setattr(gateway_clients, "EncodedObject", encoded)
    raw, client = full_server("t"), RawClient()
    async with gateway_of({"s": raw}, client, level="L3"):
        for _ in range(3):
            await listed(client)
        await call(client, "s__t")
        for _ in range(3):
            await listed(client)
    assert len(made) == 2


async def test_a_tool_whose_name_would_stand_for_another_one_is_left_out(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(tool_names, "digest", lambda text: "0" * 8)  # so that two names are equal
    raw, client = full_server("a.b", "a..b"), RawClient()
    async with gateway_of({"s": raw}, client):
        assert await listed(client) == ["s__a_b-00000000"]
        assert await call(client, "s__a_b-00000000") == "a.b"
    assert "'a..b' is left out" in caplog.text
    assert [one["name"] for one in raw.calls] == ["a.b"]


@pytest.mark.spec("mgp-16.2-3", "mgp-16.6-Flow-Diagram-1")
async def test_a_model_finds_a_tool_calls_it_requests_another_and_goes_on() -> None:
    raw, other, client = full_server("count_words"), full_server("draw_chart"), RawClient()
    raw.tools[0]["description"] = "Count the words of a text"
    other.tools[0]["description"] = "Draw a chart of numbers"
    kernel = MgpKernel()
    async with gateway_of({"text": raw, "charts": other}, client, level="L3", kernel=kernel):
        assert await listed(client) == META
        found = await call(client, "mgp_tools_discover", query="count words", max_results=1)
        [tool_found] = found["tools"]
        assert tool_found["name"] == "text__count_words"
        assert tool_found["inputSchema"] == raw.tools[0]["inputSchema"]
        assert await call(client, tool_found["name"]) == "count_words"
        needs = {"capabilities": ["draw a chart"]}
        got = await call(client, "mgp_tools_request", requirements=needs)
        assert got["status"] == "fulfilled"
        assert [one["name"] for one in got["tools_loaded"]] == ["charts__draw_chart"]
        assert got["session_tools_count"] == 2
        assert await listed(client) == [*META, "text__count_words", "charts__draw_chart"]
        assert await call(client, "charts__draw_chart") == "draw_chart"
        await kernel.access.grant("gateway", "charts", "deny")
        found = await call(client, "mgp_tools_discover", query="draw chart")
        assert [one["name"] for one in found["tools"]] == []
        assert await call(client, "mgp_tools_discover", query="") == -32602
