"""What a failure says: no peer and no word has lines of its own there, or more than is read."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire.rpc.errors import InvalidResponseError, ProtocolVersionError, ShapeError
from kinwire.storage import StorageInputError
from kinwire_cli.failure import UsageError, failure_of
from kinwire_protocols.base import RpcError

FORGED = "no\nerror: all is well\x1b[2J"
ERRORS = [
    RpcError(FORGED, code=-32000),
    ShapeError("ping", "", FORGED, FORGED),
    InvalidResponseError(FORGED),
    ProtocolVersionError(FORGED),
    StorageInputError(FORGED, expected=FORGED, got=FORGED, hint=FORGED),
    UsageError(FORGED),
    ValueError(FORGED),
    OSError(5, FORGED),
]


@pytest.mark.parametrize("error", ERRORS, ids=[type(error).__name__ for error in ERRORS])
def test_a_text_has_no_line_of_its_own_and_steers_no_terminal(error: Exception) -> None:
    first, *hints = failure_of(error).text.split("\n")
    assert first.startswith("error: ")
    assert all(hint.startswith("hint: ") for hint in hints)
    assert "\x1b" not in first


@pytest.mark.parametrize(
    "error", [RpcError("x" * 1_000_000, code=-32000), UsageError("x" * 100_000)]
)
def test_a_text_without_end_is_cut(error: Exception) -> None:
    assert len(failure_of(error).text) < 2100


def test_a_long_word_hides_no_reason() -> None:
    assert failure_of(UsageError(f"{'x' * 100_000}: is not there.")).text.endswith(
        ": is not there."
    )


def test_of_very_many_problems_the_first_are_shown() -> None:
    problem = {"pointer": "/a\nerror: b", "expected": "c", "got": "d"}
    data: dict[str, Any] = {"problems": [problem] * 1000}
    lines = failure_of(RpcError("no", code=-32602, data=data)).text.split("\n")
    assert lines[1:] == ["  /a error: b: expected c, got d"] * 20 + ["  and 980 more"]


def test_problems_that_the_message_has_are_not_repeated() -> None:
    found = [{"pointer": f"/{name}", "expected": "text", "got": "1"} for name in "abc"]
    message = "/a: expected text, got 1; /b: expected text, got 1; and 1 more"
    lines = failure_of(RpcError(message, code=-32602, data={"problems": found})).text.split("\n")
    assert lines[1:] == ["  /c: expected text, got 1"]
