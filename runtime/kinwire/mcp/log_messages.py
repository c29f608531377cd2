"""Log messages of servers: the order of their levels, and Python's logging (MCP, Logging)."""

from __future__ import annotations

__all__ = ("LEVELS", "at_least", "log_message", "logger_name")

import json
import logging
import re

from kinwire_protocols.mcp.models import LoggingLevel, LoggingMessageNotificationParams

LEVELS: tuple[LoggingLevel, ...] = (
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
)
"""From the least severe to the most severe, in the order of syslog."""

_RANKS: dict[str, int] = {level: rank for rank, level in enumerate(LEVELS)}

_PYTHON_LEVELS = {
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

_MAX_NAME = 64  # characters of a server's name
_MAX_TEXT = 10_000  # characters of a message


def at_least(level: str, least: str) -> bool:
    """Return whether `level` is as severe as `least`, or more.

    Raises:
        ValueError: unknown level.
    """
    try:
        return _RANKS[level] >= _RANKS[least]
    except KeyError as unknown:
        raise ValueError(
            f"log level: expected one of {', '.join(LEVELS)}, got {unknown}. Use one of them."
        ) from None


def logger_name(server: str) -> str:
    """Return the logger for the server of that name: a child of `kinwire.server`, without dots.

    A server whose name is not known yet has `kinwire.server` itself. The `logger` that a message
    names makes no logger: loggers are never freed.
    """
    name = re.sub(r"[^A-Za-z0-9_-]", "_", server[:_MAX_NAME])
    return f"kinwire.server.{name}" if name else "kinwire.server"


def log_message(server: str, message: LoggingMessageNotificationParams) -> None:
    """Log a message of the server of that name; the record has all of it as `mcp_message`.

    Its text becomes one line, so that a server cannot forge entries of other programs.
    """
    level = _PYTHON_LEVELS.get(message.level, _UNKNOWN)
    logger = logging.getLogger(logger_name(server))
    if logger.isEnabledFor(level):
        logger.log(level, "%s", _text(message), extra={"mcp_message": message})


def _text(message: LoggingMessageNotificationParams) -> str:
    data = message.data
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    if message.level not in _PYTHON_LEVELS:
        text = f"({message.level}) {text}"
    if message.logger is not None:
        text = f"{message.logger}: {text}"
    return "".join(
        character if character.isprintable() else repr(character)[1:-1]
        for character in text[:_MAX_TEXT]
    )
