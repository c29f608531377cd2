"""State that a raw server sends: whatever fails while it is recorded, the result is not lost."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire import Context, Host, Server
from kinwire.mcp.connection import Connection
from kinwire.mcpl import McplHost, McplServer, ServerPeer, StateNotRecordedError, StateRefusedError
from kinwire.storage import StorageFullError, open_store
from kinwire_protocols import mcp
from tests.runtime.mcpl.fixtures_pairs import feature
from tests.runtime.mcpl.raw.peer import RawServer
from tests.runtime.mcpl.raw.scenarios import (
    ConnectHost,
    ConnectServer,
    against_raw_host,
    against_raw_server,
)

pytestmark = pytest.mark.spec("mcpl-8.3-5")

OFFER = {
    "version": "0.4",
    "featureSets": {"s": {"description": "A", "uses": ["tools"], "rollback": True}},
}
TOOL = {"name": "t", "inputSchema": {"type": "object"}}
DONE = [{"type": "text", "text": "done"}]


def raw_server() -> RawServer:
    return RawServer(OFFER, tools=[TOOL])


async def called(connection: Connection, raw: RawServer, state: Any) -> mcp.CallToolResult:
    """Call the tool; its result has `state`."""
    raw.answers["tools/call"] = {"content": DONE, "state": state}
    return await connection.mcp.tools_call(name="t")


async def refused(connection: Connection, raw: RawServer, state: Any) -> str:
    with pytest.raises(StateRefusedError) as raised:
        await called(connection, raw, state)
    assert mcp_text(raised.value.result) == "done"
    return str(raised.value)


def mcp_text(result: mcp.CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, mcp.TextContent)
    return block.text


def peer_of(live: McplHost, connection: Connection) -> ServerPeer:
    peer = live.of(connection)
    assert peer is not None
    return peer


@against_raw_server
async def test_a_patch_within_a_scalar_is_refused_with_its_place(connect: ConnectServer) -> None:
    raw, live = raw_server(), McplHost(enabled=["*"])
    async with Host("h", "1", extensions=[live]) as host:
        connection = await connect(host, raw)
        first = {"checkpoint": "a", "parent": None, "data": {"s": "text", "n": 7}}
        assert mcp_text(await called(connection, raw, first)) == "done"
        for operation, place in (
            ({"op": "remove", "path": "/s/length"}, "path"),
            ({"op": "remove", "path": "/n/0"}, "path"),
            ({"op": "move", "from": "/s/0", "path": "/x"}, "from"),
        ):
            update = {"checkpoint": "b", "parent": "a", "patch": [operation]}
            assert f"/state/patch/0/{place}: " in await refused(connection, raw, update)
        assert (await peer_of(live, connection).state("s")).tree.data == {"s": "text", "n": 7}


@against_raw_server
async def test_copies_of_a_large_state_are_refused_at_once(connect: ConnectServer) -> None:
    raw, live = raw_server(), McplHost(enabled=["*"])
    async with Host("h", "1", extensions=[live]) as host:
        connection = await connect(host, raw)
        large = {"checkpoint": "a", "parent": None, "data": {"a": "x" * 3_900_000}}
        await called(connection, raw, large)
        copies = [{"op": "copy", "from": "/a", "path": f"/b{number}"} for number in range(250)]
        update = {"checkpoint": "b", "parent": "a", "patch": copies}
        assert "/state/patch/0/from: expected copies of at most" in await refused(
            connection, raw, update
        )


class FailingRecords:
    """Records of a store whose disk is full, or that has a fault."""

    def __init__(self, records: Any) -> None:
        self.records = records
        self.error: Exception | None = None

    async def put(self, key: str, value: Any, **options: Any) -> Any:
        if self.error is not None:
            raise self.error
        return await self.records.put(key, value, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.records, name)


FAILURES = [
    StorageFullError("notes.db", expected="room", got="a full disk", hint="Remove files."),
    RuntimeError("a fault of the store"),
]


@against_raw_server(wires=("memory", "stdio"))
@pytest.mark.parametrize("error", FAILURES, ids=["full", "fault"])
async def test_a_failing_store_does_not_lose_the_result(
    connect: ConnectServer, error: Exception
) -> None:
    raw = raw_server()
    async with open_store("memory:") as store:
        records: Any = FailingRecords(await store.records("mcpl"))
        for expected in ([], [1, 2]):
            live = McplHost(enabled=["*"], records=records)
            async with Host("h", "1", extensions=[live]) as host:
                connection = await connect(host, raw, server_id="notes")
                state = await peer_of(live, connection).state("s")
                if expected:
                    assert state.tree.data == expected
                    return
                await called(connection, raw, {"checkpoint": "a", "parent": None, "data": []})
                records.error = error
                with pytest.raises(StateNotRecordedError) as raised:
                    await called(connection, raw, added("b", "a", 1))
                assert raised.value.__cause__ is error
                assert mcp_text(raised.value.result) == "done"
                assert str(raised.value).startswith("tools/call t#/state: expected to record it")
                records.error = None
                # The next call builds on it, and writes what was not written.
                await called(connection, raw, added("c", "b", 2))
                assert raw.params_of("tools/call")[-1]["state"] == [1]


def added(checkpoint: str, parent: str, value: int) -> Any:
    patch = [{"op": "add", "path": "/-", "value": value}]
    return {"checkpoint": checkpoint, "parent": parent, "patch": patch}


DAMAGED: list[Any] = [
    *(None, 7, "text", [], {}),
    *({"checkpoint": "x"}, {"order": 1}, {"checkpoint": "x", "order": "late"}),
    {"checkpoint": "x", "order": 2, "patch": [{"op": "spam", "path": ""}]},
]


@against_raw_server(wires=("memory",))
async def test_damaged_records_of_checkpoints_are_left_out(
    connect: ConnectServer, caplog: pytest.LogCaptureFixture
) -> None:
    raw = raw_server()
    async with open_store("memory:") as store:
        records = await store.records("mcpl")
        for again in (False, True):
            live = McplHost(enabled=["*"], records=records)
            async with Host("h", "1", extensions=[live]) as host:
                connection = await connect(host, raw, server_id="notes")
                state = await peer_of(live, connection).state("s")
                if again:
                    assert [one.id for one in state.tree.checkpoints] == ["a"]
                    assert state.tree.head is None
                    assert caplog.text.count("is left out") == len(DAMAGED)
                    return
                await called(connection, raw, {"checkpoint": "a", "parent": None, "data": []})
                found = [one.key async for one in records.scan("state/")]
                (kept,) = (key for key in found if "checkpoint/" in key)
                for number, value in enumerate(DAMAGED):
                    await records.put(f"{kept}{number}", value)
                await records.put(next(key for key in found if key.endswith("head")), ["a"])


@against_raw_host(wires=("memory", "stdio"))
async def test_a_state_that_hosts_would_refuse_is_an_error_of_the_tool(
    connect: ConnectHost,
) -> None:
    live = McplServer(feature_sets={"s": feature("tools", rollback=True)})
    server = Server("notes", "1", extensions=[live])

    @server.tool
    async def keep(levels: int, size: int, context: Context) -> str:
        """Keep a state with this number of levels and characters."""
        after: Any = "x" * size
        for _level in range(levels):
            after = [after]
        try:
            live.state_of(context).save(after)
        except ValueError as error:
            return str(error)
        return "kept"

    host = await connect(server)
    await host.open({"version": "0.4", "featureSets": True}, update={"enabled": ["s"]})
    for levels, size, expected in (
        (60, 1, "kept"),
        (61, 1, "state: expected a state of at most 60 levels, got more."),
        (0, 4_194_303, "state: expected a state of at most 4194304 bytes of JSON, got 4194305. "),
    ):
        reply = await host.call("keep", {"levels": levels, "size": size})
        assert reply["result"]["content"][0]["text"].startswith(expected)
        assert ("state" in reply["result"]) == (expected == "kept")
