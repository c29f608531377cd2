"""Scopes between two live sides: asked for by servers, derived for tool calls, remembered."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from math import inf, nan
from typing import Any

import anyio
import pytest

from kinwire import Host, Server
from kinwire.mcpl import (
    McplHost,
    McplServer,
    ScopeAnswer,
    ScopeDeniedError,
    ScopeRequest,
    Scopes,
)
from kinwire.storage import open_store
from kinwire_protocols import mcpl
from kinwire_protocols.base import JsonObject
from kinwire_protocols.jsonrpc.errors import InternalError, InvalidParamsError
from kinwire_protocols.mcp.methods import TOOLS_CALL, TOOLS_LIST
from kinwire_protocols.mcpl import Scope, ScopeRules
from tests.runtime.mcpl.lives import Lives, feature, live_pair, raw_server, sent

pytestmark = pytest.mark.anyio

SETS = {
    "files.edit": feature("tools", scoped=True),
    "discord.post": feature("tools", scoped=True),
    "plain": feature("tools"),
}
LISTS = {
    "files.edit": ScopeRules(
        whitelist=["/project/**", "/tmp/**"], blacklist=["**/.env", "**/secrets/**"]
    ),
    "discord.post": ScopeRules(whitelist=["#general", "#dev-*"], blacklist=["#admin-*"]),
}


class Person:
    """Answers what it is set to and remembers what it was asked."""

    def __init__(self, answer: ScopeAnswer | bool = True) -> None:
        self.answer = answer
        self.asked: list[ScopeRequest] = []

    async def __call__(self, request: ScopeRequest) -> ScopeAnswer | bool:
        self.asked.append(request)
        return self.answer


def scope_of(tool: str, arguments: JsonObject) -> tuple[str, str, JsonObject | None] | None:
    if tool == "edit_file":
        return "files.edit", arguments["path"], {"path": arguments["path"]}
    return None


class Files:
    """A server that edits files, and says what it was called with."""

    def __init__(self, **options: Any) -> None:
        self.mcpl = McplServer(
            feature_sets=SETS,
            tools={"edit_file": "files.edit", "format_disk": "files.edit", "look": "plain"},
            **options,
        )
        self.server = Server("files", "1", extensions=[self.mcpl])
        self.edited: list[str] = []
        self.server.tool(self.edit_file)
        self.server.tool(self.format_disk)
        self.server.tool(self.look)

    async def edit_file(self, path: str) -> str:
        """Edit a file."""
        self.edited.append(path)
        return "edited"

    async def format_disk(self, disk: str) -> str:
        """Format a disk."""
        self.edited.append(disk)
        return "formatted"

    async def look(self) -> str:
        """Look around."""
        return "seen"

    async def elevate(self, label: str, payload: Any = None, name: str = "files.edit") -> Any:
        (live,) = self.mcpl.hosts
        scope = Scope(label=label, payload=payload)
        return await mcpl.Client(live.session).scope_elevate(feature_set=name, scope=scope)


@asynccontextmanager
async def files(scopes: Scopes, **host: Any) -> AsyncGenerator[tuple[Files, Lives]]:
    server = Files()
    mcpl_host = McplHost(enabled=["*"], scopes=scopes, **host)
    async with live_pair(server.mcpl, mcpl_host, server.server) as lives:
        await lives.connection.mcp.ping()
        yield server, lives


# What a server asks for.

ELEVATED = [
    pytest.param("/project/a.ts", True, None, id="on the whitelist"),
    pytest.param("/project/.env", False, "the blacklist has **/.env", id="on both"),
    pytest.param("/etc/hosts", False, "nobody can be asked", id="on neither"),
    pytest.param("/project/../x", False, "it goes up with ..", id="cannot be judged"),
]


@pytest.mark.parametrize(("label", "approved", "reason"), ELEVATED)
@pytest.mark.spec("mcpl-7.6-1", "mcpl-7.6-2", "mcpl-7.5-3")
async def test_the_lists_decide(label: str, approved: bool, reason: str | None) -> None:
    async with files(Scopes(lists=LISTS)) as (server, _):
        answer = await server.elevate(label, {"mode": "append"})
    assert answer.approved is approved
    assert answer.payload == ({"mode": "append"} if approved else None)
    assert (reason or "") in (answer.reason or "")


@pytest.mark.spec("mcpl-7.2-1", "mcpl-6.7-2")
async def test_the_lists_go_out_with_the_update_and_can_be_changed() -> None:
    async with files(Scopes(lists=LISTS)) as (server, (connection, live)):
        assert server.mcpl.hosts[0].scopes["discord.post"] == LISTS["discord.post"]
        await live.scopes.set("files.edit", whitelist=["/etc/**"])
        assert (await server.elevate("/etc/hosts")).approved
        assert not (await server.elevate("/project/a")).approved
        first, second = sent(connection, "client", "featureSets/update")
    assert first["scopes"]["files.edit"]["blacklist"] == ["**/.env", "**/secrets/**"]
    assert second["scopes"]["files.edit"] == {"whitelist": ["/etc/**"], "blacklist": []}


@pytest.mark.spec("mcpl-7.6-3", "mcpl-7.6-4", "mcpl-7.5-2")
async def test_a_person_is_asked_once_for_the_same_and_anew_for_anything_else() -> None:
    person = Person()
    async with files(Scopes(lists=LISTS, ask=person)) as (server, (_, live)):
        for _again in range(3):
            answer = await server.elevate("/etc/hosts", {"mode": "append"})
            assert answer.approved
            assert answer.payload == {"mode": "append"}
        assert person.asked == [
            ScopeRequest("files", "files.edit", "/etc/hosts", {"mode": "append"})
        ]
        await server.elevate("/etc/hosts", {"mode": "write"})
        await server.elevate("/etc/passwd", {"mode": "append"})
        await server.elevate("/etc/hosts", {"mode": "append"}, "discord.post")
        assert len(person.asked) == 4
        await live.scopes.set("files.edit", blacklist=["/etc/**"])
        assert not (await server.elevate("/etc/hosts", {"mode": "append"})).approved
    assert len(person.asked) == 4


@pytest.mark.spec("mcpl-7.4-1")
async def test_what_was_approved_can_be_taken_back() -> None:
    person = Person()
    async with files(Scopes(ask=person)) as (server, (connection, live)):
        await server.elevate("/etc/hosts")
        await live.scopes.revoke("files.edit")
        await server.elevate("/etc/hosts")
        asked = [one["scope"] for one in sent(connection, "server", "scope/elevate")]
    assert asked == [{"label": "/etc/hosts"}] * 2
    assert len(person.asked) == 2


async def test_a_set_that_goes_loses_its_approvals() -> None:
    person = Person()
    async with files(Scopes(ask=person)) as (server, (connection, _)):
        await server.elevate("/etc/hosts")
        await server.mcpl.change(removed=["files.edit"])
        await server.mcpl.change(added={"files.edit": SETS["files.edit"]})
        await server.mcpl.hosts[0].session.raw("ping")
        await connection.mcp.ping()
        await server.elevate("/etc/hosts")
    assert len(person.asked) == 2


async def test_an_approval_expires_and_a_clock_that_is_put_back_does_not_revive_it() -> None:
    person, now = Person(ScopeAnswer(True, lasts=60)), [1000.0]
    async with files(Scopes(ask=person), clock=lambda: now[0]) as (server, _):
        await server.elevate("/etc/hosts")
        now[0] += 59
        await server.elevate("/etc/hosts")
        assert len(person.asked) == 1
        now[0] += 86_400
        await server.elevate("/etc/hosts")
        assert len(person.asked) == 2
        now[0] -= 2 * 86_400
        await server.elevate("/etc/hosts")
    assert len(person.asked) == 2


async def test_nobody_waits_longer_than_the_deadline() -> None:
    async def never(request: ScopeRequest) -> bool:
        await anyio.sleep_forever()
        return True

    async with files(Scopes(ask=never, ask_timeout=0.01)) as (server, _):
        answer = await server.elevate("/etc/hosts")
    assert (answer.approved, answer.reason) == (False, "nobody answered in time")


async def test_an_ask_that_fails_denies(caplog: pytest.LogCaptureFixture) -> None:
    async def broken(request: ScopeRequest) -> bool:
        raise RuntimeError("no terminal")

    async with files(Scopes(ask=broken)) as (server, _):
        assert (await server.elevate("/etc/hosts")).reason == "asking failed"
    assert "no terminal" in caplog.text


@pytest.mark.spec("mcpl-7.5-4", "mcpl-7.5-5", "mcpl-7.5-1")
async def test_a_host_adds_to_the_payload_what_it_knows() -> None:
    async def resolve(request: ScopeRequest) -> JsonObject:
        return {**(request.payload or {}), "channelId": 42}

    scopes = Scopes(lists=LISTS, enrich=resolve, ask=Person())
    async with files(scopes) as (server, _):
        for label in ("#general", "#elsewhere", "#elsewhere"):
            answer = await server.elevate(label, {"name": label}, "discord.post")
            assert answer.payload == {"name": label, "channelId": 42}


@pytest.mark.spec("mcpl-7.1-1")
async def test_a_set_without_scopes_is_given_none() -> None:
    async with files(Scopes(ask=Person())) as (server, (connection, live)):
        sets = (connection.greeting.capabilities.experimental or {})["mcpl"]["featureSets"]
        assert [name for name, one in sets.items() if one.get("scoped")] == list(SETS)[:2]
        answer = await server.elevate("/tmp/x", name="plain")
        assert (answer.approved, answer.reason) == (False, "plain does not declare scopes")
        await live.disable("files.edit")
        with pytest.raises(mcpl.FeatureSetNotEnabledError):
            await server.mcpl.hosts[0].session.raw(
                "scope/elevate", {"featureSet": "files.edit", "scope": {"label": "/tmp/x"}}
            )


@pytest.mark.spec("mcpl-7-1")
async def test_leave_that_comes_after_the_set_was_switched_off_is_none() -> None:
    asked, answer = anyio.Event(), anyio.Event()

    async def slow(request: ScopeRequest) -> bool:
        asked.set()
        await answer.wait()
        return True

    async with files(Scopes(ask=slow)) as (server, (_, live)), anyio.create_task_group() as tasks:

        async def elevate() -> None:
            with pytest.raises(mcpl.FeatureSetNotEnabledError):
                await server.elevate("/etc/hosts")

        tasks.start_soon(elevate)
        await asked.wait()
        await live.disable("files.edit")
        answer.set()


async def test_approvals_outlive_the_host_where_records_keep_them() -> None:
    person = Person()
    async with open_store("memory:") as store:
        records = await store.records("mcpl")
        for _host in range(2):
            async with files(Scopes(ask=person), records=records) as (server, _):
                assert (await server.elevate("/etc/hosts", {"n": 1})).payload == {"n": 1}
        assert len(person.asked) == 1
        async with files(Scopes(ask=person), records=records) as (server, (_, live)):
            await live.scopes.revoke()
        async with files(Scopes(ask=person), records=records) as (server, _):
            await server.elevate("/etc/hosts", {"n": 1})
    assert len(person.asked) == 2


@pytest.mark.parametrize(("lasts", "times"), [(inf, 1), (nan, 2)])
async def test_an_approval_lasts_for_ever_where_that_is_said_and_never_for_no_number(
    lasts: float, times: int
) -> None:
    asked: list[ScopeRequest] = []

    async def approve(request: ScopeRequest) -> ScopeAnswer:
        asked.append(request)
        return ScopeAnswer(True, lasts=lasts)

    async with open_store("memory:") as store:
        records = await store.records("mcpl")
        async with files(Scopes(ask=approve), records=records) as (server, _):
            for _time in range(2):
                assert (await server.elevate("/etc/hosts")).approved
    assert len(asked) == times


async def test_an_approval_that_cannot_be_written_down_is_none() -> None:
    person = Person()
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(open_store("memory:"))
        records = await store.records("mcpl")
        async with files(Scopes(ask=person), records=records) as (server, _):
            await stack.aclose()
            for _time in range(2):
                with pytest.raises(InternalError):
                    await server.elevate("/etc/hosts")
    assert len(person.asked) == 2


# Tool calls.


@pytest.mark.spec("mcpl-7.7-1", "mcpl-7.7-2", "mcpl-7.7-3")
async def test_a_call_carries_the_scope_of_its_arguments_and_is_judged_before_it_goes_out() -> None:
    async with files(Scopes(lists=LISTS, scope_of=scope_of)) as (server, (connection, _)):
        await connection.mcp.tools_call(name="edit_file", arguments={"path": "/project/a.ts"})
        (call,) = sent(connection, "client", "tools/call")
        assert call["scope"] == {"label": "/project/a.ts", "payload": {"path": "/project/a.ts"}}
        for path in ("/project/.env", "/etc/hosts", "/project/../etc/hosts"):
            with pytest.raises(ScopeDeniedError, match="edit_file: expected leave to act in"):
                await connection.mcp.tools_call(name="edit_file", arguments={"path": path})
        assert len(sent(connection, "client", "tools/call")) == 1
    assert server.edited == ["/project/a.ts"]


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


async def test_a_call_without_a_scope_is_asked_about_each_time_whatever_was_approved() -> None:
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
async def test_the_tools_of_a_set_that_is_off_are_called_by_no_host_and_served_to_none() -> None:
    async with files(Scopes()) as (server, (connection, live)):
        await connection.mcp.tools_call(name="look")
        await live.disable("plain")
        with pytest.raises(mcpl.FeatureSetNotEnabledError):
            await connection.mcp.tools_call(name="look")
        assert len(sent(connection, "client", "tools/call")) == 1
        with pytest.raises(mcpl.FeatureSetNotEnabledError):
            await connection.session.raw("tools/call", {"name": "look"})
    assert server.edited == []


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
    assert len(raw.told("tools/list")) == 2
    assert len(person.asked) == 1


@pytest.mark.parametrize("changes", [1, 2])
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
    assert len(raw.told("tools/list")) == changes + 1


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
        fetched = len(raw.told("tools/list"))
        await connection.mcp.tools_call(name="t")  # nothing was kept
        assert len(raw.told("tools/list")) > fetched


def test_a_pattern_that_is_none_is_told_when_the_host_is_made() -> None:
    with pytest.raises(ValueError, match="expected 1 to 512 characters"):
        Scopes(lists={"files.edit": ScopeRules(whitelist=[""])})
