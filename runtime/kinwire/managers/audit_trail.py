"""Writes one event for each operation to a logger and a log, before the operation's caller goes on.

`AuditTrail` knows neither the fields of an event nor which operations there are: `describe` makes
the event, and the caller decides what to watch. Each event goes through `write`, in the order in
which operations end.
"""

from __future__ import annotations

__all__ = ("AuditEvent", "AuditTrail", "Ending")

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from logging import Logger
from math import inf
from typing import Any, Generic, NamedTuple, TypeVar

import anyio

from kinwire.managers.ask import Answer, Failed, ask
from kinwire.storage.clock import Clock
from kinwire.storage.log import Log
from kinwire_protocols.base import JsonObject

E = TypeVar("E")
P = TypeVar("P")
R = TypeVar("R")

_MOST_WAITED = 5.0  # seconds to write one event, while its operation waits


class AuditEvent(NamedTuple):
    """An event as it is written."""

    subject: str
    """Its subject in the log."""
    value: JsonObject
    text: str
    """The line in the logger; the record has `value` as its attribute `operation`."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How an operation ended: it returned, it raised, or it was cancelled."""

    result: Any = None
    error: Exception | None = None
    cancelled: bool = False
    late: bool = False
    """It was cancelled because its time was over."""


class AuditTrail(Generic[E]):
    """Writes the events of one kind of operations; `describe` makes an event at a time.

    If the log fails or is slow, that is logged, and `write` returns False: the caller may go on, or
    refuse an operation that is not written.
    """

    def __init__(
        self,
        log: Log | None,
        clock: Clock,
        describe: Callable[[E, float], AuditEvent],
        *,
        logger: Logger,
    ) -> None:
        self._log = log
        self._clock = clock
        self._describe = describe
        self._logger = logger

    @property
    def wanted(self) -> bool:
        """Return whether an event would be written anywhere."""
        return self._log is not None or self._logger.isEnabledFor(logging.INFO)

    async def watch(
        self, call: Callable[[P], Awaitable[R]], params: P, event_of: Callable[[Ending], E]
    ) -> R:
        """Return `call(params)`, after its event was written, which `event_of` makes.

        An operation that is cancelled or raises has an event, too.
        """
        deadline = anyio.current_effective_deadline()
        try:
            result = await call(params)
        except Exception as error:
            await self.write(event_of(Ending(error=error)))
            raise
        except anyio.get_cancelled_exc_class():
            late = -inf < deadline <= anyio.current_time()  # -inf: cancelled before it began
            await self.write(event_of(Ending(cancelled=True, late=late)))
            raise
        await self.write(event_of(Ending(result)))
        return result

    async def write(self, event: E) -> bool:
        """Write an event; return False if there is a log and it does not have the event.

        A cancellation does not interrupt it.
        """
        return await self._write(event, _MOST_WAITED)

    async def write_all(self, events: Sequence[E], what: str) -> bool:
        """Write several events in the time of one; return whether all were written.

        `what` names them in the logger if the time is over.
        """
        done, deadline = True, anyio.current_time() + _MOST_WAITED
        for event in events:
            left = deadline - anyio.current_time()
            if left <= 0:
                self._logger.error("%s: the log did not take all events in time", what)
                return False
            done = await self._write(event, left) and done
        return done

    async def _write(self, event: E, timeout: float) -> bool:
        written = self._describe(event, self._clock())
        self._logger.info("%s", written.text, extra={"operation": written.value})
        log = self._log
        if log is None:
            return True
        taken = False
        with anyio.CancelScope(shield=True):
            outcome = await ask(
                lambda event: log.append(event.subject, event.value),
                written,
                name="Log.append",
                timeout=timeout,
                expects=object,
            )
            taken = isinstance(outcome, Answer)
            if not taken:
                error = outcome.error if isinstance(outcome, Failed) else None
                self._logger.error("%s, which the log did not take", written.text, exc_info=error)
        return taken
