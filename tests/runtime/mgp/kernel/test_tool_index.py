"""The index of a kernel follows the lists of its servers, also of hostile ones."""

from __future__ import annotations

import logging
from itertools import pairwise
from typing import Any

import anyio
import pytest

from kinwire import Connection, Host
from kinwire.mgp import (
    AccessPrincipal,
    ConfirmationAnswer,
    ConfirmationRequest,
    Confirmations,
    MgpKernel,
    Permissions,
    ServerPolicy,
    ToolDiscovery,
    ToolPolicy,
)
from kinwire.mgp.rules.definitions import definition_flags
from kinwire.mgp.rules.tool_index.entry import IndexedTool
from tests.runtime.mgp.fixtures_kernel import audited, guarded, outcome
from tests.runtime.mgp.raw_peers import NOTHING, Json, RawServer, tool

pytestmark = pytest.mark.anyio

SECURITY: Json = {"version": "0.2.0", "extensions": ["security"]}
CHANGED: Json = {"method": "notifications/tools/list_changed"}


def names(kernel: MgpKernel) -> set[str]:
    return {f"{one.server_id}.{one.name}" for one in kernel.tool_index.tools()}


async def until(kernel: MgpKernel, *expected: str) -> None:
    """Wait at most a second for the tools of the index."""
    changed = anyio.Event()
    kernel.tool_index.followers.append(lambda server: changed.set())
    with anyio.fail_after(1):
        while names(kernel) != {*expected}:
            await changed.wait()
            changed = anyio.Event()


def entry(kernel: MgpKernel, name: str, server: str = "s") -> IndexedTool:
    found = kernel.tool_index.get(server, name)
    assert found is not None
    return found


async def call(connection: Connection, name: str) -> Any:
    return await outcome(connection.session.raw("tools/call", {"name": name}))


@pytest.mark.spec("mgp-16.4-1")
async def test_nothing_is_listed_before_the_index_is_used_and_then_all_servers_are_followed() -> (
    None
):
    kernel, one, two = MgpKernel(), RawServer(tool("a")), RawServer(tool("b"))
    async with Host("h", "1", extensions=[kernel]) as host:
        await host.connect(one, server_id="one")
        await host.connect(two, server_id="two")
        assert one.of("tools/list") == []
        await kernel.tool_index.ready()
        assert names(kernel) == {"one.a", "two.b"}
        one.tools = [tool("c")]
        one.say(**CHANGED)
        await until(kernel, "one.c", "two.b")
        late = await host.connect(RawServer(tool("d")), server_id="late")
        await until(kernel, "one.c", "two.b", "late.d")
        await late.aclose()
        sights = await kernel.tool_index.sights(AccessPrincipal("agent", "a"))
        assert sights.count() == 2  # before the kernel has forgotten the server
        assert [sights.shows(one) for one in kernel.tool_index.tools()].count(True) == 2
        await until(kernel, "one.c", "two.b")
    assert names(kernel) == set()
    eager = MgpKernel(discovery=ToolDiscovery(categories={"s": ["x"]}))
    async with guarded(RawServer(tool("a")), eager):
        await until(eager, "s.a")


async def test_a_thousand_changes_of_a_list_are_read_together() -> None:
    kernel, raw = MgpKernel(), RawServer(tool("a"))
    async with guarded(raw, kernel):
        await kernel.tool_index.ready()
        raw.tools = [tool("b")]
        for _ in range(1000):
            raw.say(**CHANGED)
        await until(kernel, "s.b")
        assert len(raw.of("tools/list")) < 8


