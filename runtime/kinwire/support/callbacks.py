"""Plain functions of users that are called in the midst of a connection's own work."""

from __future__ import annotations

__all__ = ("call_back",)

from collections.abc import Callable
from logging import Logger
from typing import TypeVar

T = TypeVar("T")


def call_back(function: Callable[[T], object], argument: T, logger: Logger, name: str) -> None:
    """Call `function`. What it raises ends here and is logged: what called it has to go on.

    `name` says whose function it is. Only KeyboardInterrupt passes, which is the user's own.
    """
    try:
        function(argument)
    except KeyboardInterrupt:
        raise
    except BaseException:  # also the CancelledError of a future that it looked at
        logger.exception("the %s failed", name)
