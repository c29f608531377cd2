"""What stands behind the tools of `shop.py`: a JSON API over HTTP, and a store that speaks RESP.

Its first line is the ports of both. It is bare asyncio, and knows the commands of those tools only.
"""

from __future__ import annotations

import asyncio
import json
from urllib.parse import parse_qs, urlsplit

CATEGORIES = ("Electronics", "Books", "Home", "Toys")
PRODUCTS = [
    {
        "id": number,
        "sku": f"SKU-{number}",
        "name": f"Product {number}",
        "category": CATEGORIES[number % 4],
        "price": number % 600 + 0.5,
        "rating": number % 50 / 10,
    }
    for number in range(1, 2001)
]
CART = ("items", json.dumps([{"product_id": 42, "quantity": 2}]), "total", "99.5")
HISTORY = tuple(json.dumps({"order_id": f"O{number}", "total": 10 * number}) for number in range(5))
POPULAR = tuple(f"product:{number}" for number in range(1, 11))


def api(method: str, target: str, body: bytes) -> object:
    """Return the answer of the API."""
    url = urlsplit(target)
    if method == "POST":
        items = json.loads(body)["items"]
        prices = (float(str(PRODUCTS[one["product_id"] - 1]["price"])) for one in items)
        return {"order_id": "ORD-1", "total": sum(prices)}
    if url.path != "/products/search":
        return PRODUCTS[int(url.path.rpartition("/")[2]) - 1]
    query = {name: values[0] for name, values in parse_qs(url.query).items()}
    found = [one for one in PRODUCTS if one["category"] == query["category"]]
    return {"total_found": len(found), "products": found[: int(query["limit"])]}


def store(command: list[bytes]) -> bytes:
    """Return the answer of the store."""
    replies = {b"HGETALL": CART, b"LRANGE": HISTORY, b"ZREVRANGE": POPULAR}
    found = replies.get(command[0].upper())
    if found is None:
        return b"+OK\r\n"
    texts = (text.encode() for text in found)
    return b"*%d\r\n" % len(found) + b"".join(b"$%d\r\n%b\r\n" % (len(one), one) for one in texts)


async def serve_api(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while head := await _head(reader):
        line, *fields = head.decode().split("\r\n")
        method, target, _ = line.split(" ")
        sizes = (one.split(":")[1] for one in fields if one.lower().startswith("content-length:"))
        answer = json.dumps(api(method, target, await reader.readexactly(int(next(sizes, "0")))))
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"
            % (len(answer), answer.encode())
        )


async def _head(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return b""


async def serve_store(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while line := await reader.readline():
        command: list[bytes] = []
        for _ in range(int(line[1:])):
            size = int((await reader.readline())[1:])
            command.append((await reader.readexactly(size + 2))[:-2])
        writer.write(store(command))


async def main() -> None:
    servers = [await asyncio.start_server(one, "127.0.0.1", 0) for one in (serve_api, serve_store)]
    print(*(server.sockets[0].getsockname()[1] for server in servers), flush=True)
    await asyncio.gather(*(server.serve_forever() for server in servers))


asyncio.run(main())
