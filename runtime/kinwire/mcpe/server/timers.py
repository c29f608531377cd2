"""The timers of a server's subscriptions: one task for all of them, while there are any."""

from __future__ import annotations

__all__ = ("EventTimers", "Sleep", "TimerKey")

import logging
from collections.abc import Awaitable, Callable
from typing import Literal, NamedTuple

import anyio

from kinwire.storage.clock import Clock
from kinwire.support.background import start_detached

logger = logging.getLogger("kinwire.mcpe")

_LOOK = 1.0  # seconds: how late a clock that was put forward is noticed

Sleep = Callable[[float], Awaitable[object]]


class TimerKey(NamedTuple):
    """What happens, and to which subscription or client."""

    kind: Literal["due", "expire", "forget", "grace"]
    id: str
