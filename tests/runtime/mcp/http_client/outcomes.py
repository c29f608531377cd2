"""What a client makes of a response in bytes: this library's, and `httpx2`."""

from __future__ import annotations

__all__ = ("with_httpx2", "with_ours")

import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2

from kinwire import ConnectionClosedError, Host, InvalidResponseError
from tests.runtime.mcp.http_client.fake_server import (
    GREETING,
    SESSION,
    Asked,
    Line,
    RawServer,
    polite,
    reply_to,
)
from tests.runtime.mcp.http_client.raw_responses import Row

Call = Callable[[str], Awaitable[str]]
"""Calls a method; returns "answered", "refused", or "HTTP" and the status of a refusal."""

_PATIENCE = 1.0  # seconds for an answer
_CONNECTIONS = 3  # as many as a client keeps of one server, or more


async def with_ours(row: Row) -> str:
    """Return the outcome with this library."""
    async with _serving(row) as server, Host("h", "1") as host:
        connection = await host.connect(server.url)

        async def call(method: str) -> str:
            try:
                await connection.session.raw(method, _params(row, method))
            except InvalidResponseError as error:
                return f"HTTP {error.status}" if error.status not in (None, 200) else "refused"
            except ConnectionClosedError:
                return "refused"
            return "answered"

        return await _outcome(row, server, call)


async def with_httpx2(row: Row) -> str:
    """Return the outcome with `httpx2`, which is used as SDKs of MCP use it."""
    options: dict[str, Any] = {"follow_redirects": True, "trust_env": False, "verify": False}
    async with _serving(row) as server, httpx2.AsyncClient(**options) as client:

        async def call(method: str) -> str:
            params = _params(row, method)
            message = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
            try:
                return _read(await client.post(server.url, json=message))
            except (httpx2.HTTPError, ValueError, AssertionError):
                return "refused"

        await call("initialize")
        return await _outcome(row, server, call)


def _params(row: Row, method: str) -> dict[str, str]:
    return {"name": "x" * row.size} if method == row.method else {}


def _read(response: httpx2.Response) -> str:
    if response.status_code != 200:
        return f"HTTP {response.status_code}"
    kind = response.headers.get("content-type", "").lower()
    assert kind.startswith("application/json")
    assert response.json()["id"] == 7
    return "answered"


@asynccontextmanager
async def _serving(row: Row) -> AsyncGenerator[RawServer]:
    async def greet(asked: Asked, line: Line) -> None:
        body = json.dumps(reply_to(asked, GREETING)).encode()
        cookies = [f"Set-Cookie: {cookie}" for cookie in row.cookies]
        fields = [f"Mcp-Session-Id: {SESSION}", f"Content-Length: {len(body)}", *cookies]
        head = ["HTTP/1.1 200 OK", "Content-Type: application/json", *fields, "", ""]
        await line.raw("\r\n".join(head).encode() + body)

    row_of = {row.method.replace("/", "_"): row.handler}
    async with RawServer.serving(polite(initialize=greet, **row_of)) as server:
        server.early = row.handler if row.early else None
        yield server


async def _outcome(row: Row, server: RawServer, call: Call) -> str:
    await _knock(call)
    server.asked.clear()
    first = await _in_time(call, row.method)
    await anyio.sleep(row.pause)
    sent = [asked.connection for asked in server.asked if asked.about == row.method]
    server.asked.clear()
    server.handler, server.early = polite(), None
    then = await _knock(call)
    kept = {*sent[-1:]} & {asked.connection for asked in server.asked}
    words = [first, "kept" if kept else "closed"]
    words += [f"sent {len(sent)} times"] if len(sent) > 1 else []
    words += [f"then {one}" for one in then if one != "answered"]
    return ", ".join(words)


async def _knock(call: Call) -> set[str]:
    """Call on every connection that is kept; return the outcomes."""
    found: set[str] = set()

    async def knock() -> None:
        found.add(await _in_time(call, "x/knock"))

    async with anyio.create_task_group() as tasks:
        for _ in range(_CONNECTIONS):
            tasks.start_soon(knock)
    return found


async def _in_time(call: Call, method: str) -> str:
    with anyio.move_on_after(_PATIENCE):
        return await call(method)
    return "no answer"
