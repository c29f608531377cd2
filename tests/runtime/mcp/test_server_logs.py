"""A server's log messages in Python's logging."""

from __future__ import annotations

import logging

import pytest

from kinwire.mcp.log_messages import log_message, logger_name
from kinwire_protocols import mcp
from tests.each import each


@each(
    ("server", "expected"),
    [
        ("notes", "kinwire.server.notes"),
        ("My server 2.0", "kinwire.server.My_server_2_0"),
        ("a.b", "kinwire.server.a_b"),
        ("", "kinwire.server"),
        ("x" * 1000, "kinwire.server." + "x" * 64),
    ],
)
def test_a_server_has_a_logger_of_its_own(server: str, expected: str) -> None:
    assert logger_name(server) == expected


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        ("debug", logging.DEBUG),
        ("info", logging.INFO),
        ("notice", logging.INFO),
        ("warning", logging.WARNING),
        ("error", logging.ERROR),
        ("critical", logging.CRITICAL),
        ("alert", logging.CRITICAL),
        ("emergency", logging.CRITICAL),
        ("loud", logging.WARNING),
    ],
)
def test_every_level_has_a_counterpart(
    level: str, expected: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "kinwire.server")
    message = mcp.LoggingMessageNotificationParams(level=level, data="x")
    log_message("s", message)
    (record,) = caplog.records
    assert record.levelno == expected
    assert record.__dict__["mcp_message"] is message


@pytest.mark.parametrize(
    ("logger", "data", "expected"),
    [
        ("db", "full", "db: full"),
        (None, {"b": 1, "a": None}, '{"b": 1, "a": null}'),
        (None, "caf\u00e9 %s %d", "caf\u00e9 %s %d"),
        (None, "a\nERROR forged\x1b[2J\u2028", "a\\nERROR forged\\x1b[2J\\u2028"),
        ("a\nb", "c", "a\\nb: c"),
        (None, "x" * 20_000, "x" * 10_000),
    ],
)
def test_a_message_is_one_line_of_bounded_length(
    logger: str | None, data: object, expected: str, caplog: pytest.LogCaptureFixture
) -> None:
    message = mcp.LoggingMessageNotificationParams(level="error", logger=logger, data=data)
    log_message("s", message)
    assert [record.getMessage() for record in caplog.records] == [expected]


def test_what_nobody_wants_is_not_formatted(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR, "kinwire.server")
    log_message("s", mcp.LoggingMessageNotificationParams(level="debug", data=object()))
    assert caplog.records == []
