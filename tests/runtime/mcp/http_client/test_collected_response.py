"""What the transport reads of a reply that it asked for itself."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kinwire.mcp.http_client import exchange
from kinwire.mcp.http_client.exchange import CollectedResponse

pytestmark = pytest.mark.anyio

LIMIT = 1 << 20


async def test_each_part_of_a_flood_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []

    def counted(frame: bytes) -> Any:
        read.append(len(frame))
        return json.loads(frame)

    monkeypatch.setattr(exchange, "from_json", counted)
    reply = CollectedResponse(LIMIT)
    reply.head(200, {"content-type": "text/event-stream"})
    event = b'data: {"method":"notifications/message","params":{"result":1}}\n\n'
    sent = event * (LIMIT // len(event))
    for start in range(0, len(sent), 512):
        reply.body(sent[start : start + 512])
    assert len(read) == len(sent) // len(event)
    assert sum(read) < len(sent)
    assert not reply.over.is_set()
    reply.body(event)
    assert reply.over.is_set()
