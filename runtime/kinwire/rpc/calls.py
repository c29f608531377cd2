"""A request of this side that is under way. `request.py` has those of the peer."""

from __future__ import annotations

__all__ = ("OnId", "Outbound", "ProgressCallback")

from collections.abc import Callable
from math import inf
from typing import Any, final

from kinwire_protocols.peer import Method

ProgressCallback = Callable[[Any], object]
"""Takes a progress report of the peer. It is called immediately, so it is a plain function."""

OnId = Callable[[int], object]
"""Takes the id of a request of this side before it leaves: a plain function, called immediately."""


@final
class Outbound:
    """A request of this side, from the call until its answer."""

    __slots__ = (
        "data",
        "deadline",
        "id",
        "method",
        "name",
        "on_progress",
        "over",
        "sent",
        "slot",
        "timeout",
    )

    def __init__(
        self,
        name: str,
        method: Method[Any, Any] | None,
        slot: Any,
        timeout: float | None,
        on_progress: ProgressCallback | None,
    ) -> None:
        self.name = name
        self.method = method  # None for a raw call
        self.slot = slot  # the driver's: where the caller waits
        self.timeout = timeout
        self.on_progress = on_progress
        self.id = 0
        self.data = b""
        self.deadline = inf
        self.sent = False
        self.over = False
