"""A promise of a server: its result is asked for until it is there (MCP-lite 0.042 section 3.5)."""

from __future__ import annotations

__all__ = ("LitePromise",)

import math
import random
import time
from collections.abc import AsyncGenerator, Generator
from dataclasses import dataclass, field
from typing import Any, Protocol

import anyio

from kinwire.mcplite.client.outcomes import CallsTools, LiteOutcome, LitePart, OutcomeFields
from kinwire.mcplite.client.transport import OutgoingCall
from kinwire.mcplite.rules.polling import MOST_FAILURES, TRANSIENT, PollHints, next_poll
from kinwire.rpc.errors import (
    ConnectionClosedError,
    InvalidResponseError,
    KinwireError,
    RequestTimeoutError,
)
from kinwire.support.arguments import SECONDS, ArgumentCheck
from kinwire.support.timestamps import end_of
from kinwire_protocols.base import JsonObject

_LONGEST_HINT = 2**53  # milliseconds: a server may write numbers that no float can hold
_HINT = "The work goes on: await the promise again, or cancel it."
_WAIT = ArgumentCheck("LitePromise.wait", "promise.wait()", {}, timeout=SECONDS.or_none)


class FollowsPromises(CallsTools, Protocol):
    """What a promise needs of the client that it came from."""

    def follow(
        self, call: OutgoingCall, timeout: float | None
    ) -> AsyncGenerator[LitePart | LiteOutcome]:
        """Yield the parts of a call, then what it comes to."""
        ...


@dataclass(frozen=True, slots=True)
class LitePromise(OutcomeFields):
    """The work goes on at the server; `await promise` returns its outcome, when it is there.

    The token can be stored: `LiteClient.promise` makes another promise of it, also after a restart
    of the program.
    """

    token: str = field(repr=False)
    """What the server knows it by. A program that has it may get the result."""
    caller: FollowsPromises = field(kw_only=True, repr=False)
    context: JsonObject = field(default_factory=dict[str, Any], kw_only=True, repr=False)
    """Fields of `_meta` that go along when it is redeemed, as the context of a session."""

    def __repr__(self) -> str:
        return f"LitePromise(estimated_completion={self.estimated_completion!r})"

    @property
    def estimated_completion(self) -> str | None:
        """When the result may be there, a date-time."""
        return self.meta.estimated_completion

    @property
    def expires_at(self) -> str | None:
        """When the server forgets it, a date-time; None if it does not say."""
        return self.meta.expires_at

    @property
    def retry_after(self) -> float | None:
        """After how many seconds to ask again; None if the server does not say."""
        given = self.meta.retry_after_ms
        return None if given is None else min(given, _LONGEST_HINT) / 1000

    def __await__(self) -> Generator[Any, Any, LiteOutcome]:
        """Do as `wait` without a timeout."""
        return self.wait().__await__()

    async def wait(self, timeout: float | None = None) -> LiteOutcome:
        """Ask for the outcome until it is there, and return it: anything but another promise.

        The server says how long to wait between attempts; if it does not, the time between them
        grows to 30 seconds. While the server cannot be reached, as during a restart, this goes on:
        redeeming may be repeated. A server that says that it may be asked again, as while its store
        is unavailable, is asked until the timeout, or until the promise expires.

        Args:
            timeout: seconds for all of it; None waits until the promise expires.

        Raises:
            RequestTimeoutError: the time is over. The work goes on.
            KinwireError: the server was not reached 20 times in a row, or could not answer until
                the promise had expired.
            RpcError: the server refuses to redeem it.
        """
        _WAIT.check(timeout=timeout)
        with anyio.move_on_after(timeout):
            return await self._settled(has_timeout=timeout is not None)
        raise RequestTimeoutError("redeem", timeout or 0.0, _HINT)

    async def redeem(self, *, timeout: float | None = None) -> LiteOutcome:
        """Ask once: return the outcome, or a promise if the work is not done.

        Args:
            timeout: see `LiteClient.call`.

        Raises:
            RpcError, KinwireError: see `LiteClient.call`.
        """
        _WAIT.check(timeout=timeout)
        return await self.caller.send(self._call(), timeout)

    async def cancel(self, *, timeout: float | None = None) -> LiteOutcome:
        """Give the work up, and return what the server says: as a rule a failure.

        If the work was done already, that may be its result.

        Args:
            timeout: see `LiteClient.call`.

        Raises:
            RpcError, KinwireError: see `LiteClient.call`.
        """
        _WAIT.check(timeout=timeout)
        return await self.caller.send(self._call(action="cancel"), timeout)

    def follow(self, *, timeout: float | None = None) -> AsyncGenerator[LitePart | LiteOutcome]:
        """Redeem it by a stream: yield progress as the server reports it, then the outcome.

        A server may answer immediately instead, by another promise.

        Args:
            timeout: see `LiteClient.stream`.

        Raises:
            RpcError, KinwireError: see `LiteClient.stream`.
        """
        _WAIT.check(timeout=timeout)
        return self.caller.follow(self._call(), timeout)

    def _call(self, **more: str) -> OutgoingCall:
        return OutgoingCall("redeem", {"promise": self.token, **more}, self.context)

    async def _settled(self, *, has_timeout: bool) -> LiteOutcome:
        """Return the outcome; a promise that is answered with replaces this one."""
        latest, asked, failures = self, 0, 0
        wanted: float | None = None
        while True:
            await anyio.sleep(latest._delay(asked, failures, wanted))
            try:
                outcome = await latest.redeem()
            except KinwireError as error:
                failures += 1
                if not latest._goes_on(error, failures, has_timeout=has_timeout):
                    raise
                wanted = error.retry_after if isinstance(error, InvalidResponseError) else None
                continue
            if not isinstance(outcome, LitePromise):
                return outcome
            latest, asked, failures = outcome, asked + 1, 0

    def _delay(self, asked: int, failures: int, wanted: float | None = None) -> float:
        estimate = self.result.get("_meta", {}).get("estimated_seconds")
        seconds = estimate if type(estimate) in (int, float) else None
        hints = PollHints(self.retry_after, self.estimated_completion, seconds, wanted)
        return next_poll(
            hints, asked=asked, failures=failures, now=time.time(), jitter=random.random()
        )

    def _goes_on(self, error: KinwireError, failures: int, *, has_timeout: bool) -> bool:
        """Return whether to ask again after an error: not for ever, and not a forgotten promise."""
        end, may_ask_again = end_of(self.expires_at), False
        if isinstance(error, InvalidResponseError):
            may_ask_again = error.status in TRANSIENT and (has_timeout or end < math.inf)
            is_transient = error.status == 500 or error.status in TRANSIENT
        else:
            is_transient = isinstance(error, ConnectionClosedError | RequestTimeoutError)
        has_tries = may_ask_again or failures < MOST_FAILURES
        return is_transient and has_tries and time.time() < end
