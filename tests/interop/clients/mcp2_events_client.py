"""A plain client on PyPI's `mcp` 2.x that subscribes to events by the tools of a server.

usage: mcp2_events_client.py COMMAND; it is JSON. It prints the results of the tools, and the
notifications of events that the library hands on, as JSON.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import anyio
from mcp import Client, StdioServerParameters

TIMEOUT = 60.0  # seconds
SUBSCRIPTION = {
    "filter": {"eventTypes": ["github.*"]},
    "delivery": {"channels": ["realtime"]},
}


async def main(command: str) -> None:
    program, *words = json.loads(command)
    server = StdioServerParameters(command=program, args=words)
    heard: list[Any] = []

    async def hear(message: Any) -> None:
        heard.append(plain(message) if hasattr(message, "model_dump") else str(message))

    options: dict[str, Any] = {"mode": "auto", "read_timeout_seconds": TIMEOUT}
    with anyio.fail_after(TIMEOUT):
        async with Client(server, message_handler=hear, **options) as client:
            listed = [one.name for one in (await client.list_tools()).tools]
            made = plain(await client.call_tool("events_subscribe", SUBSCRIPTION))
            pushed = plain(await client.call_tool("push", {"branch": "main"}))
            id = {"subscriptionId": made["structuredContent"]["id"]}
            paused = plain(await client.call_tool("events_pause", id))
            resumed = plain(await client.call_tool("events_resume", id))
            changes = {"filter": {"tags": ["x"]}}
            updated = plain(await client.call_tool("events_update", {**id, "updates": changes}))
            left = plain(await client.call_tool("events_list", {}))
            gone = plain(await client.call_tool("events_unsubscribe", id))
            lost = plain(await client.call_tool("events_pause", id))
    results = {
        "made": made,
        "pushed": pushed,
        "paused": paused,
        "resumed": resumed,
        "updated": updated,
        "left": left,
        "gone": gone,
        "lost": lost,
    }
    print(json.dumps({"listed": listed, "heard": heard, **results}))


def plain(result: Any) -> Any:
    return result.model_dump(by_alias=True, mode="json", exclude_none=True)


if __name__ == "__main__":
    anyio.run(main, *sys.argv[1:])
