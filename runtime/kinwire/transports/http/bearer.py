"""Who a bearer token stands for, as the program's own function says (RFC 6750)."""

from __future__ import annotations

__all__ = ("NOT_VALID", "NO_TOKEN", "Authenticate", "BearerCheck", "token_in")

from collections.abc import Callable
from inspect import isawaitable
from typing import Any

import anyio
import anyio.to_thread

from kinwire.support.functions import is_async

Authenticate = Callable[[str], object]
"""Takes a bearer token; returns who it stands for, or None if it is not (or no more) valid.

It may be an `async` function. A plain one runs in a worker thread.
"""

NO_TOKEN = "Authorization: expected a bearer token."
NOT_VALID = "Authorization: the token is not valid."

_THREADS = 40  # for plain functions; those of tools have others, which they may hold for long


def token_in(header: str | None) -> str | None:
    """Return the token of an `Authorization` header, None without one."""
    scheme, _, token = (header or "").partition(" ")
    return (token.strip() or None) if scheme.lower() == "bearer" else None


class BearerCheck:
    """Asks a function of the program about tokens."""

    def __init__(self, authenticate: Authenticate) -> None:
        self._authenticate = authenticate
        self._is_async = is_async(authenticate)
        self._threads: anyio.CapacityLimiter | None = None

    async def principal_of(self, token: str) -> object:
        """Return who `token` stands for, None if it is not valid; errors of the function pass."""
        found: Any
        if self._is_async:
            found = self._authenticate(token)
        else:
            self._threads = self._threads or anyio.CapacityLimiter(_THREADS)
            # The tuple is for a plain wrapper around an `async def`: trio refuses a coroutine.
            (found,) = await anyio.to_thread.run_sync(
                lambda: (self._authenticate(token),), abandon_on_cancel=True, limiter=self._threads
            )
        return await found if isawaitable(found) else found
