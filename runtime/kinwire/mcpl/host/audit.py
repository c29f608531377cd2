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
from functools import partial
from typing import Any, Literal, NamedTuple

from kinwire.managers.audit_trail import AuditEvent, AuditTrail, Ending
from kinwire.mcp.extension import Next
from kinwire.mcpl.rules.injections import Dropped
from kinwire.mcpl.rules.operations import (
    Operation,
    inference_of,
    model_of,
    outcome_of,
    set_of,
)
from kinwire.rpc.request import Request
from kinwire.rpc.session import Session
from kinwire.storage.clock import Clock
from kinwire.storage.log import Log
from kinwire_protocols import mcp
from kinwire_protocols.mcp.methods import INITIALIZE, TOOLS_CALL
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
        self._trail = AuditTrail(log, clock, _described, logger=logger)

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

    async def name_collides(self, session: Session) -> None:
        """Warn of a server with the name of another one, and log an event.

        The two share nothing that is stored: only readers of logs could take one for the other.
        """
        key = session.identity.key
        reason = (
            f"the name is that of another connected server: this one is {key}. They share no "
            "state, approvals or limits. Give each a server_id to tell them apart."
        )
        _warnings.warning("%s: %s", session.peer_id, reason)
        await self._trail.write(
            Operation(
                method=INITIALIZE.name,
                sender="server",
                server=session.peer_id,
                feature_set=None,
                inference_id=None,
                outcome="failure",
                reason=reason,
            )
        )

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
        events = [_dropped(one, server, inference_id) for one in reported]
        await self._trail.write_all(events, f"{server}: injections that were dropped")

    async def _watched(self, about: _About, params: Any, go_on: Next[Any, Any]) -> Any:
        if not self._trail.wanted:
            return await go_on(params)
        return await self._trail.watch(go_on, params, partial(_operation, about, params))


def _operation(about: _About, params: Any, ending: Ending) -> Operation:
    outcome, reason = outcome_of(ending, about.method if about.sender == "host" else None)
    return Operation(
        method=about.method,
        sender=about.sender,
        server=about.server,
        feature_set=about.feature_set or set_of(params, ending.result),
        inference_id=inference_of(params, ending.result),
        outcome=outcome,
        reason=reason,
        model=model_of(ending.result),
    )


def _dropped(one: Dropped, server: str, inference_id: str) -> Operation:
    return Operation(
        method=CONTEXT_BEFORE_INFERENCE.name,
        sender="server",
        server=server,
        feature_set=one.feature_set,
        inference_id=inference_id,
        outcome="timeout" if one.late else "failure",
        reason=one.reason,
    )


def _described(operation: Operation, at: float) -> AuditEvent:
    return AuditEvent(
        "mcpl." + operation.method.replace("/", "."),
        operation.event(at),
        f"{operation.server}: {operation.method}: {operation.outcome}",
    )


def _watched_rows() -> Iterator[Method[Any, Any]]:
    return (row for row in PROTOCOL.methods.values() if row not in _PIECES)
