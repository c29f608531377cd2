"""MCP-lite over HTTP as users of kinwire write it, and what it must cost at least.

usage: lite.py ours|orjson|floor

`floor` is a bare ASGI application: the same codec, and no rules at all.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from typing import Any

from pydantic_core import from_json, to_json

(VARIANT,) = sys.argv[1:]
if VARIANT != "orjson":
    sys.modules["orjson"] = None  # type: ignore[assignment] # makes an import of it fail

from kinwire import Server  # noqa: E402
from kinwire.mcplite.server.service import LiteServer  # noqa: E402
from tests.bench.programs.listening import listen  # noqa: E402

server = Server("echo", "1")


@server.tool
async def echo(text: str) -> str:
    """Return the text."""
    return text


@server.tool
async def parts(count: int, text: str) -> AsyncIterator[str]:
    """Return the text many times, in as many parts."""
    for _ in range(count):
        yield text


async def floor(scope: Any, receive: Any, send: Any) -> None:
    """Answer one request under ASGI."""
    if scope["type"] == "lifespan":
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})
        return
    body = b""
    more = True
    while more:
        part = await receive()
        body += part.get("body", b"")
        more = part.get("more_body", False)
    message = from_json(body, allow_inf_nan=False, cache_strings="keys")
    arguments = message["params"]["arguments"]
    content = [{"type": "text", "text": arguments["text"]}]
    result = {"content": content, "_meta": {"response_type": "answer"}}
    found = to_json({"jsonrpc": "2.0", "id": message["id"], "result": result})
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(found))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": found})


listen(floor if VARIANT == "floor" else LiteServer(server).asgi())
