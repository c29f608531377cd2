"""State between two live sides: carried, patched, rolled back, and there again after a restart."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from pydantic import MISSING

from kinwire import CapabilityNotNegotiatedError, Context, Host, InvalidResponseError, Server, pair
from kinwire.mcpl import McplHost, McplServer, StateRefusedError
from kinwire.storage import open_store
from kinwire_protocols import mcpl
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcp.methods import TOOLS_CALL, TOOLS_LIST
from kinwire_protocols.mcpl.methods import STATE_ROLLBACK
from kinwire_protocols.peer import Method
from tests.runtime.mcpl.fixtures_pairs import Lives, RawServer, feature, live_pair, raw_server, sent

pytestmark = pytest.mark.anyio

SETS = {"notes.edit": feature("tools", rollback=True)}


def notes(**options: Any) -> tuple[McplServer, Server]:
    """A server that keeps nothing: each call brings the notes that there are."""
    live = McplServer(feature_sets=SETS, **options)
    server = Server("notes", "1", extensions=[live])

    @server.tool
    async def add_note(text: str, context: Context) -> int:
        """Keep a note and return how many there are."""
        state = live.state_of(context)
        before = {"notes": []} if state.given is MISSING else state.given
        after = {"notes": [*before["notes"], text]}
        state.save(after)
        return len(after["notes"])

    @server.tool
    async def count(context: Context) -> int:
        """Return how many notes there are, and leave them alone."""
        state = live.state_of(context)
        return 0 if state.given is MISSING else len(state.given["notes"])

    return live, server


@asynccontextmanager
async def noting(**host: Any) -> AsyncGenerator[Lives]:
    live, server = notes()
    async with live_pair(live, McplHost(enabled=["*"], **host), server) as lives:
        yield lives


async def add(lives: Lives, text: str) -> None:
    await lives.connection.mcp.tools_call(name="add_note", arguments={"text": text})


@pytest.mark.spec("mcpl-8.4-1", "mcpl-8.3-2", "mcpl-8.3-5")
async def test_what_a_call_left_comes_back_with_the_next() -> None:
    async with noting() as lives:
        for text in ("one", "two", "three"):
            await add(lives, text)
        assert (await lives.server.state("notes.edit")).tree.data == {
            "notes": ["one", "two", "three"]
        }
        calls = sent(lives.connection, "client", "tools/call")
    assert [call.get("state") for call in calls] == [
        None,
        {"notes": ["one"]},
        {"notes": ["one", "two"]},
    ]
    assert not any("checkpoint" in call for call in calls)


@pytest.mark.spec("mcpl-8.2-1", "mcpl-8.3-3", "mcpl-8.3-4")
async def test_a_server_sends_its_state_once_and_then_what_changed() -> None:
    async with noting() as lives:
        results = [
            await lives.connection.mcp.tools_call(name="add_note", arguments={"text": text * 30})
            for text in "ab"
        ]
    first, second = (one.model_extra["state"] for one in results if one.model_extra)
    assert first["parent"] is None
    assert first["data"] == {"notes": ["a" * 30]}
    assert second["parent"] == first["checkpoint"]
    assert second["patch"] == [{"op": "add", "path": "/notes/1", "value": "b" * 30}]
    assert "data" not in second


@pytest.mark.spec("mcpl-8.5-1", "mcpl-8.6-1", "mcpl-8.2-2")
async def test_the_call_after_a_rollback_carries_the_older_state_and_branches() -> None:
    async with noting() as lives:
        await add(lives, "one")
        state = await lives.server.state("notes.edit")
        first = state.tree.head
        assert first is not None
        await add(lives, "two")
        result = await state.roll_back(first)
        assert (result.success, result.checkpoint) == (True, first)
        await add(lives, "three")
        assert state.tree.data == {"notes": ["one", "three"]}
        assert len(state.tree[first].children) == 2
        assert sent(lives.connection, "client", "state/rollback") == [
            {"featureSet": "notes.edit", "checkpoint": first}
        ]
        assert sent(lives.connection, "client", "tools/call")[-1]["state"] == {"notes": ["one"]}


@pytest.mark.spec("mcpl-8.7-3", "mcpl-A-4", "mcpl-8.5-2")
async def test_a_checkpoint_that_is_not_there_is_an_error_and_the_head_stays() -> None:
    async with noting() as lives:
        await add(lives, "one")
        state = await lives.server.state("notes.edit")
        head = state.tree.head
        for name in ("chk_gone", "chk_0123-4567", ""):
            with pytest.raises(mcpl.CheckpointNotFoundError) as raised:
                await state.roll_back(name)
            assert raised.value.data["checkpoint"] == name
        assert state.tree.head == head
        with pytest.raises(mcpl.UnknownFeatureSetError):
            await mcpl.ServerStub(lives.connection).state_rollback(
                feature_set="nobody", checkpoint="chk"
            )


@pytest.mark.spec("mcpl-8.1-1")
async def test_a_set_that_declares_no_rollback_is_not_rolled_back() -> None:
    live = McplServer(feature_sets={**SETS, "notes.read": feature("tools")})
    async with live_pair(live, McplHost(enabled=["*"])) as (connection, server):
        sets = (connection.greeting.capabilities.experimental or {})["mcpl"]["featureSets"]
        assert {name: one.get("rollback") for name, one in sets.items()} == {
            "notes.edit": True,
            "notes.read": None,
        }
        assert (await server.state("notes.edit")).tree.head is None
        for name in ("notes.read", "nobody"):
            with pytest.raises(CapabilityNotNegotiatedError, match="does not declare rollback"):
                await server.state(name)


@pytest.mark.spec("mcpl-8-4", "mcpl-8-5", "mcpl-8-3")
@pytest.mark.parametrize(("mode", "carried"), [("latest", True), ("none", False)])
async def test_a_host_may_keep_less_and_says_so(mode: Any, carried: bool) -> None:
    async with noting(state=mode) as lives:
        await add(lives, "one")
        await add(lives, "two")
        (offer,) = sent(lives.connection, "client", "initialize")
        assert offer["capabilities"]["experimental"]["mcpl"]["state"] == {
            "mode": mode,
            "rollback": False,
        }
        last = sent(lives.connection, "client", "tools/call")[-1]
        assert ("state" in last) == carried
        with pytest.raises(CapabilityNotNegotiatedError, match="keeps no checkpoints to return"):
            await lives.server.state("notes.edit")


@pytest.mark.spec("mcpl-8-7")
async def test_with_a_host_of_mcp_nothing_is_carried_and_everything_works() -> None:
    _, server = notes()
    with anyio.fail_after(20):
        async with pair(server, Host("plain", "1")) as connection:
            result = await connection.mcp.tools_call(name="add_note", arguments={"text": "one"})
            assert "state" not in (result.model_extra or {})
            unknown = {"name": "count", "state": {"notes": []}, "checkpoint": "c", "scope": {}}
            await connection.session.raw("tools/call", unknown)


@pytest.mark.spec("mcpl-8-1")
async def test_checkpoints_and_head_are_there_for_the_host_after_this_one() -> None:
    async with open_store("memory:") as store:
        records = await store.records("mcpl")
        async with noting(records=records) as lives:
            for text in ("one", "two", "three"):
                await add(lives, text)
            before = await lives.server.state("notes.edit")
            await before.roll_back(before.tree.checkpoints[1].id)
            await add(lives, "four")
            drawn = before.tree.render()
        async with noting(records=records) as lives:
            state = await lives.server.state("notes.edit")
            assert state.tree.render() == drawn
            await add(lives, "five")
            assert state.tree.data == {"notes": ["one", "two", "four", "five"]}
            first = state.tree.checkpoints[0].id
            assert (await state.roll_back(first)).success  # by a server that was started again
            assert state.tree.data == {"notes": ["one"]}


async def test_what_is_pruned_takes_no_record_and_costs_its_children_nothing() -> None:
    async with open_store("memory:") as store:
        records = await store.records("mcpl")
        async with noting(records=records, state="latest") as lives:
            for text in ("one", "two", "three"):
                await add(lives, text)
        kept = [record.value async for record in records.scan("state/")]
    assert len(kept) == 2  # the checkpoint and the head
    assert {"notes": ["one", "two", "three"]} in [
        one["data"] for one in kept if isinstance(one, dict)
    ]


# A scripted server.


@asynccontextmanager
async def told(
    states: list[Any], rollback: Any = None, **host: Any
) -> AsyncGenerator[tuple[Lives, RawServer]]:
    async def call(params: Any, request: Any) -> JsonObject:
        state = states.pop(0)
        return {"content": [], **({} if state is None else {"state": state})}

    async def listed(params: Any, request: Any) -> JsonObject:
        return {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}

    async def roll_back(params: Any, request: Any) -> JsonObject:
        answer: JsonObject = rollback
        return answer

    declared = {"s": {"description": "A", "uses": ["tools"], "rollback": True}}
    mcpl_host = McplHost(enabled=["*"], **host)
    routes: dict[Method[Any, Any], Any] = {
        TOOLS_CALL: call,
        TOOLS_LIST: listed,
        STATE_ROLLBACK: roll_back,
    }
    async with (
        raw_server({"featureSets": declared}, routes, tools={}) as raw,
        Host("h", "1", extensions=[mcpl_host]) as opened,
    ):
        connection: Any = await opened.connect(raw.transport)
        live = mcpl_host.of(connection)
        assert live is not None
        yield Lives(connection, live), raw


@pytest.mark.spec("mcpl-8.3-7", "mcpl-8.4-2", "mcpl-8-2")
async def test_where_the_server_keeps_the_state_the_checkpoint_goes_along() -> None:
    states = [
        {"checkpoint": "a", "parent": None},
        {"checkpoint": "b", "parent": "a", "data": [1]},
        {"checkpoint": "c", "parent": "b"},
        None,
    ]
    async with told(states) as (lives, raw):
        for _call in range(4):
            await lives.connection.mcp.tools_call(name="t")
        carried = [
            {key: call[key] for key in ("state", "checkpoint") if key in call}
            for call in raw.received("tools/call")
        ]
    assert carried == [{}, {"checkpoint": "a"}, {"state": [1]}, {"checkpoint": "c"}]


REFUSED = [
    pytest.param(
        {"checkpoint": "b", "patch": [{"op": "test", "path": "/n", "value": True}]},
        "/state/patch/0/value: expected what is at '/n', got another value",
        id="a patch that fails",
    ),
    pytest.param(
        {"checkpoint": "a", "data": {"n": 2}},
        "/state/checkpoint: expected a new id or the same content",
        id="an id that is taken",
    ),
    pytest.param({"parent": "a"}, "/state/checkpoint: expected", id="no id"),
    pytest.param(
        {"checkpoint": "b", "patch": [{"op": "spam", "path": ""}]}, "/state/patch/0", id="spam"
    ),
    pytest.param(7, "/state: expected an object, got 7", id="a number"),
]


@pytest.mark.parametrize(("bad", "message"), REFUSED)
@pytest.mark.spec("mcpl-8-8")
async def test_invalid_state_is_reported_with_its_place_and_changes_nothing(
    bad: Any, message: str
) -> None:
    states = [{"checkpoint": "a", "parent": None, "data": {"n": 1}, "unknown": 1}, bad, None]
    async with told(states) as (lives, raw):
        await lives.connection.mcp.tools_call(name="t")
        with pytest.raises(StateRefusedError) as raised:
            await lives.connection.mcp.tools_call(name="t")
        assert message in str(raised.value)
        assert raised.value.result.content == []
        await lives.connection.mcp.tools_call(name="t")
        assert raw.received("tools/call")[-1]["state"] == {"n": 1}
        state = await lives.server.state("s")
        assert [one.id for one in state.tree.checkpoints] == ["a"]


@pytest.mark.spec("mcpl-8.6-2", "mcpl-8.6-3")
async def test_a_rollback_that_fails_leaves_the_head_where_it_was() -> None:
    answer = {"checkpoint": "a", "success": False, "reason": "External API call cannot be undone"}
    states = [{"checkpoint": "a", "data": 1}, {"checkpoint": "b", "data": 2}, None]
    async with told(states, answer) as (lives, raw):
        await lives.connection.mcp.tools_call(name="t")
        await lives.connection.mcp.tools_call(name="t")
        result = await (await lives.server.state("s")).roll_back("a")
        assert (result.success, result.reason) == (False, "External API call cannot be undone")
        await lives.connection.mcp.tools_call(name="t")
        assert raw.received("tools/call")[-1]["state"] == 2


async def test_a_rollback_to_another_checkpoint_is_refused() -> None:
    states = [{"checkpoint": "a", "data": 1}, {"checkpoint": "b", "data": 2}]
    async with told(states, {"checkpoint": "b", "success": True}) as (lives, _):
        await lives.connection.mcp.tools_call(name="t")
        state = await lives.server.state("s")
        with pytest.raises(InvalidResponseError, match="expected 'a', got 'b'"):
            await state.roll_back("a")
        assert state.tree.head == "a"


@pytest.mark.spec("mcpl-8.7-2")
async def test_a_head_that_the_server_has_lost_can_be_left() -> None:
    async with told([{"checkpoint": "a"}, None]) as (lives, raw):
        await lives.connection.mcp.tools_call(name="t")
        await (await lives.server.state("s")).reset()
        await lives.connection.mcp.tools_call(name="t")
        assert "checkpoint" not in raw.received("tools/call")[-1]


@pytest.mark.spec("mcpl-8.3-4")
async def test_an_unknown_parent_is_kept_without_data_and_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    state = {"checkpoint": "x", "parent": "gone", "patch": []}
    async with told([state, None]) as (lives, raw):
        await lives.connection.mcp.tools_call(name="t")
        await lives.connection.mcp.tools_call(name="t")
        assert raw.received("tools/call")[-1]["checkpoint"] == "x"
    assert "the patch was not applied" in caplog.text


async def test_a_result_that_comes_after_a_rollback_does_not_undo_it() -> None:
    release, under_way = anyio.Event(), anyio.Event()
    live = McplServer(feature_sets=SETS)
    server = Server("slow", "1", extensions=[live])

    @server.tool
    async def slow(wait: bool, context: Context) -> None:
        """Leave a state, immediately or when the test says so."""
        state = live.state_of(context)
        if wait:
            under_way.set()
            await release.wait()
        state.save([*([] if state.given is MISSING else state.given), wait])

    async with live_pair(live, McplHost(enabled=["*"]), server) as (connection, side):
        await connection.mcp.tools_call(name="slow", arguments={"wait": False})
        state = await side.state("notes.edit")
        first = state.tree.head
        assert first is not None
        async with anyio.create_task_group() as tasks:

            async def late() -> None:
                await connection.mcp.tools_call(name="slow", arguments={"wait": True})

            tasks.start_soon(late)
            await under_way.wait()
            await state.roll_back(first)
            release.set()
        assert state.tree.head == first
        assert [one.data for one in state.tree.checkpoints] == [[False], [False, True]]
