"""Calls plain functions of users from within the work of a connection."""

from __future__ import annotations

__all__ = ("call_back",)

from collections.abc import Callable
from logging import Logger
from typing import TypeVar

T = TypeVar("T")


def call_back(function: Callable[[T], object], argument: T, logger: Logger, name: str) -> None:
    """Call `function`, and log what it raises, so that the connection goes on.

    `name` describes the function in the log. Only KeyboardInterrupt is raised.
    """
    try:
        function(argument)
    except KeyboardInterrupt:
        raise
    except BaseException:  # also the CancelledError of a future that it has read
        logger.exception("the %s failed", name)
