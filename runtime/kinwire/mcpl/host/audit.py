"""The audit log of a host: one event for each operation of either side (MCPL 13.2).

`rules/operations.py` makes the events. An event is written to the logger `kinwire.mcpl.audit` and
to a `Log` when its operation has ended, before the caller gets the result, so an operation has no
event if the process dies while it runs. A failure to write the log is logged, and the operation
goes on. Each injection that the host drops has its own event, and a warning. Pieces of answers have
none, but the request that they belong to has.
"""

from __future__ import annotations

__all__ = ("Audit",)

import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

import anyio

from kinwire.mcp.extension import Next
from kinwire.mcpl.rules.injections import Dropped
from kinwire.mcpl.rules.operations import (
    Operation,
    Outcome,
    ended_with,
    failed_with,
    inference_of,
    model_of,
    set_of,
)
from kinwire.rpc.request import Request
from kinwire.rpc.session import Session
from kinwire.storage.clock import Clock
from kinwire.storage.log import Log
from kinwire_protocols import mcp
from kinwire_protocols.mcp.methods import TOOLS_CALL
from kinwire_protocols.mcpl.methods import (
    CHANNELS_OUTGOING_CHUNK,
    CONTEXT_BEFORE_INFERENCE,
    INFERENCE_CHUNK,
    PROTOCOL,
)
from kinwire_protocols.peer import Method

logger = logging.getLogger("kinwire.mcpl.audit")
_warnings = logging.getLogger("kinwire.mcpl")

_MOST_REPORTED = 100  # of what is dropped of one reply
_MOST_WAITED = 5.0  # seconds to write one event, while its operation waits

_PIECES = (CHANNELS_OUTGOING_CHUNK, INFERENCE_CHUNK)

Call = Callable[[mcp.CallToolRequestParams], Awaitable[mcp.CallToolResult]]
"""Makes a tool call, or fails like the call."""


class _About(NamedTuple):
    sender: Literal["host", "server"]
    server: str
    method: str
    feature_set: str | None = None
    """None to take it from params or result."""


class Audit:
    """Writes the events of one host."""

    def __init__(self, log: Log | None, clock: Clock) -> None:
        self._log = log
        self._clock = clock

    def watch_outbound(self, session: Session) -> None:
        """Log what the host sends, except for tool calls.

        It must be called before other interceptors are added, to see what they refuse.
        """
        server = session.peer_id

        async def sent(params: Any, method: Method[Any, Any], go_on: Next[Any, Any]) -> Any:
            about = _About("host", server, method.name)
            return await self._watched(about, params, go_on)

        for row in _watched_rows():
            if row.sender != "server":
                session.intercept_outbound(sent, row)

    async def watch_call(
        self, server: str, feature_set: str | None, params: mcp.CallToolRequestParams, call: Call
    ) -> mcp.CallToolResult:
        """Make a tool call of a feature set, and log it. None if the set is unknown."""
        about = _About("host", server, TOOLS_CALL.name, feature_set)
        result: mcp.CallToolResult = await self._watched(about, params, call)
        return result

    def watch_inbound(self, session: Session) -> None:
        """Log what the server sends; call it after other interceptors were added."""
        server = session.peer_id

        async def came(params: Any, request: Request, go_on: Next[Any, Any]) -> Any:
            about = _About("server", server, request.method.name)
            return await self._watched(about, params, go_on)

        for row in _watched_rows():
            if row.sender != "client":
                session.intercept_inbound(came, row)

    async def dropped(self, server: str, inference_id: str, dropped: Sequence[Dropped]) -> None:
        """Warn of what a server injected and the host does not use, and log an event for each.

        The number and the time are limited, so that a server cannot delay the host.
        """
        reported = list(dropped[:_MOST_REPORTED])
        if len(dropped) > len(reported):
            more = f"left out {len(dropped) - len(reported)} more"
            reported.append(Dropped(None, more, late=dropped[-1].late))
        for one in reported:
            _warnings.warning("%s: %s", server, one.reason)
        with anyio.move_on_after(_MOST_WAITED, shield=True) as scope:
            for one in reported:
                await self._write(
                    Operation(
                        method=CONTEXT_BEFORE_INFERENCE.name,
                        sender="server",
                        server=server,
                        feature_set=one.feature_set,
                        inference_id=inference_id,
                        at=self._clock(),
                        outcome="timeout" if one.late else "failure",
                        reason=one.reason,
                    )
                )
        if scope.cancelled_caught:
            logger.error("%s: the log did not take in time what was dropped", server)

    async def _watched(self, about: _About, params: Any, go_on: Next[Any, Any]) -> Any:
        if self._log is None and not logger.isEnabledFor(logging.INFO):
            return await go_on(params)

        async def write(outcome: Outcome, reason: str | None, result: Any = None) -> None:
            await self._write(
                Operation(
                    method=about.method,
                    sender=about.sender,
                    server=about.server,
                    feature_set=about.feature_set or set_of(params, result),
                    inference_id=inference_of(params, result),
                    at=self._clock(),
                    outcome=outcome,
                    reason=reason,
                    model=model_of(result),
                )
            )

        deadline = anyio.current_effective_deadline()
        try:
            result = await go_on(params)
        except Exception as error:
            await write(*failed_with(error))
            raise
        except anyio.get_cancelled_exc_class():
            late = anyio.current_time() >= deadline
            await write("timeout" if late else "failure", None if late else "it was cancelled")
            raise
        await write(*ended_with(result), result)
        return result

    async def _write(self, operation: Operation) -> None:
        event = operation.event()
        of = f"{operation.server}: {operation.method}: {operation.outcome}"
        logger.info("%s", of, extra={"operation": event})
        if self._log is None:
            return
        subject = "mcpl." + operation.method.replace("/", ".")
        try:
            with anyio.fail_after(_MOST_WAITED, shield=True):
                await self._log.append(subject, event)
        except Exception:
            logger.exception("%s, which the log did not take", of)


def _watched_rows() -> Iterator[Method[Any, Any]]:
    return (row for row in PROTOCOL.methods.values() if row not in _PIECES)
