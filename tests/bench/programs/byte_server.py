"""A server on stdio that copies id and text from each call: so cheap that clients can be compared.

usage: byte_server.py, with any Python
"""

from __future__ import annotations

import os
import re

_GREETING = (
    b'{"jsonrpc":"2.0","id":%b,"result":{"protocolVersion":"2024-11-05","capabilities":'
    b'{"tools":{}},"serverInfo":{"name":"bytes","version":"1"}}}'
)
_TOOLS = (
    b'{"jsonrpc":"2.0","id":%b,"result":{"tools":[{"name":"echo","inputSchema":{"type":"object",'
    b'"properties":{"text":{"type":"string"}},"required":["text"]}}]}}'
)
_RESULT = b'{"jsonrpc":"2.0","id":%b,"result":{"content":[{"type":"text","text":"%b"}]}}'
_ID = re.compile(rb'"id": ?(\d+)')
_TEXT = re.compile(rb'"text": ?"([^"]*)"')


def answer(frame: bytes) -> bytes | None:
    found = _ID.search(frame)
    if found is None:
        return None
    text = _TEXT.search(frame)
    if text is not None:
        return _RESULT % (found[1], text[1])
    template = _TOOLS if b'"tools/list"' in frame else _GREETING
    return template % found[1]


def main() -> None:
    parts: list[bytes] = []
    while chunk := os.read(0, 1 << 20):
        *ends, rest = chunk.split(b"\n")
        if ends:
            ends[0] = b"".join([*parts, ends[0]])
            parts.clear()
        parts.append(rest)
        answers = [found for end in ends if (found := answer(end)) is not None]
        unsent = memoryview(b"\n".join([*answers, b""])) if answers else memoryview(b"")
        while unsent:
            unsent = unsent[os.write(1, unsent) :]


if __name__ == "__main__":
    main()
