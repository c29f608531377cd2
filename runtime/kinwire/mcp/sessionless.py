"""A call of a tool without a session: what its `Context` stands on.

Protocols that keep no sessions run a server's tools by it. What needs a client at the other end,
such as `Context.sample`, is refused; reports of progress and log messages do no harm.
"""

from __future__ import annotations

__all__ = ("SessionNeededError", "SessionlessPeer", "SessionlessRequest")

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Never

from kinwire.rpc.errors import SessionStateError
from kinwire.rpc.limits import Limits
from kinwire.rpc.request import Request
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcp import CallToolRequestParams
from kinwire_protocols.mcp.methods import TOOLS_CALL

if TYPE_CHECKING:
    from kinwire.mcp.context import Context
    from kinwire.mcp.functions.pieces import PieceSink

Report = Callable[[float, float | None, str | None], Awaitable[None]]
"""Takes a report of progress: how much, of how much, and a text."""


class SessionNeededError(SessionStateError):
    """A tool needs the session with its client, and was called by a protocol without sessions."""


class _Counts:
    """Takes the place of what a session counts."""

    def noticed(self, *noticed: object) -> None:
        """Count nothing."""


_COUNTS = _Counts()


class SessionlessPeer:
    """Takes the place of the session: it has limits, a place for pieces, and refuses all else."""

    def __init__(self, limits: Limits, sink: PieceSink | None) -> None:
        self.limits, self.counts, self._sink = limits, _COUNTS, sink

    def open_sink(self, context: Context) -> PieceSink | None:
        """See `ServerSession.open_sink`."""
        return self._sink

    def __getattr__(self, name: str) -> Never:
        raise self.refusal(name)

    def refusal(self, name: str) -> SessionNeededError:
        """Return the error for a tool that uses `name`, which takes a session."""
        return SessionNeededError(
            f"The tool needs a session with its client ({name}), and this protocol has none."
        )


class SessionlessRequest(Request):
    """One call of `tools/call` that came without a session."""

    __slots__ = ("answers", "report", "state")

    params: CallToolRequestParams

    def __init__(
        self,
        peer: SessionlessPeer,
        params: CallToolRequestParams,
        message: JsonObject,
        *,
        report: Report,
        answers: Mapping[str, Any] | None = None,
        state: Any = None,
    ) -> None:
        """Begin a call; `answers` are those to the tool's questions, `state` what it asked with."""
        self.session: Any = peer
        self.id = None
        self.in_reply_to = None
        self.method = TOOLS_CALL
        self.handler: Any = None
        self.params = params
        self.message = message
        self.cancelled = False
        self.ended = False
        self.interruption = None
        self.reported = None
        self.task = None
        self.report, self.answers, self.state = report, answers, state

    @property
    def progress_token(self) -> None:
        """None: what reports progress is not a notification."""

    async def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Hand a report of progress to the one that watches the call, if there is one."""
        await self.report(progress, total, message)
