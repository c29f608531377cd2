"""The context of a request to a server of MGP: what a function asks the client for (MGP 13.4)."""

from __future__ import annotations

__all__ = ("MgpContext",)

from collections.abc import Sequence
from typing import Any

from kinwire.mcp.context import Context
from kinwire.mcp.server_session import ServerSession
from kinwire.mgp.server.kernel_peer import KernelPeer
from kinwire.mgp.server.server import MgpServer
from kinwire.rpc.errors import SessionStateError
from kinwire.support.arguments import SECONDS, TEXT, TEXTS, ArgumentCheck

_CONFIRM = ArgumentCheck(
    "MgpContext.confirm",
    'await context.confirm("Delete 15 files?")',
    {"message": TEXT},
    timeout=SECONDS.or_none,
)
_ASK = ArgumentCheck(
    "MgpContext.ask",
    'await context.ask("Which folder?")',
    {"message": TEXT},
    timeout=SECONDS.or_none,
)
_SELECT = ArgumentCheck(
    "MgpContext.select",
    'await context.select("Which one?", ["red", "blue"])',
    {"message": TEXT, "options": TEXTS},
    timeout=SECONDS.or_none,
)
_NOTIFY = ArgumentCheck(
    "MgpContext.notify", 'await context.notify("15 files are gone.")', {"message": TEXT}
)


class MgpContext(Context):
    """The request that a function of an MGP server serves, and questions to the one who made it.

    A parameter annotated with this class gets it, as with `Context`. Questions reach the person or
    program behind the kernel while the function waits. Other requests are served at the same time.
    """

    __slots__ = ()

    @property
    def kernel(self) -> KernelPeer | None:
        """The kernel whose request this is; None if it speaks only MCP.

        Raises:
            SessionStateError: the server has no `MgpServer` among its extensions.
        """
        return self._guarded().of(self)

    async def confirm(self, message: str, *, timeout: float | None = None) -> bool:
        """Ask for a yes or no before a dangerous operation; return whether it was a yes.

        `timeout` is in seconds; None for `Questions.timeout`. If the client cannot be asked,
        because `bidirectional` was not negotiated, this returns `Questions.confirm_default`.

        Raises:
            CapabilityNotNegotiatedError: the client cannot be asked, and there is no default.
            TimedOutError: no answer came in time. A function that lets it pass ends with error
                3003.
            ResourceExhaustedError: this request has asked `Questions.most` questions already.
            SessionStateError: the server has no `MgpServer` among its extensions.
            ConnectionClosedError: the connection has ended.

        Source: MGP 0.2.0 section 13.4.
        """
        _CONFIRM.check(message=message, timeout=timeout)
        return await self._guarded().questions.confirm(self._request, message, timeout)

    async def ask(self, message: str, *, timeout: float | None = None) -> Any:
        """Ask for more input, and return it: any JSON value but null, as a rule a string.

        `timeout` is in seconds; None for `Questions.timeout`.

        Raises:
            CapabilityNotNegotiatedError: the client cannot be asked.
            TimedOutError: no answer came in time, or the kernel says that nobody answers.
            ResourceExhaustedError, SessionStateError, ConnectionClosedError: as for `confirm`.

        Source: MGP 0.2.0 section 13.4.
        """
        _ASK.check(message=message, timeout=timeout)
        questions = self._guarded().questions
        return await questions.choose(self._request, "input", message, (), timeout)

    async def select(
        self, message: str, options: Sequence[str], *, timeout: float | None = None
    ) -> str:
        """Ask for a choice among `options`, at least one, and return the chosen one.

        `timeout` is in seconds; None for `Questions.timeout`.

        Raises:
            ValueError: there are no options.
            CapabilityNotNegotiatedError, TimedOutError, ResourceExhaustedError, SessionStateError,
                ConnectionClosedError: as for `ask`.

        Source: MGP 0.2.0 section 13.4.
        """
        _SELECT.check(message=message, options=options, timeout=timeout)
        if not options:
            raise ValueError("MgpContext.select: options: expected at least one, got none.")
        questions = self._guarded().questions
        choice: str = await questions.choose(
            self._request, "selection", message, tuple(options), timeout
        )
        return choice

    async def notify(self, message: str) -> bool:
        """Show a message, without an answer; return False if the client cannot be reached.

        Raises:
            SessionStateError, ConnectionClosedError: as for `confirm`.

        Source: MGP 0.2.0 section 13.4.
        """
        _NOTIFY.check(message=message)
        return await self._guarded().questions.notify(self._request, message)

    def _guarded(self) -> MgpServer:
        session = self.session
        if isinstance(session, ServerSession):
            found = session.extension_of(MgpServer)
            if found is not None:
                return found
        raise SessionStateError(
            "MgpContext: expected the context of a server that speaks MGP. Pass MgpServer() to "
            "Server(extensions=[...])."
        )
