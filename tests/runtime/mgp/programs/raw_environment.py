"""A server of plain MCP in raw JSON, with one tool that returns its environment."""

from __future__ import annotations

import json
import os
import sys
from typing import Any


def result_of(method: str) -> dict[str, Any]:
    if method == "initialize":
        return {
            "protocolVersion": "2024-11-05",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "raw", "version": "0"},
        }
    if method == "tools/list":
        return {"tools": [{"name": "get_environment", "inputSchema": {"type": "object"}}]}
    found = {**os.environ, "cwd": os.getcwd()}
    return {"content": [{"type": "text", "text": json.dumps(found)}]} if "call" in method else {}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        reply = {"jsonrpc": "2.0", "id": message["id"], "result": result_of(message["method"])}
        print(json.dumps(reply), flush=True)
