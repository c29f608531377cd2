"""The lines of a recording: `kinwire validate` reads them, and they are read back as they were."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kinwire_cli.failure import UsageError
from kinwire_cli.recording.lines import RecordedStep, recorded_line, steps_of
from kinwire_cli.validation.validator import MessageValidator, report_of
from kinwire_protocols.mcp.methods import PROTOCOL
from tests.each import each

PING = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'


def test_a_message_stands_in_the_line_as_it_was_spelled() -> None:
    frame = b'{"jsonrpc":"2.0","id":1.0e0,\r"method":"ping","x":1e999}\r'
    line = recorded_line("client", frame, 0.5)
    assert line == (
        b'{"from": "client", "at": 0.500, "message": '
        b'{"jsonrpc":"2.0","id":1.0e0, "method":"ping","x":1e999}}\n'
    )


@each(
    ("frame", "members"),
    [
        (b"hello", {"unreadable": "hello", "because": "expected value at line 1 column 1"}),
        (
            b"\xff\xfe",
            {
                "unreadable": "\ufffd\ufffd",
                "because": "expected value at line 1 column 1",
                "base64": "//4=",
            },
        ),
        (
            b'{"a": NaN}',
            {"unreadable": '{"a": NaN}', "because": "expected value at line 1 column 7"},
        ),
    ],
)
def test_invalid_json_is_kept_with_the_reason(frame: bytes, members: dict[str, str]) -> None:
    line = json.loads(recorded_line("server", frame, 1.0))
    assert line == {"from": "server", "at": 1.0, **members}


@each("frame", [b"hello", b"\xff\xfe", b"[1]", b"5", b'"text"', b"{}"])
def test_invalid_messages_are_bad_for_validate(frame: bytes) -> None:
    validator = MessageValidator([PROTOCOL])
    assert report_of(validator, recorded_line("server", frame, 0.0)).problems
    assert not report_of(validator, recorded_line("client", PING, 0.0)).problems


@each("frame", [b"hello", b"\xff\xfe", b"[1]", b"5"])
def test_invalid_messages_are_read_back_as_bytes(frame: bytes) -> None:
    lines = [recorded_line("server", frame, 0.0), b"\n", recorded_line("client", PING, 0.1)]
    noise, ping = steps_of("a.jsonl", lines)
    assert noise == RecordedStep(1, "server", None, frame)
    assert ping == RecordedStep(3, "client", json.loads(PING))


@each(
    "line",
    [
        b"hello",
        PING,
        b'{"from": "me", "message": {}}',
        b'{"from": "client"}',
        b'{"from": "client", "unreadable": 5}',
        b'{"from": "client", "unreadable": "a", "base64": "?"}',
    ],
)
def test_a_line_of_something_else_is_refused_with_its_number(line: bytes) -> None:
    with pytest.raises(UsageError, match=r"^a\.jsonl:2: expected"):
        list(steps_of("a.jsonl", [b"\n", line]))


def test_a_long_line_is_kept_by_its_beginning() -> None:
    line: dict[str, Any] = json.loads(
        recorded_line("server", b"{", 0.0, "a line of more than 9 bytes")
    )
    assert (line["unreadable"], line["because"]) == ("{", "a line of more than 9 bytes")
