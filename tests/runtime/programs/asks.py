"""A server in plain JSON that asks its client for everything: `asks.py VERSION`.

It shares no code with the client, so both cannot be wrong in the same way.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

CAPABILITIES = {
    "tools": {"listChanged": True},
    "resources": {"subscribe": True},
    "logging": {},
}


def say(**message: Any) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def hear() -> Iterator[dict[str, Any]]:
    while line := sys.stdin.readline():
        yield json.loads(line)


def ask(method: str, params: dict[str, Any] | None = None) -> Any:
    """Ask the client and return its answer; answer nothing until it comes."""
    say(id=f"ask {method}", method=method, params=params or {})
    for message in hear():
        if message.get("id") == f"ask {method}":
            return message.get("result", message.get("error"))
    raise EOFError


def news(uri: str) -> None:
    say(method="notifications/vendor/strange", params={"x": 1})
    say(method="notifications/message", params={"level": "loud", "data": "telling"})
    say(method="notifications/tools/list_changed")
    say(method="notifications/resources/updated", params={"uri": uri})


def called(params: dict[str, Any]) -> Any:
    message = {"role": "user", "content": {"type": "text", "text": "hello"}}
    answers = [
        ask("roots/list"),
        ask("sampling/createMessage", {"messages": [message], "maxTokens": 10}),
    ]
    news(params["arguments"]["uri"])
    return {"content": [{"type": "text", "text": json.dumps([os.getpid(), *answers])}]}


def paged(params: dict[str, Any]) -> Any:
    page = int(params.get("cursor", "0"))
    tool = {"name": f"tool {page}", "inputSchema": {"type": "object"}}
    return {"tools": [tool], "nextCursor": str(page + 1) if page < 2 else None}


def main(version: str) -> None:
    answers: dict[str, Callable[[dict[str, Any]], Any]] = {
        "initialize": lambda params: {
            "protocolVersion": version,
            "capabilities": CAPABILITIES,
            "serverInfo": {"name": "asks", "version": str(os.getpid())},
        },
        "tools/list": paged,
        "tools/call": called,
        "resources/subscribe": lambda params: {},
        "resources/unsubscribe": lambda params: {},
    }
    for message in hear():
        if "id" in message and message["method"] in answers:
            result = answers[message["method"]](message.get("params", {}))
            say(id=message["id"], result=result)


if __name__ == "__main__":
    main(sys.argv[1])
