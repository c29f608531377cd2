"""What counts as used, and what as a fault, in a recording."""

from __future__ import annotations

import sys
from pathlib import Path
from subprocess import run
from typing import Any

import pytest

from kinwire_cli.validation.validator import Side
from tests.each import each
from tests.interop.recording import Recorded
from tests.interop.wire import Message, faults, messages, used

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
RESULT: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "result": {}}
ERROR = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "unknown"}}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
LEVEL = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "loud"}}


@each(
    ("sent", "methods"),
    [
        pytest.param([("client", PING), ("server", RESULT)], {"ping"}, id="a result"),
        pytest.param([("client", PING), ("server", ERROR)], set(), id="an error"),
        pytest.param([("client", PING)], set(), id="no answer"),
        pytest.param([("client", PING), ("client", RESULT)], set(), id="an answer of one's own"),
        pytest.param([("client", READY)], {"notifications/initialized"}, id="a notification"),
    ],
)
def test_a_request_is_used_once_it_has_a_result(
    sent: list[tuple[Side, dict[str, Any]]], methods: set[str]
) -> None:
    assert used(Message(*one) for one in sent) == methods


def test_faults_are_those_of_one_side() -> None:
    sent = [Message("server", LEVEL)]
    assert faults(sent, "client") == []
    assert any("notifications/message" in fault for fault in faults(sent, "server"))


def test_a_command_is_recorded_in_both_directions(tmp_path: Path) -> None:
    echo = Recorded((sys.executable, "-c", "print(input())"), tmp_path)
    done = run(echo.words, input=b'{"id": 1}\n', capture_output=True, check=True, timeout=60)
    (wire,) = echo.wires()
    assert done.stdout == b'{"id": 1}\n'
    assert messages(wire) == [Message("client", {"id": 1}), Message("server", {"id": 1})]
    assert len(echo.started()) == 2
    assert echo.left_over() == []
