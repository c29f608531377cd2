"""Waiting for gRPC in a program that cancels by scopes.

`grpc.aio` answers the cancellation of its caller with a CancelledError of its own, which no scope
of anyio knows: `move_on_after` would pass it on, as if the whole task had been cancelled.
"""

from __future__ import annotations

__all__ = ("Cancellable", "guarded")

from asyncio import CancelledError
from collections.abc import Awaitable
from typing import Protocol, TypeVar

from anyio.lowlevel import checkpoint

T = TypeVar("T")


class Cancellable(Protocol):
    """A call of `grpc.aio`."""

    def cancel(self) -> bool:
        """End the call, at the server too; False if it is over."""
        ...


async def guarded(call: Cancellable, waiting: Awaitable[T]) -> T:
    """Return what `waiting`, for the answer of `call` or a part of it, comes to.

    When the caller is cancelled, the call is too, and the scope that did it gets its own exception.
    """
    try:
        return await waiting
    except CancelledError:
        call.cancel()
        await checkpoint()  # raises the exception of the scope, if there is one
        raise
