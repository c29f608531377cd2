"""Requests of this side: their options, and one that is under way.

`request.py` has the requests of the peer.
"""

from __future__ import annotations

__all__ = (
    "DEFAULT",
    "TIMEOUT_KIND",
    "Default",
    "OnId",
    "Outbound",
    "PeerWithOptions",
    "ProgressCallback",
    "Timeout",
)

from collections.abc import Callable
from enum import Enum
from math import inf
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, final

from kinwire.support.arguments import ValueKind
from kinwire.support.validation import is_number
from kinwire_protocols.base import JsonObject
from kinwire_protocols.peer import Method

if TYPE_CHECKING:
    from pydantic import ValidationError

    from kinwire.rpc.errors import ShapeError
    from kinwire.rpc.session import Session

P = TypeVar("P")
R = TypeVar("R")

ProgressCallback = Callable[[Any], object]
"""Takes a progress report of the peer. It is called immediately, so it is a plain function."""

OnId = Callable[[int], object]
"""Takes the id of a request of this side before it leaves: a plain function, called immediately."""


class Default(Enum):
    """Stands for what the session's limits say."""

    TIMEOUT = "Limits.request_timeout"


DEFAULT: Final = Default.TIMEOUT

Timeout = float | Literal[Default.TIMEOUT] | None
"""Seconds; None for no limit."""

TIMEOUT_KIND: Final = ValueKind(
    "seconds",
    "30.0",
    lambda value: value is DEFAULT or (is_number(value) and value >= 0),
    error=ValueError,
).or_none
"""Says of an argument whether it is a `Timeout`."""


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
        "reported",
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
        self.reported = False  # by its token


class PeerWithOptions:
    """A peer whose calls carry options."""

    def __init__(
        self,
        session: Session,
        timeout: Timeout,
        on_progress: ProgressCallback | None,
        meta: JsonObject | None,
    ) -> None:
        self._session = session
        self._timeout: Timeout = timeout
        self._on_progress = on_progress
        self._meta = meta

    async def call(self, method: Method[P, R], params: P, /) -> R:
        return await self._session.call(
            method, params, timeout=self._timeout, on_progress=self._on_progress, meta=self._meta
        )

    async def notify(self, method: Method[P, Any], params: P, /) -> None:
        await self._session.notify(method, params)

    def shape_error(self, where: str, error: ValidationError, value: object, /) -> ShapeError:
        return self._session.shape_error(where, error, value)
