"""A server over stdio in raw JSON, from the specification alone: it needs two permissions.

It answers the request for permissions only after the decision has come, as the specification shows
it, and writes what it received into the result of its tool.
"""

from __future__ import annotations

import json
import sys
from typing import Any

OFFER = {
    "version": "0.1.0",
    "extensions": ["security"],
    "permissions_required": ["shell", "memory.read"],
    "server_id": "notes",
    "trust_level": "standard",
}
TOOL = {
    "name": "read",
    "description": "Read what is known",
    "inputSchema": {"type": "object", "properties": {}},
    "security": {"risk_level": "safe", "permissions_required": ["memory.read"]},
}

received: list[Any] = []
waiting: list[Any] = []


def answer(id: Any, result: Any) -> None:
    print(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}), flush=True)


for line in sys.stdin:
    message = json.loads(line)
    method, params = message.get("method"), message.get("params", {})
    received.append(method)
    match method:
        case "initialize":
            capabilities = {"tools": {}, "mgp": OFFER}
            about = {"name": "notes", "version": "1"}
            answer(
                message["id"],
                {
                    "protocolVersion": "2024-11-05",
                    "capabilities": capabilities,
                    "serverInfo": about,
                },
            )
        case "mgp/permission/request":
            waiting.append(message["id"])
        case "mgp/permission/response":
            for id in waiting:
                grants = {name: params["grants"][name] for name in ("shell.execute", "memory.read")}
                answer(id, {**params, "grants": grants})
            waiting.clear()
            answer(message["id"], {})
        case "tools/list":
            answer(message["id"], {"tools": [TOOL]})
        case "tools/call":
            answer(message["id"], {"content": [{"type": "text", "text": " ".join(received)}]})
