"""A server that answers as a script says: `scripted.py SCRIPT`, as JSON.

`answers` has a result by method, a list of them (one a call, the last again), or an `error`
object; a method that it lacks is not found, one whose answer is null is not answered. `greeting`
are lines to write first, `after` messages to send behind the handshake, `behind` those to send once
behind the answer to a method, by method, `stderr` a line for there, `exits_at` a method that ends
it with `code`, `text_ids` has the ids answered as text.
"""

from __future__ import annotations

import json
import sys
from typing import Any

HELLO = {
    "protocolVersion": "2024-11-05",
    "capabilities": {},
    "serverInfo": {"name": "scripted", "version": "1"},
}


def say(message: object) -> None:
    print(message if isinstance(message, str) else json.dumps(message), flush=True)


def answer_to(request: dict[str, Any], script: dict[str, Any]) -> dict[str, Any] | None:
    answers = script.get("answers", {})
    method = request["method"]
    if method in ("initialize", "ping"):
        answers = {"initialize": HELLO, "ping": {}, **answers}
    missing = {"error": {"code": -32601, "message": "Method not found"}}
    answer: Any = answers.get(method, missing)
    if isinstance(answer, list):
        answer = answer.pop(0) if len(answer) > 1 else answer[0]
    if answer is None:
        return None
    identifier = str(request["id"]) if script.get("text_ids") else request["id"]
    is_error = isinstance(answer, dict) and list(answer) == ["error"]
    body = answer if is_error else {"result": answer}
    return {"jsonrpc": "2.0", "id": identifier, **body}


def arrived(message: dict[str, Any], script: dict[str, Any]) -> None:
    method = message.get("method")  # None in an answer to what was sent behind the handshake
    if method is not None and method == script.get("exits_at"):
        sys.exit(script.get("code", 3))
    if method == "notifications/initialized":
        for after in script.get("after", ()):
            say(after)
    answer = answer_to(message, script) if method is not None and "id" in message else None
    if answer is not None:
        say(answer)
        for behind in script.get("behind", {}).pop(method, ()):
            say(behind)


def main() -> None:
    script = json.loads(sys.argv[1])
    for line in script.get("greeting", ()):
        say(line)
    if "stderr" in script:
        print(script["stderr"], file=sys.stderr, flush=True)
    while line := sys.stdin.readline():
        arrived(json.loads(line), script)
    sys.exit(script.get("code", 0))


if __name__ == "__main__":
    main()
