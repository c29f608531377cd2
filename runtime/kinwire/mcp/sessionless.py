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
from kinwire_protocols.base import JsonObject, from_wire
from kinwire_protocols.peer import Method

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
    """One request that came without a session."""

    __slots__ = ("answers", "given", "report", "state")

    def __init__(
        self,
        peer: SessionlessPeer,
        method: Method[Any, Any],
        given: JsonObject,
        *,
        report: Report,
        answers: Mapping[str, Any] | None = None,
        state: Any = None,
    ) -> None:
        """Begin a request; `given` are its params as they came.

        `answers` are those to the questions of a tool, `state` is what it asked with.
        """
        self.session: Any = peer
        self.id = None
        self.in_reply_to = None
        self.method = method
        self.handler: Any = None
        self.given = given
        self.cancelled = False
        self.ended = False
        self.interruption = None
        self.reported = None
        self.task = None
        self.report, self.answers, self.state = report, answers, state

    def read_params(self) -> None:
        """Read the params now, rather than on their first use.

        Raises:
            pydantic.ValidationError: they are not those of the method.
        """
        self.params = from_wire(self.method.params, self.given)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """Make what few tools look at, on its first use."""
            if name == "params":
                self.read_params()
            elif name == "message":
                params = {"params": self.given} if self.given else {}
                self.message = {"jsonrpc": "2.0", "method": self.method.name, **params}
            else:
                raise AttributeError(name)
            return getattr(self, name)

    @property
    def progress_token(self) -> None:
        """None: what reports progress is not a notification."""

    async def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Hand a report of progress to the one that watches the call, if there is one."""
        await self.report(progress, total, message)
