"""What agents and servers have in their contexts, with raw servers that have the tools."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from kinwire import Connection, Host, RpcError
from kinwire.mgp import (
    Agent,
    ContextBudgetError,
    MgpKernel,
    ServerPolicy,
    ToolDiscovery,
    ToolSession,
)
from kinwire.mgp.rules.tool_context import META_TOOLS
from kinwire.rpc.errors import SessionStateError
from kinwire_protocols.base import to_wire
from kinwire_protocols.mgp.errors import AccessDeniedError
from kinwire_protocols.mgp.models import ToolContextBudget
from tests.runtime.mgp.fixtures_kernel import outcome
from tests.runtime.mgp.raw_peers import Json, RawServer, tool
from tests.runtime.mgp.test_examples_played import MESSAGES

pytestmark = pytest.mark.anyio

SESSION, ANSWER, EVICT = (MESSAGES[block] for block in (48, 49, 50))
OFFER: Json = {"version": "0.2.0", "extensions": ["tool_discovery"]}
TRUSTED = ServerPolicy(trust="standard", confirm=[])
BUDGET = ToolContextBudget(
    max_tokens=3000, pinned_reserve=300, discovery_reserve=1000, cache_limit=3000
)


def count(text: str) -> int:
    """Return as many tokens as the description says."""
    return int(json.loads(text)["description"])


def sized(name: str, tokens: int) -> Json:
    return {**tool(name), "description": str(tokens)}


def kernel_with(
    *pinned: tuple[str, str], budget: ToolContextBudget | None = BUDGET, **options: Any
) -> MgpKernel:
    """Return a kernel that trusts all servers, and pins tools for all agents."""
    found = ToolDiscovery(
        **{"pinned": {"*": pinned}, "budget": budget, "count_tokens": count, **options}
    )
    return MgpKernel(unknown=TRUSTED, discovery=found)


@asynccontextmanager
async def connected(kernel: MgpKernel, **servers: RawServer) -> AsyncGenerator[list[Connection]]:
    async with Host("h", "1", extensions=[kernel]) as host:
        yield [await host.connect(raw, server_id=id) for id, raw in servers.items()]


async def state(session: ToolSession) -> tuple[list[str], list[str], object]:
    found = await session.state()
    return list(found.pinned), list(found.cached), found.total_tokens


async def session_of(kernel: MgpKernel, connection: Connection) -> ToolSession:
    """Return the session of a server, which has looked at the index."""
    server = kernel.of(connection)
    assert server is not None
    session = kernel.tool_sessions.of(server)
    await session.refresh()
    return session


async def used(session: ToolSession, server: str, names: str) -> None:
    for name in names.split():
        await session.call(server, name)


@pytest.mark.spec("mgp-16.7-mgp-tools-session-1", "mgp-16.7-mgp-tools-session-2")
@pytest.mark.spec("mgp-16.7-mgp-tools-session-evict-1")
async def test_a_server_asks_what_its_session_has_and_evicts_as_in_the_text(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "kinwire.mgp")
    mind = RawServer(sized("think", 300), sized("store", 200), sized("recall", 200))
    terminal = RawServer(sized("read_file", 1020))
    asking = RawServer(sized("analyze_csv", 380), mgp=OFFER)
    pinned = [("mind", name) for name in ("think", "store", "recall")]
    kernel = kernel_with(*pinned, budget=None)
    async with connected(kernel, mind=mind, terminal=terminal, data=asking) as connections:
        session = await session_of(kernel, connections[2])
        for key in (("terminal", "read_file"), ("data", "analyze_csv")):
            found = kernel.tool_index.get(*key)
            assert found is not None
            session.use(found)
        reply = await asking.ask(SESSION["id"], SESSION["method"], SESSION["params"])
        assert reply["result"] == ANSWER["result"]
        reply = await asking.ask(EVICT["id"], EVICT["method"], EVICT["params"])
        assert reply["result"] == {"evicted": ["analyze_csv"], "kept": [], "total_tokens": 1720}
        reply = await asking.ask(54, EVICT["method"], {"tools": ["think", "analyze_csv"]})
        assert reply["result"] == {
            "evicted": [],
            "kept": ["think", "analyze_csv"],
            "total_tokens": 1720,
        }
        assert (await asking.ask(55, EVICT["method"], {}))["error"]["code"] == -32602
        assert (await asking.ask(56, SESSION["method"]))["result"]["cached"] == ["read_file"]
        params = {"tools": ["read_file", "gone"]}
        assert (await asking.ask(57, EVICT["method"], params))["result"]["evicted"] == ["read_file"]
        await asking.ask(58, EVICT["method"], {"tools": ["gone"], "reason": "nothing goes"})
    assert [one.getMessage() for one in caplog.records if "evicts" in one.msg] == [
        "data evicts tools: no_longer_needed"
    ]


@pytest.mark.spec("mgp-16.7-1", "mgp-16.7-2", "mgp-16.7-3")
async def test_calls_fill_the_cache_of_their_session_alone_and_pinned_tools_stay() -> None:
    tools = [sized(name, 900) for name in "abcd"]
    kernel = kernel_with(("s", "think"), pinned={"*": [("s", "think")], "x": [("s", "own")]})
    async with connected(kernel, s=RawServer(sized("think", 290), sized("own", 10), *tools)):
        one, other = await kernel.tool_session("x"), await kernel.tool_session("y")
        await used(one, "s", "think a b c")
        assert await state(one) == (["think", "own"], ["a", "b", "c"], 3000)
        await used(one, "s", "d")
        assert await state(one) == (["think", "own"], ["b", "c", "d"], 3000)
        found = await one.evict(["think", "c", "e", "c"], "no_longer_needed")
        assert to_wire(found) == {"evicted": ["c"], "kept": ["think", "e"], "total_tokens": 2100}
        assert await state(other) == (["think"], [], 290)
        assert (len(one), one.tokens, len(other)) == (4, 2100, 1)


@pytest.mark.spec("mgp-16.8-4", "mgp-16.7-4")
async def test_results_of_a_search_have_a_reserve_and_do_not_outlast_the_next_search() -> None:
    kernel = kernel_with()
    async with connected(kernel, s=RawServer(*(sized(name, 10) for name in "abcd"))):
        session = await kernel.tool_session("x")
        tools = {one.name: one for one in kernel.tool_index.tools()}
        wanted = [(tools["a"], 600), (tools["b"], 600), (tools["c"], 400), (tools["d"], 1)]
        assert [one.name for one in session.keep_results(wanted)] == ["a", "c"]
        assert session.keep_results([]) == ()
        assert await state(session) == ([], [], 0)
        assert session.load([tools["c"], tools["d"]]).tokens_added == 20
        assert await state(session) == ([], ["d", "c"], 20)
        assert kernel.tool_sessions.count(tools["a"].definition) == 10


async def test_a_refused_call_and_one_to_nowhere_load_nothing() -> None:
    kernel = kernel_with()
    raw = RawServer(sized("a", 10), sized("b", 10), tools_call={"code": -32000, "message": "no"})
    async with connected(kernel, s=raw):
        session = await kernel.tool_session("x")
        await kernel.access.grant("x", "s", "deny", tool="b")
        with pytest.raises(AccessDeniedError):
            await session.call("s", "b")
        with pytest.raises(RpcError, match="no"):
            await session.call("s", "a", {})
        with pytest.raises(SessionStateError, match="No server 'gone' is connected"):
            await session.call("gone", "a")
        assert await state(session) == ([], [], 0)
    assert [one["name"] for one in raw.calls] == ["a"]


async def test_tools_that_have_gone_or_are_denied_leave_before_the_next_answer() -> None:
    kernel = kernel_with(("s", "think"), ("t", "deep"))
    s, t = RawServer(sized("think", 9), sized("a", 10)), RawServer(sized("deep", 5), sized("b", 7))
    changes: list[int] = []
    async with connected(kernel, s=s, t=t) as connections:
        session = await kernel.tool_session("x")
        session.on_change(lambda: changes.append(len(session)))
        await used(session, "s", "a")
        await used(session, "t", "b")
        assert await state(session) == (["think", "deep"], ["a", "b"], 31)
        await kernel.access.grant("x", "s", "deny", tool="a")
        await kernel.access.grant("x", "t", "deny", tool="deep")
        assert await state(session) == (["think"], ["b"], 16)
        await kernel.access.revoke("x", "t", tool="deep")
        assert await state(session) == (["think", "deep"], ["b"], 21)
        await connections[1].aclose()
        assert await state(session) == (["think"], [], 9)
        assert changes == [3, 4, 2, 3, 1]


async def test_a_definition_that_changes_is_counted_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    kernel = kernel_with(("s", "think"))
    raw = RawServer(sized("think", 9), sized("a", 10))
    async with connected(kernel, s=raw):
        session = await kernel.tool_session("x")
        await used(session, "s", "a")
        news = anyio.Event()
        session.on_change(lambda: news.set())
        raw.tools = [sized("think", 301), sized("a", 20)]
        raw.say(method="notifications/tools/list_changed")
        with anyio.fail_after(2):
            await news.wait()
        assert await state(session) == ([], ["a"], 20)
        assert session.too_large == {("s", "think")}
    assert [one.getMessage() for one in caplog.records if "pinned" in one.msg] == [
        "s: the pinned tool 'think' has no room in the context budget and is left out"
    ]


async def test_pinned_tools_that_have_no_room_are_an_error_at_the_start() -> None:
    kernel = kernel_with(pinned={"x": [("s", "think"), ("s", "more")], "y": [("s", "think")]})
    async with connected(kernel, s=RawServer(sized("think", 300), sized("more", 1))):
        with pytest.raises(ContextBudgetError) as caught:
            await kernel.tool_session("x")
        assert str(caught.value) == (
            "x: its pinned tools need more than the 300 tokens that the context budget has for "
            "them; no room for s__more. Pin fewer tools, or raise pinned_reserve."
        )
        with pytest.raises(ContextBudgetError):
            await kernel.tool_sessions.check()
        assert await state(await kernel.tool_session("y")) == (["think"], [], 300)
        assert await state(kernel.tool_sessions.open("x")) == (["think"], [], 300)
    with pytest.raises(TypeError, match="agent: expected the name of an agent"):
        await kernel.tool_session("")


async def test_without_pinned_tools_no_list_is_waited_for_at_the_start() -> None:
    kernel, raw = kernel_with(), RawServer(sized("a", 1))
    async with connected(kernel, s=raw):
        await kernel.tool_sessions.check()
    assert raw.of("tools/list") == []


async def test_tools_of_one_name_are_named_with_their_servers() -> None:
    kernel = kernel_with(("s", "think"))
    async with connected(
        kernel, s=RawServer(sized("think", 9), sized("a", 10)), t=RawServer(sized("a", 20))
    ):
        session = await kernel.tool_session("x")
        await used(session, "s", "a")
        await used(session, "t", "a")
        assert await state(session) == (["think"], ["s__a", "t__a"], 39)
        assert (await session.state(qualified=True)).pinned == ["s__think"]
        assert (await session.evict(["a"])).evicted == []
        assert to_wire(await session.evict(["s__a", "s__think"])) == {
            "evicted": ["s__a"],
            "kept": ["s__think"],
            "total_tokens": 29,
        }
        assert (await session.evict(["t__a"])).evicted == ["t__a"]


@pytest.mark.spec("mgp-16.3-5", "mgp-16.2-2", "mgp-16.2-3")
async def test_what_an_agent_is_shown_at_each_level() -> None:
    kernel = kernel_with(("s", "think"))
    async with connected(kernel, s=RawServer(sized("think", 9), sized("a", 10), sized("b", 1))):
        await kernel.access.grant("x", "s", "deny", tool="b")
        session = await kernel.tool_session("x")
        await used(session, "s", "a")
        meta = [one["name"] for one in META_TOOLS]
        shown = {
            "L0": [one["name"] for one in await session.listed("L0")],
            "L1": [one["name"] for one in await session.listed("L1")],
            "L2": [one["name"] for one in await session.listed("L2")],
            "L3": [one["name"] for one in await session.listed()],
        }
        assert shown == {
            "L0": ["s__think", "s__a"],
            "L1": meta,
            "L2": meta,
            "L3": [*meta, "s__think", "s__a"],
        }
        assert "Categories: " in (await session.listed("L1"))[0]["description"]
        assert (await session.listed())[-1]["inputSchema"] == tool("a")["inputSchema"]


@pytest.mark.parametrize("counter", [lambda text: -1, lambda text: 1 / 0])
async def test_tokens_are_estimated_if_the_counter_fails(
    counter: Any, caplog: pytest.LogCaptureFixture
) -> None:
    kernel = kernel_with(("s", "think"), count_tokens=counter)
    caplog.set_level(logging.CRITICAL, "kinwire.mgp")
    async with connected(kernel, s=RawServer(tool("think"))):
        session = await kernel.tool_session("x")
        text = (
            '{"description":"think","inputSchema":{"properties":{},"required":[],"type":"object"}'
        )
        assert session.tokens == (len(f'{text},"name":"s__think"}}') * 2 + 6) // 7


async def test_a_follower_that_fails_stops_no_other() -> None:
    kernel = kernel_with()
    async with connected(kernel, s=RawServer(sized("a", 10))):
        session = await kernel.tool_session("x")
        changes: list[int] = []
        session.on_change(lambda: changes.append(1 // 0))
        session.on_change(lambda: changes.append(len(session)))
        await used(session, "s", "a a")
        assert changes == [1]


@pytest.mark.spec("mgp-16.7-1")
async def test_servers_have_sessions_apart_and_sandboxed_ones_their_own_tools_alone() -> None:
    one, other = RawServer(sized("a", 5), mgp=OFFER), RawServer(sized("b", 7), mgp=OFFER)
    caged = RawServer(sized("c", 9), mgp={**OFFER, "trust_level": "sandboxed"})
    kernel = kernel_with(("one", "a"), ("caged", "c"))
    async with connected(kernel, one=one, other=other, caged=caged) as connections:
        session = await session_of(kernel, connections[0])
        session.load(kernel.tool_index.tools())
        await kernel.access.grant("caged", "caged", "allow")
        found = [await raw.ask(1, "mgp/tools/session") for raw in (one, other, caged)]
        assert [(row["result"]["pinned"], row["result"]["cached"]) for row in found] == [
            (["a"], ["b"]),
            (["a"], []),
            (["c"], []),
        ]
        await session.call("other", "b")
        assert (await one.ask(4, "mgp/tools/session"))["result"]["cached"] == ["b"]
        await one.ask(2, "mgp/tools/session/evict", {"tools": ["b"]})
        assert (await one.ask(3, "mgp/tools/session"))["result"]["cached"] == []


async def test_calls_of_an_agent_whose_time_is_over_are_refused() -> None:
    kernel = kernel_with()
    async with connected(kernel, s=RawServer(sized("a", 5))):
        session = await kernel.tool_session(Agent("x", expires_at=1.0))
        assert await outcome(session.call("s", "a")) == 1003
        assert await state(session) == ([], [], 0)


async def test_pinned_tools_that_nobody_has_are_named_at_the_start(
    caplog: pytest.LogCaptureFixture,
) -> None:
    names = [("s", "read"), ("s", "gone"), ("t", "read"), ("s", "raed"), ("s", "long_name__read")]
    kernel = kernel_with(*names)
    async with connected(kernel, s=RawServer(sized("read", 5))):
        await kernel.tool_sessions.check()
    assert [one.getMessage() for one in caplog.records if "pinned" in one.msg] == [
        "no connected server 's' has the pinned 'gone'",
        "no connected server 't' has the pinned 'read'",
        "no connected server 's' has the pinned 'raed'. Did you mean 'read'?",
        "no connected server 's' has the pinned 'long_name__read'. Did you mean 'read'?",
    ]


async def test_wrong_arguments_are_named() -> None:
    kernel = kernel_with()
    session: Any = kernel.tool_sessions.open("x")
    for match, call in (
        ("server_id", lambda: session.call(1, "a")),
        ("arguments", lambda: session.call("s", "a", [])),
        ("level", lambda: session.listed("L4")),
        ("qualified", lambda: session.state(qualified=1)),
        ("names", lambda: session.evict("a")),
        ("reason", lambda: session.evict([], 1)),
    ):
        with pytest.raises((TypeError, ValueError), match=f"{match}: expected"):
            await call()  # type: ignore[no-untyped-call]
    with pytest.raises(TypeError, match="changed: expected"):
        session.on_change(None)
