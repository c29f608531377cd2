"""A server in plain Python that answers with members which no version of MCP has.

No library is between it and the wire, so whatever a client does not show was lost in the client.
"""

from __future__ import annotations

import json
import sys
from typing import Any

SECURITY = {"riskLevel": "low"}

INITIALIZE = {
    "protocolVersion": "2024-11-05",
    "capabilities": {
        "tools": {},
        "mgp": {"version": "0.6.0"},
        "experimental": {"mcpl": {"version": "0.5.0"}},
    },
    "serverInfo": {"name": "unknown-members", "version": "1.0"},
}
TOOL = {
    "name": "erase",
    "inputSchema": {"type": "object"},
    "security": SECURITY,
    "_meta": {"security": SECURITY},
}
RESULTS: dict[str, Any] = {
    "initialize": INITIALIZE,
    "tools/list": {"tools": [TOOL]},
    "ping": {},
}


def answer(message: dict[str, Any]) -> dict[str, Any]:
    method = message["method"]
    if method in RESULTS:
        return {"result": RESULTS[method]}
    return {"error": {"code": -32601, "message": f"{method}: unknown"}}


if __name__ == "__main__":
    for line in sys.stdin:
        message = json.loads(line)
        if "method" in message and "id" in message:
            print(
                json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer(message)}), flush=True
            )
