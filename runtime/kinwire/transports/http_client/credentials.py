"""Who this side says it is: the `Authorization` header, asked for when it is needed."""

from __future__ import annotations

__all__ = ("Auth", "Credentials", "credentials_of")

import re
from collections.abc import Awaitable, Callable
from inspect import isawaitable

import anyio

from kinwire.support.functions import name_of
from kinwire.transports.http_client.address import ServerAddress
from kinwire.transports.http_client.fields import Fields

Auth = Callable[[str | None], str | Awaitable[str]]
"""Takes the server's `WWW-Authenticate` header, None before the first request, and returns the
value for `Authorization`, such as "Bearer ..."; it may be an `async` function."""

_VALUE = re.compile(r"[\x21-\x7e]+(?: [\x21-\x7e]+)*")


class Credentials:
    """The value that is in use, and how many there were before."""

    def __init__(self, ask: Auth | None, value: str | None) -> None:
        self._ask = ask
        self._turn = anyio.Lock()
        self.value = value
        self.number = 0

    @property
    def renewable(self) -> bool:
        """Return whether there is a function to ask for credentials."""
        return self._ask is not None

    @property
    def missing(self) -> bool:
        """Return whether `auth` has to be called before the first request."""
        return self._ask is not None and self.number == 0

    async def renew(self, number: int, challenge: str | None) -> None:
        """Ask for another value, unless that was done since value `number` was in use.

        Raises:
            Exception: whatever the user's function raises.
            ValueError: it returned no value for the header.
        """
        async with self._turn:
            if self._ask is None or self.number != number:
                return
            answer = self._ask(challenge)
            value = _checked(await answer if isawaitable(answer) else answer)
            self.value = value
            self.number += 1


def _checked(value: object) -> str:
    if isinstance(value, str) and _VALUE.fullmatch(value):
        return value
    got = "one with other signs" if isinstance(value, str) else name_of(value)
    raise ValueError(f'auth: expected the value of a header, such as "Bearer ...", got {got}.')


def credentials_of(address: ServerAddress, fields: Fields, auth: Auth | None) -> Credentials:
    """Return who is calling.

    Raises:
        ValueError: credentials are passed twice.
        TypeError: `auth` is not a function.
    """
    if auth is not None and not callable(auth):
        raise TypeError(
            'auth: expected a function that returns a value such as "Bearer ...". Pass a value '
            "that does not change as headers={'Authorization': ...}."
        )
    named = any(name.lower() == "authorization" for name, _ in fields)
    if named + (auth is not None) + (address.authorization is not None) > 1:
        raise ValueError(
            "expected one way to authenticate, got two of: a name in the URL, "
            "headers={'Authorization': ...}, auth. Keep one."
        )
    return Credentials(auth, address.authorization)