@pytest.mark.parametrize("reader", ["client", "kernel"])
async def test_other_tasks_have_turns_while_a_long_list_is_judged(
    reader: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel, raw = MgpKernel(), RawServer(*[tool(f"t{number}") for number in range(200)])
    judged, seen = list[object](), [0]

    def flags(definition: Json, **options: Any) -> tuple[str, ...]:
        judged.append(definition)
        return definition_flags(definition, **options)

    async def watch() -> None:
        while True:
            await anyio.lowlevel.checkpoint()
            seen.append(len(judged))

    monkeypatch.setattr("kinwire.mgp.kernel.tool_guard.definition_flags", flags)
    async with guarded(raw, kernel) as connection, anyio.create_task_group() as tasks:
        tasks.start_soon(watch)
        if reader == "client":
            await connection.session.raw("tools/list", {})
        else:
            await kernel.tool_index.ready()
        tasks.cancel_scope.cancel()
    assert len(judged) == 200
    # Steps of ten tools; trio may run two of them before the other task, since it draws lots.
    assert max(after - before for before, after in pairwise([*seen, 200])) <= 20


async def test_a_server_that_goes_while_it_is_indexed_leaves_nothing_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kinwire.mgp.kernel.tool_index._AT_ONCE", 1)
    kernel, tools = MgpKernel(), [tool(f"t{number}") for number in range(50)]
    async with Host("h", "1", extensions=[kernel]) as host:
        connection = await host.connect(RawServer(*tools), server_id="s")
        changed = anyio.Event()
        replace = kernel.tool_index.search.extend

        def extend(server_id: str, tools: list[IndexedTool]) -> None:
            replace(server_id, tools)
            changed.set()

        monkeypatch.setattr(kernel.tool_index.search, "extend", extend)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(kernel.tool_index.ready)
            await changed.wait()
            assert 0 < len(names(kernel)) < 50
            await connection.aclose()
        await anyio.wait_all_tasks_blocked()
        assert names(kernel) == set()


@pytest.mark.spec("mgp-16.4-2")
async def test_labels_are_declared_configured_or_derived_and_the_entry_says_which() -> None:
    safe = {"risk_level": "safe", "permissions_required": ["filesystem.read"]}
    declared = {**tool("b"), "_mgp": {"categories": ["notes/read"], "keywords": ["memo"]}}
    raw = RawServer(tool("read_file", security=safe), declared, tool("c"), tool("d"), mgp=SECURITY)
    categories: dict[str | tuple[str, str], list[str]] = {
        "s": ["all"],
        ("s", "c"): ["own/one"],
        ("s", "read_file"): [],
    }
    keywords: dict[str | tuple[str, str], list[str]] = {("s", "c"): ["jotter"]}
    for configured in ({}, categories):
        kernel = MgpKernel(discovery=ToolDiscovery(categories=configured, keywords=keywords))
        async with guarded(raw, kernel):
            await kernel.tool_index.ready()
            file, own = entry(kernel, "read_file"), entry(kernel, "c")
            if configured:
                assert (own.categories, own.category_source) == (("own/one",), "configured")
                assert entry(kernel, "d").categories == ("all",)
                assert (own.keywords, own.keyword_source) == (("jotter",), "configured")
                found = await kernel.tool_index.search.search("jotter", limit=2)
                assert [hit.tool.name for hit in found.hits] == ["c"]
            else:
                assert file.category_source == "derived"
                assert any(one.startswith("filesystem") for one in file.categories)
                assert entry(kernel, "b").category_source == "declared"
                assert entry(kernel, "b").categories == ("notes/read",)
                assert "memo" in entry(kernel, "b").keywords
            assert (file.tool_id, file.server_id, file.name) == ("s.read_file", "s", "read_file")
            assert file.security["risk_level"] == "moderate"  # as of the permission
            assert file.security["permissions_required"] == ["filesystem.read"]


@pytest.mark.spec("mgp-4.4-3")
async def test_a_changed_definition_asks_before_the_tool_is_used() -> None:
    asked: list[str] = []

    async def confirm(request: ConfirmationRequest) -> bool:
        asked.append(request.definition)
        return len(asked) != 2

    def listed(text: str) -> list[Json]:
        return [{**tool("look", security={"risk_level": "safe"}), "description": text}]

    raw = RawServer(*listed("looks"), mgp=SECURITY)
    kernel = MgpKernel(confirmations=Confirmations(confirm=confirm))
    with audited() as events:
        async with Host("h", "1", extensions=[kernel]) as host:
            connection = await host.connect(raw, server_id="s")
            assert "content" in await call(connection, "look")
            assert asked == []  # a safe tool
            for text, outcomes in (("other", ["content"] * 2), ("third", [1000, "content"])):
                raw.tools = listed(text)
                raw.say(**CHANGED)
                await anyio.wait_all_tasks_blocked()
                for expected in outcomes:
                    found = await call(connection, "look")
                    assert found == expected or expected in found
            assert len(asked) == 3
            assert asked[1] == asked[2] != asked[0]
            await connection.aclose()
            for server, count in (("s", 4), ("other", 4)):  # a restart changes nothing
                again = RawServer(*listed("fourth"), mgp=SECURITY)
                connection = await host.connect(again, server_id=server)
                for _ in range(2):
                    assert "content" in await call(connection, "look")
                assert len(asked) == count
    assert len(events.of("io.kinwire.tool_changed")) == 3


async def test_a_changed_definition_is_as_a_new_tool_where_nobody_is_asked() -> None:
    deciding = {"s": ServerPolicy(tools={"look": ToolPolicy(confirm=False)})}
    dangerous = {"risk_level": "dangerous", "permissions_required": ["shell.execute"]}

    async def never(request: ConfirmationRequest) -> ConfirmationAnswer:
        raise AssertionError("asked")

    for kernel, security, expected in (
        (MgpKernel(servers=deciding, confirmations=Confirmations(confirm=never)), {}, "content"),
        (MgpKernel(), {}, "content"),  # nobody can be asked: as a new tool
        (MgpKernel(permissions=Permissions()), dangerous, 1000),
    ):
        security = security or {"risk_level": "safe"}
        raw = RawServer(tool("look", security=security), mgp=SECURITY)
        async with guarded(raw, kernel) as connection:
            await kernel.permissions.approve("s", "shell.execute")
            assert "content" in await call(connection, "look")
            raw.tools = [{**raw.tools[0], "description": "another"}]
            raw.say(**CHANGED)
            await anyio.wait_all_tasks_blocked()
            found = await call(connection, "look")
            assert found == expected or str(expected) in found


async def test_what_a_server_lists_too_much_is_cut_with_a_notice(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kinwire.mgp.kernel.tool_list._MOST_SEEN", 60)
    monkeypatch.setattr("kinwire.mgp.kernel.tool_index._MOST_TOOLS", 100)
    large = {**tool("large"), "inputSchema": {"type": "object", "title": "x" * 100_001}}
    long = {**tool("long"), "description": "y" * 1_000_000}
    kernel = MgpKernel()
    with caplog.at_level(logging.WARNING, "kinwire.mgp"):
        async with Host("h", "1", extensions=[kernel]) as host:
            flood = [tool(f"t{number}") for number in range(100)]
            await host.connect(RawServer(long, large, *flood), server_id="one")
            await kernel.tool_index.ready()
            await host.connect(RawServer(*flood), server_id="two")
            await kernel.tool_index.ready()
            counts = [
                sum(one.server_id == id for one in kernel.tool_index.tools())
                for id in ("one", "two")
            ]
            assert counts == [59, 41]
            kept = entry(kernel, "long", "one")
            assert len(kept.description) == 4096
            assert kept.definition["description"] == kept.description
            assert kernel.tool_index.get("one", "large") is None
    for text in (
        "one: it has listed more than 60 tools",
        "one: 1 tools are not in the index",
        "two: it has listed more than 60 tools",
        "two: 19 tools are not in the index",
    ):
        assert caplog.text.count(text) == 1


async def test_a_server_with_a_loop_of_cursors_or_no_answer_does_not_stop_the_others(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kinwire.mgp.kernel.tool_index._PATIENCE", 0.05)

    class Endless(RawServer):
        def _answer(self, method: str, params: Json) -> Json:
            if method == "tools/list":
                return {"tools": [tool(f"t{params.get('cursor')}")], "nextCursor": "again"}
            return super()._answer(method, params)

    class Silent(RawServer):
        def _answer(self, method: str, params: Json) -> Json:
            return NOTHING if method == "tools/list" else super()._answer(method, params)

    kernel = MgpKernel()
    async with Host("h", "1", extensions=[kernel]) as host:
        await host.connect(Endless(), server_id="endless")
        await host.connect(Silent(), server_id="silent")
        await host.connect(RawServer(tool("a")), server_id="good")
        await kernel.tool_index.ready()
        assert names(kernel) == {"good.a"}
    assert "endless: its tools could not be listed" in caplog.text
    assert "in a circle" in caplog.text
