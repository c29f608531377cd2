"""A server in raw JSON that ends, hangs, or starts others, as its arguments say.

Each start adds a line with the process id to the file that comes first. Then words with a meaning:
`die=CODE` ends before the handshake, `grandchild` starts a process in the same group, `deaf` does
not end when its input does, `mute` answers nothing. A call of the tool `end` ends with
`arguments.code`; of `hang`, never answers; of `slow`, answers after `arguments.seconds`; of `grow`,
takes memory.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from typing import Any

WORDS = dict(word.partition("=")[::2] for word in sys.argv[2:])
SLEEPER = "import time; time.sleep(600)"


def note(kind: str, pid: int) -> None:
    with open(sys.argv[1], "a", encoding="utf-8") as file:
        file.write(f"{kind} {pid} {time.time()}\n")


def say(**message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def greeting() -> dict[str, Any]:
    capabilities: dict[str, Any] = {"tools": {}}
    return {
        "protocolVersion": "2024-11-05",
        "capabilities": capabilities,
        "serverInfo": {"name": "raw", "version": "0"},
    }


def tools() -> list[dict[str, Any]]:
    schema = {"type": "object"}
    return [{"name": name, "inputSchema": schema} for name in ("end", "hang", "slow", "grow")]


def call(identifier: Any, name: str, arguments: dict[str, Any]) -> None:
    if name == "end":
        os._exit(arguments["code"])
    if name == "grow":
        KEPT.append(b"x" * arguments["bytes"])
    if name == "slow":
        time.sleep(arguments["seconds"])
    if name != "hang":
        say(id=identifier, result={"content": [{"type": "text", "text": str(os.getpid())}]})


KEPT: list[bytes] = []
note("start", os.getpid())
print("started", os.getpid(), file=sys.stderr, flush=True)
if "die" in WORDS:
    os._exit(int(WORDS["die"]))
if "grandchild" in WORDS:
    note("grandchild", subprocess.Popen([sys.executable, "-c", SLEEPER]).pid)
for line in sys.stdin:
    message = json.loads(line)
    method, params = message.get("method"), message.get("params", {})
    if "mute" in WORDS:
        continue
    if method == "initialize":
        say(id=message["id"], result=greeting())
    elif method == "ping":
        say(id=message["id"], result={})
    elif method == "tools/list":
        say(id=message["id"], result={"tools": tools()})
    elif method == "tools/call":
        arguments = (message["id"], params["name"], params.get("arguments") or {})
        threading.Thread(target=call, args=arguments, daemon=True).start()
if "deaf" in WORDS:
    time.sleep(600)
