"""`mgp/tools/discover`: raw servers and raw clients search the tools of a kernel.

The case B101 is the test of filters; B100 is in `test_tool_search.py`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from kinwire import Context, Host, RpcError, Server
from kinwire.mgp import MgpKernel, MgpServer, ServerPolicy, ToolDiscovery, ToolPolicy
from kinwire.mgp.kernel.policy_loading import load_policy
from kinwire.mgp.rules.policy import Policy
from kinwire.support.background import background
from kinwire_protocols import mgp
from kinwire_protocols.mgp.models import ToolContextBudget
from tests.runtime.mgp.raw_peers import Json, RawKernel, RawServer, tool
from tests.runtime.mgp.test_examples_played import MESSAGES

pytestmark = pytest.mark.anyio

DISCOVER, FOUND = MESSAGES[44], MESSAGES[45]
OFFER: Json = {"version": "0.2.0", "extensions": ["security", "tool_discovery"]}
METHOD = "mgp/tools/discover"


@asynccontextmanager
async def connected(kernel: MgpKernel, **servers: RawServer) -> AsyncGenerator[RawServer]:
    """Yield a server that asks; the others are connected, too."""
    asking = RawServer(mgp=OFFER)
    async with Host("h", "1", extensions=[kernel]) as host:
        for id, raw in servers.items():
            await host.connect(raw, server_id=id.replace("_", "."))
        await host.connect(asking, server_id="asking")
        yield asking


async def found(asking: RawServer | RawKernel, query: str, **params: Any) -> Json:
    reply = await asking.ask(1, METHOD, {"query": query, **params})
    result: Json = reply["result"]
    return result


def names(result: Json) -> list[str]:
    return [f"{one['server_id']}.{one['name']}" for one in result["tools"]]


class OneMeaning:
    """Texts about files point one way, all others another."""

    def embed(self, texts: Sequence[str]) -> Iterator[list[float]]:
        return iter([[1.0, 0.0] if "file" in text.lower() else [0.0, 1.0] for text in texts])


@pytest.mark.spec(*(f"mgp-16.5-mgp-tools-discover-{row}" for row in range(1, 4)))
async def test_the_search_of_the_text_finds_what_the_text_finds() -> None:
    shown = FOUND["result"]["tools"]
    listed = [
        {**{key: one[key] for key in ("name", "description", "inputSchema", "security")}}
        for one in shown
    ]
    terminal = RawServer(*listed, tool("run_shell", "command"), mgp=OFFER)
    other = RawServer(tool("think"), mgp=OFFER)
    kernel = MgpKernel(discovery=ToolDiscovery(embedder=OneMeaning()))
    async with connected(kernel, tool_terminal=terminal, mind=other) as asking:
        reply = await asking.ask(DISCOVER["id"], DISCOVER["method"], DISCOVER["params"])
        result = reply["result"]
        assert set(result) == set(FOUND["result"])
        assert names(result) == ["tool.terminal.read_file", "tool.terminal.grep"]
        assert result["total_available"] == 4
        assert result["search_strategy"] == "semantic"
        assert 0 < result["query_time_ms"] < 60_000
        scores = [one["relevance_score"] for one in result["tools"]]
        assert 1 >= scores[0] > scores[1] > 0
        for one, expected in zip(result["tools"], shown, strict=True):
            assert set(one) == set(expected)
            assert one["inputSchema"] == expected["inputSchema"]
            assert one["security"]["permissions_required"] == ["filesystem.read"]


async def test_scores_do_not_tell_what_is_in_tools_of_others() -> None:
    secret = RawServer(*(tool(f"payroll_{number}") for number in range(9)), mgp=OFFER)
    scores = list[Json]()
    for servers in ({}, {"secret": secret}):
        kernel = MgpKernel(servers={"secret": ServerPolicy(access="opt-in")})
        async with connected(
            kernel, s=RawServer(tool("read_file"), mgp=OFFER), **servers
        ) as asking:
            result = await found(asking, "read payroll")
            scores.append({**result, "query_time_ms": 0})
            assert names(await found(asking, "payrol")) == []
    assert names(scores[0]) == ["s.read_file"]
    assert scores[0] == scores[1]


async def test_filters_are_applied_before_the_limit() -> None:
    safe, risky = {"risk_level": "safe"}, {"risk_level": "dangerous"}
    reads = {"permissions_required": ["filesystem.read"]}
    right = [tool(f"read_{number}", security={**safe, **reads}) for number in range(5)]
    wrong = [tool(f"a_read_{number}", security={**risky, **reads}) for number in range(100)]
    others = [
        {**tool(f"b_read_{number}", security=safe), "_mgp": {"categories": ["notes"]}}
        for number in range(95)
    ]
    kernel = MgpKernel()
    async with connected(kernel, s=RawServer(*wrong, *others, *right, mgp=OFFER)) as asking:
        wanted = {
            "categories": ["filesystem"],
            "risk_level_max": "moderate",
            "status": "connected",
        }
        result = await found(asking, "read", max_results=5, filter=wanted)
        assert sorted(names(result)) == [f"s.read_{number}" for number in range(5)]
        totals = {result["total_available"]}
        for most, count in ((1, 1), (20, 20), (None, 5)):
            params = {} if most is None else {"max_results": most}
            result = await found(asking, "read", **params)
            assert len(result["tools"]) == count
            totals.add(result["total_available"])
        assert totals == {200}
        for status in ("disconnected", "draining"):
            assert names(await found(asking, "read", filter={"status": status})) == []
        assert names(await found(asking, "", strategy="category", max_results=1)) != []
        refused: tuple[Json, ...] = (
            {"query": "read", "max_results": 0},
            {"query": "read", "max_results": -1},
            {"query": " "},
            {"query": "x" * 2001},
            {"query": "read", "strategy": "magic"},
            {"query": "read", "filter": {"risk_level_max": "high"}},
            {"query": "read", "filter": {"status": "asleep"}},
            {},
        )
        for asked in refused:
            reply = await asking.ask(2, METHOD, asked)
            assert reply["error"]["code"] == -32602, asked


@asynccontextmanager
async def gate_of(kernel: MgpKernel, agents: list[str]) -> AsyncGenerator[RawKernel]:
    """Yield a client of a server with the tools; the last of `agents` is its agent."""
    gate, client = Server("gate", "1"), RawKernel()
    kernel.add_tool_search_tools(gate, lambda context: agents[-1])
    async with background() as tasks:
        tasks.start_soon(gate.serve, client)
        await client.greet(None)
        yield client
        tasks.cancel_scope.cancel()


async def called(client: RawKernel, name: str, **arguments: Any) -> Json:
    params = {"name": f"mgp.tools.{name}", "arguments": arguments}
    result: Json = (await client.ask(name, "tools/call", params))["result"]
    return result


POLICY = """
[servers.files]
denied_tools = ["find_policy"]
[servers.closed]
default_policy = "opt-in"
"""


async def test_a_search_shows_what_tools_list_shows(tmp_path: Path) -> None:
    """Access, switches, the policy file and the configuration count the same for both."""
    file = tmp_path / "policy.toml"
    file.write_text(POLICY, encoding="utf-8")
    kernel = MgpKernel(policy=load_policy(file))
    servers = {
        "files": RawServer(*map(tool, ("find_a", "find_b", "find_policy", "find_off"))),
        "closed": RawServer(tool("find_c"), tool("find_d")),
        "unnamed": RawServer(tool("find_e")),
    }
    agents, seen = ["agent.a"], list[set[str]]()
    await kernel.tools.disable("files", "find_off")
    await kernel.access.grant("agent.b", "closed", tool="find_d")
    await kernel.access.grant("agent.b", "files", "deny", tool="find_a")
    async with Host("h", "1", extensions=[kernel]) as host, gate_of(kernel, agents) as client:
        connections = {id: await host.connect(raw, server_id=id) for id, raw in servers.items()}
        for agent in ("agent.a", "agent.b"):
            agents.append(agent)
            with kernel.acting_for(agent):
                listed = {
                    f"{id}.{one.name}"
                    for id, connection in connections.items()
                    async for one in connection.tools()
                }
            answer = await called(client, "discover", query="find", max_results=50)
            result = answer["structuredContent"]
            assert set(names(result)) == listed
            assert result["total_available"] == len(listed)
            seen.append(listed)
    assert seen == [
        {"files.find_a", "files.find_b"},
        {"files.find_b", "closed.find_d"},
    ]


async def test_the_number_of_tools_follows_lists_policies_and_access(tmp_path: Path) -> None:
    file, raw = tmp_path / "policy.toml", RawServer(tool("find_a"), tool("find_b"))
    totals: list[int] = []

    def policy(text: str) -> Policy:
        file.write_text(text, encoding="utf-8")
        return load_policy(file)

    allowed = "[servers.s]\n[servers.asking]\n"
    kernel = MgpKernel(policy=policy(allowed))
    async with connected(kernel, s=raw) as asking:

        async def count() -> None:
            totals.append((await found(asking, "find"))["total_available"])

        await count()
        kernel.replace_policy(policy(allowed.replace("s]", 's]\ndenied_tools = ["find_a"]', 1)))
        await count()
        indexed = anyio.Event()
        kernel.tool_index.followers.append(lambda server: indexed.set())
        raw.tools.append(tool("find_c"))
        raw.say(method="notifications/tools/list_changed")
        with anyio.fail_after(1):
            await indexed.wait()
        await count()
        await kernel.access.grant("asking", "s", "deny")
        await count()
    assert totals == [2, 1, 2, 0]


async def test_a_server_that_asks_is_judged_as_the_agent_of_its_name() -> None:
    off = ServerPolicy(tools={"find_off": ToolPolicy(enabled=False)})
    boxed_policy = ServerPolicy(trust="sandboxed", access="opt-out")
    kernel = MgpKernel(servers={"boxed": boxed_policy, "plain": off})
    boxed = RawServer(tool("find_own"), mgp=OFFER)
    plain = RawServer(tool("find_a"), tool("find_b"), tool("find_off"))
    async with connected(kernel, boxed=boxed, plain=plain) as asking:
        await kernel.access.grant("asking", "plain", "deny", tool="find_b")
        assert set(names(await found(asking, "find"))) == {"plain.find_a", "boxed.find_own"}
        assert names(await found(boxed, "find")) == ["boxed.find_own"]
        assert (await found(boxed, "find"))["total_available"] == 1


@pytest.mark.spec("mgp-16.2-1")
async def test_only_a_server_that_has_the_extension_may_ask_and_both_ends_can() -> None:
    plain = RawServer(tool("a"), mgp={"version": "0.2.0", "extensions": ["security"]})
    answers = RawServer(mgp=OFFER, mgp_tools_discover=FOUND["result"])
    kernel = MgpKernel()
    async with Host("h", "1", extensions=[kernel]) as host:
        await host.connect(plain, server_id="plain")
        connection = await host.connect(answers, server_id="kernel")
        assert "tool_discovery" in plain.of("initialize")[0]["capabilities"]["mgp"]["extensions"]
        reply = await plain.ask(1, METHOD, {"query": "a"})
        assert reply["error"]["code"] == -32601
        result = await mgp.ServerStub(connection).mgp_tools_discover(query="read")
        assert result.total_available == 47
    raw = RawKernel()
    server = Server("s", "1", extensions=[MgpServer(extensions=["tool_discovery"])])

    @server.tool
    async def look(context: Context) -> str:
        try:
            await mgp.ClientStub(context.session).mgp_tools_discover(query="read")
        except RpcError as error:
            return str(error.code)
        return ""

    async with background() as tasks:
        tasks.start_soon(server.serve, raw)
        await raw.greet(OFFER)
        reply = await raw.ask(1, "tools/call", {"name": "look", "arguments": {}})
        assert reply["result"]["content"][0]["text"] == "-32601"  # this kernel serves nothing
        assert raw.of(METHOD) == [{"query": "read"}]
        tasks.cancel_scope.cancel()


@pytest.mark.spec("mgp-16-1", "mgp-16.1-2", "mgp-16.5-Flow-Diagram-1")
async def test_a_model_finds_and_requests_tools_by_tools_call() -> None:
    kernel = MgpKernel()
    async with (
        connected(kernel, files=RawServer(tool("read_file", "path"))),
        gate_of(kernel, ["agent.a"]) as client,
        gate_of(kernel, ["agent.a"]) as other,
    ):
        listed = (await client.ask(1, "tools/list", {}))["result"]["tools"]
        assert [one["name"] for one in listed] == [
            "mgp.tools.discover",
            "mgp.tools.request",
            "mgp.tools.session",
            "mgp.tools.session.evict",
        ]
        found = await called(client, "discover", query="read a file")
        assert names(found["structuredContent"]) == ["files.read_file"]
        for alias in ("mgp/tools/discover", "mgp_tools_discover"):  # as in the text, and for models
            params = {"name": alias, "arguments": {"query": "read"}}
            reply = await client.ask(alias, "tools/call", params)
            assert names(reply["result"]["structuredContent"]) == ["files.read_file"]
        (shown,) = found["structuredContent"]["tools"]
        assert shown["inputSchema"]["required"] == ["path"]
        loaded = await called(client, "request", requirements={"capabilities": ["read file"]})
        assert loaded["structuredContent"]["status"] == "fulfilled"
        for one, cached in ((client, ["read_file"]), (other, [])):  # sessions of their own
            session = await called(one, "session")
            assert session["structuredContent"]["cached"] == cached
        gone = await called(client, "session.evict", tools=["read_file"])
        assert gone["structuredContent"]["evicted"] == ["read_file"]
        refused: Json = {"name": "mgp.tools.discover", "arguments": {"query": "", "max_results": 0}}
        assert (await client.ask(2, "tools/call", refused))["error"]["code"] == -32602


@pytest.mark.spec("mgp-16.1-1")
async def test_a_context_has_the_search_and_pinned_tools_in_place_of_all() -> None:
    pinned = {"agent.a": [("mind", "think")]}
    kernel = MgpKernel(discovery=ToolDiscovery(pinned=pinned))
    many = RawServer(*(tool(f"read_{number}") for number in range(50)))
    async with connected(kernel, mind=RawServer(tool("think")), many=many):
        session = await kernel.tool_session("agent.a")
        names = [one["name"] for one in await session.listed("L3")]
        assert names[0] == "mgp_tools_discover"
        assert [one for one in names if not one.startswith("mgp_")] == ["mind__think"]


@pytest.mark.spec("mgp-16.5-1", "mgp-16.5-mgp-tools-discover-4")
async def test_what_was_found_can_be_called_immediately() -> None:
    schema: Json = {
        "type": "object",
        "properties": {"path": {"type": "string", "pattern": "^/"}, "lines": {"type": "integer"}},
        "required": ["path"],
        "additionalProperties": False,
    }
    reader: Json = {**tool("read_file"), "inputSchema": schema}
    reader["outputSchema"] = {"type": "object"}
    raw, kernel = RawServer(reader), MgpKernel()
    async with connected(kernel, files=raw) as asking:
        (one,) = (await found(asking, "show the content of a file"))["tools"]
        assert one["inputSchema"] == schema
        assert one["outputSchema"] == {"type": "object"}
        listed = len(raw.of("tools/list"))
        session = await kernel.tool_session("agent.a")
        await session.call(one["server_id"], one["name"], {"path": "/a"})
        assert [call["arguments"] for call in raw.calls] == [{"path": "/a"}]
        assert len(raw.of("tools/list")) == listed


@pytest.mark.spec("mgp-16.8-4")
async def test_results_that_exceed_the_discovery_reserve_are_left_out() -> None:
    budget = ToolContextBudget(
        max_tokens=1000, pinned_reserve=0, discovery_reserve=100, cache_limit=500
    )
    for reserve, most in ((100, 1), (1000, 5), (10, 0)):
        sized = budget.model_copy(update={"discovery_reserve": reserve})
        kernel = MgpKernel(discovery=ToolDiscovery(budget=sized))
        tools = [tool(f"read_{number}") for number in range(9)]
        async with connected(kernel, s=RawServer(*tools)) as asking:
            result = await found(asking, "read")
            assert len(result["tools"]) == most
            assert result["total_available"] == 9
            assert result["search_strategy"] == "keyword"


class HalfBlind:
    """Has a vector for a text that names a color, and none for others."""

    COLORS = ("red", "green", "blue")

    def embed(self, texts: Sequence[str]) -> Iterator[list[float]]:
        for text in texts:
            yield [float(color in text.split()) for color in self.COLORS]


async def test_tools_without_a_vector_do_not_win_a_search_by_meaning() -> None:
    """Ten of twenty tools have a vector; the others fit better by their words."""
    tools = [tool(f"paint_{number}", "Paint the wall in any color") for number in range(10)]
    colors = HalfBlind.COLORS
    tools += [tool(f"brush_{number}", f"In {colors[number % 3]} color") for number in range(10)]
    kernel = MgpKernel(discovery=ToolDiscovery(embedder=HalfBlind()))
    async with connected(kernel, s=RawServer(*tools, mgp=OFFER)) as asking:
        first = dict[str, list[str]]()
        for color in colors:
            query = f"paint the wall in the color {color}"
            result = await found(asking, query, strategy="semantic", max_results=5)
            assert result["search_strategy"] == "semantic"
            scores = [one["relevance_score"] for one in result["tools"]]
            assert scores == sorted(scores, reverse=True)
            assert all(0 <= score <= 1 for score in scores)
            first[color] = names(result)
            assert all(name.startswith("s.brush_") for name in first[color])
        assert len({*map(tuple, first.values())}) == 3
