"""What a transport has to know of a recorded frame."""

from __future__ import annotations

from typing import Any

from kinwire_cli.recording.replaying import described
from tests.each import each

FRAMES: list[tuple[bytes, tuple[Any, ...]]] = [
    (b'{"jsonrpc":"2.0","id":7,"method":"tools/call"}', ("request", "tools/call", 7)),
    (b'{"method":"ping","id":7,"jsonrpc":"2.0"}', ("request", "ping", 7)),
    (b'{"jsonrpc":"2.0","method":"a/b","params":{}}', ("notification", "a/b", None)),
    (b'{"params":{},"method":"a/b","jsonrpc":"2.0"}', ("notification", "a/b", None)),
    (b'{"jsonrpc":"2.0","id":7,"result":{"method":"x"}}', ("result", "", None)),
    (b'{"jsonrpc":"2.0","id":null,"error":{}}', ("error", "", None)),
]


@each(("frame", "parts"), FRAMES)
def test_the_kind_of_a_frame_follows_from_its_fields(frame: bytes, parts: tuple[Any, ...]) -> None:
    found = described(frame)
    assert (found.kind, found.method, found.id) == parts


def test_a_cancellation_names_its_request() -> None:
    frame = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%b}}'
    assert described(frame % b"7").id == 7
    assert described(frame % b'"7"').id is None
