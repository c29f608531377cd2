"""What servers log by MCP while a command keeps them alive: lines on stderr that name the server.

Without the name such a line could pass for one of the command itself.
"""

from __future__ import annotations

__all__ = ("server_logs",)

import logging
from collections.abc import Generator
from contextlib import contextmanager

from kinwire_cli.upkeep.configuration import say

_SERVERS = "kinwire.server"
"""The logger whose children the servers have."""


@contextmanager
def server_logs() -> Generator[None]:
    """Print log messages of servers inside the block, from warnings on."""
    logger, lines = logging.getLogger(_SERVERS), _Lines(logging.WARNING)
    logger.addHandler(lines)
    try:
        yield
    finally:
        logger.removeHandler(lines)


class _Lines(logging.Handler):
    """Prints one line for each record."""

    def emit(self, record: logging.LogRecord) -> None:
        server = record.name.removeprefix(_SERVERS).removeprefix(".") or "a server"
        say(f"{server} says: {record.getMessage()}")
