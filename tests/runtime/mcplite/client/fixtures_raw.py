"""Raw servers of MCP-lite over HTTP: each says what a test writes."""

from __future__ import annotations

__all__ = ("ANSWER", "BASE", "PROMISE", "SOON", "answering", "of", "result_of")

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

from kinwire.mcplite.client.client import LiteClient
from tests.runtime.mcp.http_client.fake_server import Asked, Handler, Line, RawServer

BASE = "/mcp-lite/v1/"


@asynccontextmanager
async def of(
    handler: Handler, path: str = BASE, **options: Any
) -> AsyncGenerator[tuple[LiteClient, RawServer]]:
    """Yield a client of a raw server."""
    async with RawServer.serving(handler, path) as server:
        options.setdefault("trust_env", False)
        async with LiteClient(server.url, **options) as client:
            yield client, server


def answering(*results: Any, then: Callable[[Asked], Any] | None = None) -> Handler:
    """Return a handler that answers calls by these results in their order, the last one for ever.

    A result that is a number is a status; with `jsonrpc` it is the whole body.
    """
    left = list(results)

    async def handle(asked: Asked, line: Line) -> None:
        result = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(result, int):
            await line.status(result)
        elif isinstance(result, dict) and "jsonrpc" in result:
            await line.json(result)
        else:
            await line.json({"jsonrpc": "2.0", "id": asked.message["id"], "result": result})

    return handle


def result_of(kind: str, **fields: Any) -> dict[str, Any]:
    """Return a result of a kind; `meta` has more fields of its `_meta`."""
    meta = fields.pop("meta", {})
    return {**fields, "_meta": {"response_type": kind, **meta}}


ANSWER = result_of("answer", content=[{"type": "text", "text": "done"}])
SOON = {"retry_after_ms": 1}
PROMISE = result_of("promise", meta={"promise_token": "prom_1", **SOON})
