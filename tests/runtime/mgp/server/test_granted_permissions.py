"""A server that degrades: what it does with the decisions of a raw kernel (MGP 3.6)."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from kinwire import Context, Server
from kinwire.mgp import KernelPeer, MgpServer
from kinwire.support.background import background
from tests.runtime.mgp.raw_peers import Json, RawKernel

pytestmark = pytest.mark.anyio

OFFER = {"version": "0.2.0", "extensions": ["security"]}


class Degrading:
    """A server with a tool that reads and one that only a permission allows."""

    def __init__(self) -> None:
        self.denied: list[str] = []
        self.decided: list[Json] = []
        self.guarded = MgpServer(
            permissions_required=["filesystem"], server_id="docs", on_denied=self._degrade
        )
        self.server = Server("docs", "1", extensions=[self.guarded])
        self.server.tool(self.read)
        self.server.tool(self.write)

    async def _degrade(self, permission: str, peer: KernelPeer) -> None:
        assert isinstance(peer, KernelPeer)
        self.denied.append(permission)

    async def read(self, context: Context) -> str:
        peer = self.guarded.of(context)
        assert peer is not None
        if peer.refused("filesystem.read"):
            return "the summary"  # without the file
        return "the file"

    async def write(self, context: Context) -> str:
        peer = self.guarded.of(context)
        assert peer is not None
        peer.must_have("filesystem.write")
        return "written"

    async def wait(self) -> None:
        [peer] = self.guarded.kernels
        self.decided.append(dict(await peer.permissions()))


@asynccontextmanager
async def kernel_of(server: Server) -> AsyncGenerator[RawKernel]:
    raw = RawKernel()
    async with background() as tasks:
        tasks.start_soon(server.serve, raw)
        await raw.greet(OFFER)
        yield raw
        tasks.cancel_scope.cancel()


def grants(expires_at: str | None = None, **values: Any) -> Json:
    return {
        "request_id": "perm-001",
        "grants": {f"filesystem.{name}": value for name, value in values.items()},
        "approved_by": "admin",
        "expires_at": expires_at,
    }


async def outcome(raw: RawKernel, id: int, name: str) -> Any:
    reply = await raw.ask(id, "tools/call", {"name": name, "arguments": {}})
    if "error" in reply:
        return reply["error"]["code"]
    return reply["result"]["content"][0]["text"]


@pytest.mark.spec("mgp-3.6-5")
async def test_a_server_without_a_permission_degrades_instead_of_failing() -> None:
    docs = Degrading()
    async with kernel_of(docs.server) as raw:
        await raw.ask(1, "mgp/permission/response", grants(read="denied", write="denied"))
        assert await outcome(raw, 2, "read") == "the summary"
        assert await outcome(raw, 3, "write") == 1000
        await anyio.wait_all_tasks_blocked()
        assert sorted(docs.denied) == ["filesystem.read", "filesystem.write"]
        await raw.ask(4, "mgp/permission/grant", grants(read="approved", write={"granted": True}))
        assert await outcome(raw, 5, "read") == "the file"
        assert await outcome(raw, 6, "write") == "written"
        await raw.ask(7, "mgp/permission/response", grants(read="approved", write="denied"))
        await anyio.wait_all_tasks_blocked()
        assert docs.denied[2:] == ["filesystem.write"]  # revoked


@pytest.mark.spec("mgp-3.6-6")
async def test_a_server_waits_for_what_is_deferred() -> None:
    docs = Degrading()
    async with kernel_of(docs.server) as raw, anyio.create_task_group() as tasks:
        tasks.cancel_scope.deadline = anyio.current_time() + 5
        tasks.start_soon(docs.wait)
        asked = {"request_id": "perm-001", "permissions": ["filesystem.read", "filesystem.write"]}
        assert (await raw.ask(1, "mgp/permission/await", asked))["result"] == {
            "request_id": "perm-001"
        }
        await raw.ask(2, "mgp/permission/response", grants(read="approved", write="deferred"))
        assert await outcome(raw, 3, "write") == 1000
        await anyio.wait_all_tasks_blocked()
        assert docs.decided == []
        await raw.ask(4, "mgp/permission/response", grants(read="approved", write="approved"))
    assert docs.decided == [{"filesystem.read": "approved", "filesystem.write": "approved"}]
    assert docs.denied == []


async def test_grants_end_when_they_expire_and_families_count() -> None:
    docs = Degrading()
    async with kernel_of(docs.server) as raw:
        past, future = "2020-01-01T00:00:00Z", "2999-01-01T00:00:00Z"
        for id, expires_at, expected in ((1, past, 1000), (3, future, "written"), (5, "x", 1000)):
            await raw.ask(id, "mgp/permission/response", grants(expires_at, write="approved"))
            assert await outcome(raw, id + 1, "write") == expected
        [peer] = docs.guarded.kernels
        assert peer.grants == {"filesystem.write": "deferred"}
        family = {"request_id": "perm-002", "grants": {"filesystem": "approved"}}
        await raw.ask(7, "mgp/permission/response", family)
        assert await outcome(raw, 8, "read") == "the file"


async def test_a_handler_that_fails_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    def fails(permission: str, peer: KernelPeer) -> None:
        raise LookupError("cannot degrade")

    server = Server("docs", "1", extensions=[MgpServer(on_denied=fails)])
    async with kernel_of(server) as raw:
        denied = {"request_id": "1", "grants": {"camera": "denied"}}
        assert (await raw.ask(1, "mgp/permission/response", denied))["result"] == {}
        await anyio.wait_all_tasks_blocked()
        raw.say(id=2, method="ping")
        await anyio.wait_all_tasks_blocked()
        assert {"jsonrpc": "2.0", "id": 2, "result": {}} in raw.heard
    assert "cannot degrade" in caplog.text


async def test_nothing_is_waited_for_where_nothing_is_decided() -> None:
    docs = Degrading()
    async with anyio.create_task_group() as tasks:
        raw = RawKernel()
        tasks.start_soon(docs.server.serve, raw)
        await raw.greet({"version": "0.2.0", "extensions": ["audit"]})
        await docs.wait()
        tasks.cancel_scope.cancel()
    assert docs.decided == [{}]


async def test_names_of_permissions_do_not_fill_the_memory_of_a_server() -> None:
    docs = Degrading()
    async with kernel_of(docs.server) as raw:
        many = grants(**{f"n{number}": "approved" for number in range(999)})
        assert "result" in await raw.ask(1, "mgp/permission/response", many)
        too_many, too_long = grants(a="denied", b="denied"), grants(**{"x" * 256: "denied"})
        for id, wrong in ((2, too_many), (3, too_long)):
            reply = await raw.ask(id, "mgp/permission/response", wrong)
            assert reply["error"]["code"] == -32602
        asked = {"request_id": "perm-002", "permissions": ["camera", "code_execution"]}
        reply = await raw.ask(4, "mgp/permission/request", asked)
        problem = "/permissions: expected at most 1000 permissions in one session"
        assert reply["error"]["message"] == problem
        [peer] = docs.guarded.kernels
        assert len(peer.grants) == 999
    assert docs.denied == []
