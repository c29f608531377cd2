"""The order of log levels (MCP, Logging): that of syslog, not of the alphabet."""

from __future__ import annotations

__all__ = ("LEVELS", "at_least")

from kinwire_protocols.mcp.models import LoggingLevel

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
"""From the least severe to the most severe."""

_RANKS: dict[str, int] = {level: rank for rank, level in enumerate(LEVELS)}


def at_least(level: str, least: str) -> bool:
    """Return whether `level` is as severe as `least`.

    Raises:
        ValueError: one of them is no level.
    """
    try:
        return _RANKS[level] >= _RANKS[least]
    except KeyError as unknown:
        raise ValueError(
            f"log level: expected one of {', '.join(LEVELS)}, got {unknown}. Use one of them."
        ) from None
