"""What runs until a session ends, and how it ends."""

from __future__ import annotations

__all__ = ("SessionLife",)

import logging
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import TYPE_CHECKING, Any

from kinwire.rpc.drivers.base import Driver
from kinwire.rpc.errors import ConnectionClosedError, SessionStateError
from kinwire.rpc.session_interceptors import SessionInterceptors
from kinwire.rpc.transport import ListeningTransport, Transport

if TYPE_CHECKING:
    from anyio.abc import TaskGroup

    from kinwire.rpc.limits import Limits

logger = logging.getLogger("kinwire.session")


class SessionLife(SessionInterceptors):
    """The part of a session that runs its tasks, waits for its end and ends it."""

    _transport: Transport
    _driver: Driver | None = None
    _tasks: TaskGroup | None = None
    _is_over = False
    _at_end: list[Callable[[], object]]
    _last_words: list[Callable[[], Coroutine[Any, Any, None]]]
    _limits: Limits

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        driver = self._opened()
        try:
            await driver.shut()
        finally:
            self._end()
        driver.release()

    def adopt(self, tasks: TaskGroup) -> None:
        """Use `tasks` for `start_soon`: a group that is cancelled when the session has ended."""
        self._tasks = tasks

    def start_soon(self, function: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run `function` in a task that is cancelled when the session ends.

        Extensions call it in `negotiated` or later. An exception of the function ends the session.
        """
        assert self._tasks is not None
        self._tasks.start_soon(function)

    def must_not_repeat_handshake(self) -> None:
        """End the connection if the server forgets the session.

        Without this a transport may begin another session with the server, as HTTP does after a
        restart of the server. That repeats the handshake, but not what was sent after it.
        """
        self._opened().must_not_repeat()

    def on_close(self, function: Callable[[], object]) -> None:
        """Call the plain `function` when the session is over and none of its handlers runs.

        If it is over already, the function is called now.
        """
        if self._is_over:
            function()
        else:
            self._at_end.append(function)

    async def wait_listening(self) -> None:
        """Return when messages that the peer sends by itself arrive: over HTTP not immediately."""
        if isinstance(self._transport, ListeningTransport):
            await self._transport.wait_listening()

    async def wait_quiet(self) -> None:
        """Return when no message of the peer is being handled and no call waits for its answer.

        A handler must not await it: it would wait for itself.
        """
        await self._opened().wait_quiet()

    def when_asked_to_end(self, function: Callable[[ConnectionClosedError], object]) -> None:
        """Call the plain `function` when this side's program is asked to end the connection.

        A signal asks so, as does a listener that stops. The connection is not ended then: what
        `function` starts does that, by `aclose`.
        """
        self._opened().when_asked_to_end = function

    async def wait_closed(self) -> None:
        """Return when the connection has ended, from either side."""
        await self._opened().wait_ended()

    async def aclose(self) -> None:
        """End the connection: cancel handlers, write what waits, release the transport.

        It takes a bounded time, works in a cancelled scope, and may be called by a handler,
        which then goes on without an answer. Doing it again does nothing.
        """
        await self._opened().close()

    def before_close(self, function: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Await `function` before this side ends the connection by `finish`, if it is open then."""
        self._last_words.append(function)

    async def finish(self) -> None:
        """End the connection as `aclose` does, after what `before_close` has added was done.

        All of it together gets `Limits.drain`, also in a cancelled scope. An error of a function is
        logged, and the next one is awaited.
        """
        functions, self._last_words = self._last_words, []
        if functions and not self.closed:
            await self._say(functions)
        await self.aclose()

    @property
    def closed(self) -> bool:
        """Return whether the connection has ended for calls."""
        return self.closed_why is not None

    @property
    def closed_why(self) -> ConnectionClosedError | None:
        """Why the connection has ended for calls; None while it is open."""
        return None if self._driver is None else self._driver.engine.closed

    async def _say(self, functions: list[Callable[[], Coroutine[Any, Any, None]]]) -> None:
        import anyio  # few sessions need it

        with anyio.move_on_after(self._limits.drain, shield=True):
            for function in functions:
                try:
                    await function()
                except Exception as error:
                    logger.info("the last words of an extension failed: %s", error)

    def _end(self) -> None:
        self._is_over = True
        functions, self._at_end = self._at_end, []
        for function in functions:
            function()

    def _rules_changed(self) -> None:
        if self._driver is not None:
            self._driver.engine.outbox.hinder()

    def _opened(self) -> Driver:
        if self._driver is None:
            raise SessionStateError("The session is not open. Use it inside `async with`.")
        return self._driver
