"""Three tools as a shop has them, with the same bodies under kinwire, `mcp` 2.x and bare ASGI.

usage: shop.py kinwire|mcp|asgi API_PORT STORE_PORT

Each makes an HTTP request by aiohttp and uses a store by redis-py, on connections that stay open.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from functools import cache
from typing import Any

import aiohttp
from redis.asyncio import Redis

from tests.bench.programs.listening import listen

PROJECT, API_PORT, STORE_PORT = sys.argv[1:]
API = f"http://127.0.0.1:{API_PORT}"


@cache
def http() -> aiohttp.ClientSession:
    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=100))


@cache
def store() -> Any:
    return Redis(port=int(STORE_PORT), decode_responses=True, protocol=2)


async def get(path: str, **query: object) -> Any:
    params = {name: str(value) for name, value in query.items()}
    async with http().get(API + path, params=params) as response:
        return await response.json()


async def search_products(category: str, min_price: float, max_price: float, limit: int) -> str:
    """Search products, and say which of them are popular."""
    query = {"min_price": min_price, "max_price": max_price, "limit": limit}
    found, popular = await asyncio.gather(
        get("/products/search", category=category, **query),
        store().zrevrange("bench:popular", 0, 9),
    )
    ranks = {name.partition(":")[2]: rank for rank, name in enumerate(popular, 1)}
    names = ("id", "sku", "name", "price", "rating")
    products = [
        {name: one[name] for name in names} | {"rank": ranks.get(str(one["id"]), 0)}
        for one in found["products"]
    ]
    return json.dumps({"total_found": found["total_found"], "products": products})


async def get_user_cart(user_id: str) -> str:
    """Return the cart of a user with the last orders."""
    cart, history = await asyncio.gather(
        store().hgetall(f"bench:cart:{user_id}"), store().lrange(f"bench:history:{user_id}", 0, 4)
    )
    items = json.loads(cart["items"])
    product = await get(f"/products/{items[0]['product_id']}")
    items[0] |= {"name": product["name"], "price": product["price"]}
    orders = [json.loads(order) for order in history]
    return json.dumps({"cart": {"items": items, "total": cart["total"]}, "history": orders})


async def checkout(user_id: str, items: list[dict[str, int]]) -> str:
    """Order products."""
    order = {"user_id": user_id, "items": items}
    async with http().post(f"{API}/orders", json=order) as response:
        placed = await response.json()
    async with store().pipeline(transaction=False) as pipe:
        pipe.rpush(f"bench:history:{user_id}", json.dumps(placed))
        pipe.delete(f"bench:cart:{user_id}")
        await pipe.execute()
    return json.dumps({"status": "confirmed", **placed})


TOOLS = (search_products, get_user_cart, checkout)
GREETING = {
    "protocolVersion": "2024-11-05",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "shop", "version": "1"},
}


async def answer(message: Any) -> Any:
    if message["method"] == "initialize":
        return GREETING
    params = message["params"]
    tool: Any = {tool.__name__: tool for tool in TOOLS}[params["name"]]
    return {"content": [{"type": "text", "text": await tool(**params["arguments"])}]}


async def application(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "lifespan":
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})
        return
    body = (await receive()).get("body", b"")
    message = json.loads(body or b"{}")  # DELETE has no body
    found = b""
    if "id" in message:
        result = await answer(message)
        found = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(found))]
    status = 200 if found else 202
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": found})


if PROJECT == "kinwire":
    sys.modules["orjson"] = None  # type: ignore[assignment] # makes an import of it fail
    from kinwire import Server

    server = Server("shop", "1")
    for tool in TOOLS:
        server.tool(tool)
    listen(server.asgi())
elif PROJECT == "mcp":
    from mcp.server.mcpserver import MCPServer

    logging.disable(logging.INFO)  # a log line a call would be much of its cost
    other = MCPServer("shop", log_level="WARNING")
    for tool in TOOLS:
        other.tool()(tool)
    listen(other.streamable_http_app())
else:
    listen(application)
