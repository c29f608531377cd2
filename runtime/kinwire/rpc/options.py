"""What belongs to one call and not to its params, and a peer whose calls all carry it."""

from __future__ import annotations

__all__ = ("DEFAULT", "Default", "PeerWithOptions", "Timeout")

from enum import Enum
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

from kinwire.rpc.calls import ProgressCallback
from kinwire_protocols.base import JsonObject, Message
from kinwire_protocols.peer import Method

if TYPE_CHECKING:
    from pydantic import ValidationError

    from kinwire.rpc.errors import ShapeError
    from kinwire.rpc.session import Session

P = TypeVar("P", bound=Message)
R = TypeVar("R")


class Default(Enum):
    """Stands for what the session's limits say."""

    TIMEOUT = "Limits.request_timeout"


DEFAULT: Final = Default.TIMEOUT

Timeout = float | Literal[Default.TIMEOUT] | None
"""Seconds; None for no limit."""


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
