"""Cases from public reports about others, B072 to B077: state as it comes over the wire."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from kinwire import Host
from kinwire.mcp.connection import Connection
from kinwire.mcpl import McplHost, ServerPeer, StateRefusedError
from kinwire_protocols.base import JsonObject
from tests.runtime.mcpl.fake_peer import INFO, Fake

pytestmark = [pytest.mark.anyio, pytest.mark.spec("mcpl-8.3-4", "mcpl-8.3-5")]


class Calls:
    """The calls of a host, and what it keeps of them."""

    def __init__(
        self, server: Fake, connection: Connection, live: ServerPeer, states: list[Any]
    ) -> None:
        self.server, self.connection, self.live = server, connection, live
        self._states = states

    async def call(self) -> JsonObject:
        """Make the next call, and return what went along with it."""
        state = self._states.pop(0) if self._states else None
        self.server.answers["tools/call"] = {
            "content": [],
            **({} if state is None else {"state": state}),
        }
        try:
            await self.connection.mcp.tools_call(name="t")
        finally:
            calls = await self.server.tells("tools/call")
        params: JsonObject = calls[-1]["params"]
        return params

    async def kept(self) -> list[Any]:
        return [one.data for one in (await self.live.state("s")).tree.checkpoints]


@asynccontextmanager
async def stateful(*states: Any) -> AsyncGenerator[Calls]:
    """Yield a host whose calls to a server leave these states, one a call."""
    declared = {"s": {"description": "A", "uses": ["tools"], "rollback": True}}
    server = Fake(
        {
            "initialize": {
                "protocolVersion": "2024-11-05",
                "capabilities": {"tools": {}, "experimental": {"mcpl": {"featureSets": declared}}},
                "serverInfo": INFO,
            },
            "tools/list": {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]},
        }
    )
    host = McplHost(enabled=["*"])
    with anyio.fail_after(10):
        async with Host("h", "1", extensions=[host]) as opened:
            connection = await opened.connect(server)
            live = host.of(connection)
            assert live is not None
            yield Calls(server, connection, live, list(states))


def op(kind: str, path: str, **members: Any) -> JsonObject:
    return {"op": kind, "path": path, **members}


def moved(kind: str, source: str, path: str) -> JsonObject:
    return {"op": kind, "from": source, "path": path}


NUMBERS: JsonObject = {"n": 1, "z": 0, "l": [1], "s": "1"}
LIST: JsonObject = {"v": [1, 2]}
INDEXED: JsonObject = {"v": [10, 20, 30], "o": {"01": 1}}
NAMED: JsonObject = {"foo": 1, "": 2, "a/b": 3, "m~n": 4, "~1": 5}
NOT_INDEXES = ("01", "00", "+1", "-1", "1.0", "1e0", " 1")
PATCHES: list[tuple[str, JsonObject, JsonObject, Any]] = [
    ("B072", NUMBERS, op("test", "/n", value=1.0), NUMBERS),
    *[
        ("B072", NUMBERS, op("test", path, value=value), None)
        for path, value in (
            ("/n", True), ("/n", "1"), ("/z", False), ("/l", [True]), ("/n", None),
        )
    ],
    ("B073", LIST, op("remove", "/v/-"), None),
    ("B073", LIST, op("replace", "/v/-", value=9), None),
    ("B073", LIST, op("test", "/v/-", value=2), None),
    ("B073", LIST, moved("copy", "/v/-", "/x"), None),
    ("B073", LIST, moved("move", "/v/-", "/x"), None),
    ("B073", LIST, op("add", "/v/-", value=3), {"v": [1, 2, 3]}),
    *[
        ("B074", INDEXED, operation, None)
        for index in NOT_INDEXES
        for operation in (
            op("add", f"/v/{index}", value=1),
            op("replace", f"/v/{index}", value=1),
            op("remove", f"/v/{index}"),
            op("test", f"/v/{index}", value=20),
            moved("copy", f"/v/{index}", "/x"),
            moved("move", f"/v/{index}", "/x"),
        )
    ],
    ("B074", INDEXED, op("replace", "/o/01", value=2), {"v": [10, 20, 30], "o": {"01": 2}}),
    ("B074", INDEXED, op("add", "/v/3", value=40), {"v": [10, 20, 30, 40], "o": {"01": 1}}),
    ("B074", INDEXED, op("add", "/v/5", value=50), None),
    ("B075", NAMED, op("add", "/0", value="x"), {**NAMED, "0": "x"}),
    *[
        ("B075", NAMED, op("test", path, value=value), NAMED)
        for path, value in (("/", 2), ("/a~1b", 3), ("/m~0n", 4), ("/~01", 5))
    ],
    ("B075", NAMED, op("test", "/~2", value=1), None),
    ("B075", NAMED, op("test", "foo", value=1), None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("before", "operation", "after"),
    [
        pytest.param(
            before, operation, after, id=f"{case} {' '.join(map(str, operation.values()))}"
        )
        for case, before, operation, after in PATCHES
    ],
)
async def test_b072_to_b075_a_patch_does_what_the_rfc_says_or_nothing(
    before: JsonObject, operation: JsonObject, after: Any
) -> None:
    states = [
        {"checkpoint": "k1", "parent": None, "data": before},
        {"checkpoint": "k2", "parent": "k1", "patch": [operation]},
    ]
    async with stateful(*states) as calls:
        await calls.call()
        if after is None:
            with pytest.raises(StateRefusedError, match="/state/patch/0"):
                await calls.call()
            assert await calls.kept() == [before]
        else:
            await calls.call()
        carried = (await calls.call())["state"]
    assert json.dumps(carried) == json.dumps(before if after is None else after)


async def test_b076_a_patch_that_fails_leaves_nothing_of_it() -> None:
    before = {"a": {"b": {"c": 1}}}
    bad = [op("replace", "/a/b/c", value=42), op("test", "/a/b/c", value="C")]
    states = [{"checkpoint": "k1", "data": before}, {"checkpoint": "k2", "patch": bad}]
    async with stateful(*states) as calls:
        await calls.call()
        with pytest.raises(StateRefusedError, match="/state/patch/1"):
            await calls.call()
        assert await calls.kept() == [{"a": {"b": {"c": 1}}}]
        assert (await calls.call())["state"] == {"a": {"b": {"c": 1}}}


async def test_b077_a_copied_value_is_not_linked_to_its_source() -> None:
    patch = [
        op("add", "/foo", value=[]),
        op("add", "/foo/-", value=1),
        moved("copy", "/foo", "/bar"),
        op("add", "/bar/-", value=2),
    ]
    states = [
        {"checkpoint": "k0", "parent": None, "data": {}},
        {"checkpoint": "k1", "parent": "k0", "patch": patch},
        {"checkpoint": "k2", "parent": "k0", "patch": patch},
    ]
    async with stateful(*states) as calls:
        calls.server.answers["state/rollback"] = {"checkpoint": "k0", "success": True}
        for _state in states:
            await calls.call()
        both = {"foo": [1], "bar": [1, 2]}
        assert await calls.kept() == [{}, both, both]
        assert patch[0]["value"] == []
        assert (await (await calls.live.state("s")).roll_back("k0")).success
        assert (await calls.call())["state"] == {}
