"""Tool calls of scoped sets: their scope is derived, judged and carried along."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire import Host
from kinwire.mcpl import (
    McplHost,
    ScopeDeniedError,
    Scopes,
)
from kinwire.storage import open_store
from kinwire_protocols import mcpl
from kinwire_protocols.base import JsonObject
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.mcp.methods import TOOLS_CALL, TOOLS_LIST
from kinwire_protocols.mcpl import ScopeRules
from tests.runtime.mcpl.fixtures_pairs import live_pair, raw_server, sent
from tests.runtime.mcpl.fixtures_scopes import LISTS, Files, Person, files, scope_of

pytestmark = pytest.mark.anyio


@pytest.mark.spec("mcpl-7.7-1", "mcpl-7.7-2", "mcpl-7.7-3")
async def test_a_call_carries_its_scope_and_is_checked_before_it_is_sent() -> None:
    async with files(Scopes(lists=LISTS, scope_of=scope_of)) as (server, (connection, _)):
        await connection.mcp.tools_call(name="edit_file", arguments={"path": "/project/a.ts"})
        (call,) = sent(connection, "client", "tools/call")
        assert call["scope"] == {"label": "/project/a.ts", "payload": {"path": "/project/a.ts"}}
        for path in ("/project/.env", "/etc/hosts", "/project/../etc/hosts"):
            with pytest.raises(ScopeDeniedError, match=r"edit_file: files\.edit of .* may not"):
                await connection.mcp.tools_call(name="edit_file", arguments={"path": path})
        assert len(sent(connection, "client", "tools/call")) == 1
    assert server.edited == ["/project/a.ts"]


@pytest.mark.spec("mcpl-7.6-3", "mcpl-7.7-3")
async def test_a_scoped_tool_without_a_rule_is_asked_about() -> None:
    person = Person(answer=False)
    async with files(Scopes(lists=LISTS, scope_of=scope_of, ask=person)) as (server, lives):
        tools = lives.connection.mcp
        with pytest.raises(ScopeDeniedError, match="it was denied when asked"):
            await tools.tools_call(name="format_disk", arguments={"disk": "/project/a"})
        person.answer = True
        await tools.tools_call(name="format_disk", arguments={"disk": "c"})
        await tools.tools_call(name="look")
        assert "scope" not in sent(lives.connection, "client", "tools/call")[0]
    assert [one.payload for one in person.asked] == [{"disk": "/project/a"}, {"disk": "c"}]
    assert [one.tool for one in person.asked] == ["format_disk"] * 2
    assert server.edited == ["c"]


@pytest.mark.spec("mcpl-7.6-3")
async def test_a_call_without_a_scope_needs_approval_each_time() -> None:
    person, arguments = Person(), {"disk": "c"}
    async with open_store("memory:") as store:
        records = await store.records("mcpl")
        async with files(Scopes(ask=person), records=records) as (server, lives):
            for _time in range(2):
                await lives.connection.mcp.tools_call(name="format_disk", arguments=arguments)
            assert [one.tool for one in person.asked] == ["format_disk"] * 2
            # Nor does it approve what the server asks for, or the other way round.
            assert (await server.elevate("format_disk", arguments)).approved
            assert [one.tool for one in person.asked[2:]] == [None]
            person.answer = False
            with pytest.raises(ScopeDeniedError):
                await lives.connection.mcp.tools_call(name="format_disk", arguments=arguments)
    assert len(person.asked) == 4
    assert server.edited == ["c", "c"]


@pytest.mark.spec("mcpl-7.7-3")
async def test_the_server_s_words_do_not_take_a_call_out_of_the_host_s_rule() -> None:
    called: list[str] = []

    async def tools(params: Any, request: Any) -> JsonObject:
        return {"tools": [{"name": "edit_file", "inputSchema": {"type": "object"}}]}  # no mark

    async def call(params: Any, request: Any) -> JsonObject:
        called.append(params.arguments["path"])
        return {"content": []}

    offer = {"featureSets": {"files.edit": {"description": "A", "uses": ["tools"], "scoped": True}}}
    host = McplHost(enabled=["*"], scopes=Scopes(lists=LISTS, scope_of=scope_of))
    routes = {TOOLS_LIST: tools, TOOLS_CALL: call}
    async with (
        raw_server(offer, routes, tools={}) as raw,  # type: ignore[arg-type]
        Host("h", "1", extensions=[host]) as opened,
    ):
        connection = await opened.connect(raw.transport)
        await connection.mcp.tools_call(name="edit_file", arguments={"path": "/project/x"})
        with pytest.raises(ScopeDeniedError):
            await connection.mcp.tools_call(name="edit_file", arguments={"path": "/etc/x"})
    assert called == ["/project/x"]


@pytest.mark.spec("mcpl-abstract-5", "mcpl-2-4")
async def test_the_tools_of_a_disabled_set_are_neither_called_nor_served() -> None:
    async with files(Scopes()) as (server, (connection, live)):
        await connection.mcp.tools_call(name="look")
        await live.disable("plain")
        with pytest.raises(mcpl.FeatureSetNotEnabledError):
            await connection.mcp.tools_call(name="look")
        assert len(sent(connection, "client", "tools/call")) == 1
        with pytest.raises(mcpl.FeatureSetNotEnabledError):
            await connection.session.raw("tools/call", {"name": "look"})
    assert server.edited == []


@pytest.mark.parametrize(
    "found", ["abc", ("plain", "x"), ("plain", None, None), (1, "x", None), ("plain", "x", "y")]
)
@pytest.mark.spec("mcpl-7.7-3")
async def test_a_scope_of_another_shape_fails_the_call_before_it_is_sent(found: Any) -> None:
    async with files(Scopes(scope_of=lambda tool, arguments: found)) as (server, lives):
        with pytest.raises(TypeError, match=r"Scopes\.scope_of: expected None or \(feature set"):
            await lives.connection.mcp.tools_call(name="look")
    assert server.edited == []


@pytest.mark.parametrize("declared", [{"uses": ["tools"]}, {"uses": [], "scoped": True}])
@pytest.mark.spec("mcpl-2-4", "mcpl-7.7-3")
async def test_a_tool_is_held_by_its_set_if_that_uses_tools_or_is_scoped(declared: Any) -> None:
    called: list[str] = []

    async def tools(params: Any, request: Any) -> JsonObject:
        tool = {"name": "t", "inputSchema": {"type": "object"}, "_meta": {"featureSet": "s"}}
        return {"tools": [tool]}

    async def call(params: Any, request: Any) -> JsonObject:
        called.append(params.name)
        return {"content": []}

    offer = {"featureSets": {"s": {"description": "A", **declared}}}
    routes = {TOOLS_LIST: tools, TOOLS_CALL: call}
    async with (
        raw_server(offer, routes, tools={}) as raw,  # type: ignore[arg-type]
        Host("h", "1", extensions=[McplHost(enabled=[])]) as opened,
    ):
        connection = await opened.connect(raw.transport)
        with pytest.raises(mcpl.FeatureSetNotEnabledError):
            await connection.mcp.tools_call(name="t")
    assert called == []


@pytest.mark.spec("mcpl-7.7-1")
async def test_a_strict_server_wants_the_scope_of_a_scoped_tool() -> None:
    server = Files(strict_scopes=True)
    host = McplHost(enabled=["*"], scopes=Scopes(lists=LISTS, scope_of=scope_of))
    async with live_pair(server.mcpl, host, server.server) as (connection, _):
        with pytest.raises(InvalidParamsError, match="tools/call#/scope: expected the scope"):
            await connection.session.raw(
                "tools/call", {"name": "edit_file", "arguments": {"path": "/project/a"}}
            )
        await connection.mcp.tools_call(name="edit_file", arguments={"path": "/project/a"})
    assert server.edited == ["/project/a"]


@pytest.mark.spec("mcpl-7.7-3")
async def test_a_tool_that_is_marked_later_is_known_once_the_list_has_changed() -> None:
    listed = [{"name": "t", "inputSchema": {"type": "object"}}]

    async def tools(params: Any, request: Any) -> JsonObject:
        return {"tools": listed}

    async def call(params: Any, request: Any) -> JsonObject:
        return {"content": []}

    offer = {"featureSets": {"s": {"description": "A", "uses": ["tools"], "scoped": True}}}
    host, person = McplHost(enabled=["*"], scopes=Scopes(ask=(person := Person(False)))), person
    routes = {TOOLS_LIST: tools, TOOLS_CALL: call}
    async with (
        raw_server(offer, routes, tools={"listChanged": True}) as raw,  # type: ignore[arg-type]
        Host("h", "1", extensions=[host]) as opened,
    ):
        connection = await opened.connect(raw.transport)
        await connection.mcp.tools_call(name="t")
        listed[0]["_meta"] = {"featureSet": "s"}
        await raw.session.raw_notify("notifications/tools/list_changed")
        await raw.session.raw("ping")
        with pytest.raises(ScopeDeniedError):
            await connection.mcp.tools_call(name="t")
    assert len(raw.received("tools/list")) == 2
    assert len(person.asked) == 1


@pytest.mark.parametrize("changes", [1, 2])
@pytest.mark.spec("mcpl-7.7-3")
async def test_a_list_that_changes_while_it_is_fetched_is_fetched_again(changes: int) -> None:
    left, called = changes, list[str]()

    async def tools(params: Any, request: Any) -> JsonObject:
        nonlocal left
        tool = {"name": "t", "inputSchema": {"type": "object"}}
        if left == 0:
            return {"tools": [{**tool, "_meta": {"featureSet": "s"}}]}
        left -= 1
        await raw.session.raw_notify("notifications/tools/list_changed")
        return {"tools": [tool]}  # what was so before the change

    async def call(params: Any, request: Any) -> JsonObject:
        called.append(params.name)
        return {"content": []}

    offer = {"featureSets": {"s": {"description": "A", "uses": ["tools"], "scoped": True}}}
    host = McplHost(enabled=["*"], scopes=Scopes(ask=Person(answer=False)))
    routes = {TOOLS_LIST: tools, TOOLS_CALL: call}
    async with (
        raw_server(offer, routes, tools={"listChanged": True}) as raw,  # type: ignore[arg-type]
        Host("h", "1", extensions=[host]) as opened,
    ):
        connection = await opened.connect(raw.transport)
        for _time in range(2):
            with pytest.raises(ScopeDeniedError):
                await connection.mcp.tools_call(name="t")
    assert called == []
    assert len(raw.received("tools/list")) == changes + 1


async def test_a_list_that_changes_for_ever_does_not_hold_a_call_for_ever() -> None:
    async def tools(params: Any, request: Any) -> JsonObject:
        await raw.session.raw_notify("notifications/tools/list_changed")
        return {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}

    async def call(params: Any, request: Any) -> JsonObject:
        return {"content": []}

    offer = {"featureSets": {"s": {"description": "A", "uses": ["tools"]}}}
    routes = {TOOLS_LIST: tools, TOOLS_CALL: call}
    async with (
        raw_server(offer, routes, tools={"listChanged": True}) as raw,  # type: ignore[arg-type]
        Host("h", "1", extensions=[McplHost(enabled=["*"])]) as opened,
    ):
        connection = await opened.connect(raw.transport)
        await connection.mcp.tools_call(name="t")
        fetched = len(raw.received("tools/list"))
        await connection.mcp.tools_call(name="t")  # nothing was kept
        assert len(raw.received("tools/list")) > fetched


@pytest.mark.spec("mcpl-7.2-2")
def test_an_invalid_pattern_is_reported_when_the_host_is_created() -> None:
    with pytest.raises(ValueError, match="expected 1 to 512 characters"):
        Scopes(lists={"files.edit": ScopeRules(whitelist=[""])})
