"""Log messages of servers in Python's logging (MCP, Logging)."""

from __future__ import annotations

__all__ = ("log_message", "logger_name")

import json
import logging
import re

from kinwire_protocols.mcp.models import LoggingMessageNotificationParams

_LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "notice": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "critical": logging.CRITICAL,
    "alert": logging.CRITICAL,
    "emergency": logging.CRITICAL,
}
_UNKNOWN = logging.WARNING  # high enough to be seen where nothing is configured

_LONGEST_NAME = 64  # characters of a server's name
_LONGEST_TEXT = 10_000  # characters of a message


def logger_name(server: str) -> str:
    """Return the logger for the server of that name: a child of `kinwire.server`, without dots.

    `kinwire.server` itself stands for one whose name is not known yet. What a server calls the
    parts of itself makes no loggers: loggers are never freed.
    """
    name = re.sub(r"[^A-Za-z0-9_-]", "_", server[:_LONGEST_NAME])
    return f"kinwire.server.{name}" if name else "kinwire.server"


def log_message(server: str, message: LoggingMessageNotificationParams) -> None:
    """Log a message of the server of that name; the record has it whole as `mcp_message`.

    Its text is made one line: a server must not be able to forge entries of others.
    """
    level = _LEVELS.get(message.level, _UNKNOWN)
    logger = logging.getLogger(logger_name(server))
    if logger.isEnabledFor(level):
        logger.log(level, "%s", _text(message), extra={"mcp_message": message})


def _text(message: LoggingMessageNotificationParams) -> str:
    data = message.data
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    if message.level not in _LEVELS:
        text = f"({message.level}) {text}"
    if message.logger is not None:
        text = f"{message.logger}: {text}"
    return "".join(
        character if character.isprintable() else repr(character)[1:-1]
        for character in text[:_LONGEST_TEXT]
    )
