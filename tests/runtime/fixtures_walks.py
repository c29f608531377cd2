"""A walk through a whole connection, and what has to hold of it wherever it breaks.

Handshake, lists, calls with progress that ask the client back, a call that is taken back, a
subscription, and the end: over memory, or over pipes as `OwnStdio` speaks on them.
"""

from __future__ import annotations

__all__ = (
    "CALLS",
    "CallLeftError",
    "Ends",
    "Moments",
    "Walk",
    "memory_ends",
    "pipe_ends",
    "stepped",
)

import json
import os
from collections import Counter
from collections.abc import Callable, Coroutine, Generator
from dataclasses import replace
from functools import partial
from types import coroutine
from typing import Any, NamedTuple, TypeVar

import anyio
import pytest

from kinwire.mcp.connection import Connection
from kinwire.mcp.context import Context
from kinwire.mcp.host import Host
from kinwire.mcp.server import Server
from kinwire.rpc.errors import ConnectionClosedError, RpcError
from kinwire.rpc.limits import Limits
from kinwire.rpc.transport import SessionCallbacks, Transport
from kinwire.transports import stdio
from kinwire.transports.memory import memory_pair
from kinwire_protocols import mcp

T = TypeVar("T")

_LIMITS = Limits(drain=0.002, stop=2.0)
CALLS = 3
"""Made concurrently; one more follows alone."""

_PATIENCE = 30.0  # seconds for one walk, which takes a few milliseconds
_NOTE = "note://1"


class Moments:
    """Counts moments of one kind, and knows the n-th of them."""

    def __init__(self, at: int) -> None:
        self._left = at

    def is_it(self) -> bool:
        """Count one; say whether it is the n-th."""
        self._left -= 1
        return self._left == 0

    @property
    def came(self) -> bool:
        """Return whether that many frames came."""
        return self._left <= 0


@coroutine
def stepped(
    body: Coroutine[Any, Any, T],
    act: Callable[[], BaseException | None],
    *,
    group_ends: bool = False,
) -> Generator[Any, Any, T]:
    """Await `body`, and `act` at each of its awaits; an error from that comes out of the await.

    The ends of task groups are left out unless `group_ends`: no operation fails there.
    """
    resume: Callable[[], Any] = partial(body.send, None)
    while True:
        try:
            waits_for = resume()
        except StopIteration as ended:
            result: T = ended.value
            return result
        error = act() if group_ends or not _ends_a_group(body) else None
        try:
            value = yield waits_for  # always: the loop has to know of every wait
        except BaseException as thrown:
            resume = partial(body.throw, error or thrown)
        else:
            resume = partial(body.send, value) if error is None else partial(body.throw, error)


def _ends_a_group(body: Any) -> bool:
    while body is not None:
        body = next(
            (getattr(body, name) for name in ("cr_await", "gi_yieldfrom") if hasattr(body, name)),
            None,
        )
        if getattr(getattr(body, "cr_code", None), "co_name", None) == "__aexit__":
            return True
    return False


class Ends(NamedTuple):
    client: Transport
    server: Transport


def memory_ends(monkeypatch: pytest.MonkeyPatch) -> Ends:
    return Ends(*memory_pair())


def pipe_ends(monkeypatch: pytest.MonkeyPatch) -> Ends:
    """Both ends speak as a server does on its stdio, on other descriptors than 0 and 1."""
    to_server, to_client = os.pipe(), os.pipe()
    running: list[OnPipes] = []

    def take_over() -> Any:
        given, taken = running.pop().pipes
        return stdio._private(given, os.O_RDONLY), stdio._private(taken, os.O_WRONLY)

    monkeypatch.setattr(stdio, "_take_over", take_over)
    return Ends(
        OnPipes((to_client[0], to_server[1]), running),
        OnPipes((to_server[0], to_client[1]), running),
    )


class OnPipes(stdio.OwnStdio):
    def __init__(self, pipes: tuple[int, int], running: list[OnPipes]) -> None:
        super().__init__()
        self.pipes = pipes
        self._running = running

    async def run(self, callbacks: SessionCallbacks, /) -> None:
        self._running.append(self)  # it takes over in its first step
        await super().run(callbacks)

    async def aclose(self) -> None:
        await super().aclose()
        for fd in self.pipes:  # as the end of the process would
            os.close(fd)


class Tapped:
    """A transport whose frames and awaits are seen."""

    def __init__(
        self,
        inner: Transport,
        heard: list[dict[str, Any]],
        arrives: Callable[[SessionCallbacks], bool],
        awaits: Callable[[], BaseException | None],
    ) -> None:
        self._inner = inner
        self._heard = heard
        self._arrives = arrives
        self._awaits = awaits
        self.ran = False
        self.peer_may_emit_noise = inner.peer_may_emit_noise
        self.address = inner.address
        self.wake, self.resume, self.aclose = inner.wake, inner.resume, inner.aclose

    async def run(self, callbacks: SessionCallbacks, /) -> None:
        def feed(frame: bytes) -> None:
            if self._arrives(callbacks):
                self._heard.append(json.loads(frame))
                callbacks.feed(frame)

        self.ran = True
        outer = replace(callbacks, feed=feed)
        await stepped(self._inner.run(outer), self._awaits)


class CallLeftError(Exception):
    """`Walk.ask` has cancelled its call."""


class Walk:
    """One walk; each hook may break it, at one of its moments."""

    def __init__(self, moments: Moments) -> None:
        self.moments = moments
        self.outcomes: Counter[str] = Counter()
        self.calls_ended = 0
        self.heard: tuple[list[dict[str, Any]], list[dict[str, Any]]] = ([], [])

    def arrives(self, callbacks: SessionCallbacks) -> bool:
        """A frame comes; say whether it gets through."""
        return True

    def carries(self) -> BaseException | None:
        """A transport waits."""

    async def go(self, walking: Coroutine[Any, Any, None]) -> None:
        """Walk the whole way."""
        await walking

    async def ask(self, calling: Coroutine[Any, Any, T]) -> T:
        """Make one of the calls."""
        return await calling

    def handles(self) -> BaseException | None:
        """A handler waits."""

    async def over(self, ends: Ends) -> None:
        """Walk, and check all that holds for every walk."""
        tasks_before = {task.id for task in anyio.get_running_tasks()}
        with anyio.fail_after(_PATIENCE):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._server().serve, self._tapped(ends.server, 1))
                client = self._tapped(ends.client, 0)
                await self.go(self._whole(client))
                if not client.ran:  # the walk ended before the host was open
                    for descriptor in getattr(ends.client, "pipes", ()):
                        os.close(descriptor)  # which ends the server
                    tasks.cancel_scope.cancel()
        assert {task.id for task in anyio.get_running_tasks()} == tasks_before
        self._check_answers()

    def _tapped(self, transport: Transport, end: int) -> Tapped:
        return Tapped(transport, self.heard[end], self.arrives, self.carries)

    def _check_answers(self) -> None:
        """Each answer that arrived is to a request of that end, and to each there is one."""
        for mine, theirs in (self.heard, self.heard[::-1]):
            asked = Counter(one["id"] for one in theirs if "method" in one and "id" in one)
            answered = Counter(one["id"] for one in mine if "method" not in one)
            assert not answered - asked, "an answer that nobody asked for, or a second one"

    def _server(self) -> Server:
        server = Server("walked", "1", limits=_LIMITS)

        @server.resource(_NOTE)
        async def note() -> str:
            return "text"

        @server.tool
        async def copy(number: int, context: Context) -> str:
            async def work() -> str:
                await context.progress(1)
                (root,) = await context.roots()
                await context.progress(2)
                await context.log("info", number)
                server.resource_updated(_NOTE)
                return f"{number} in {root.uri}"

            return await stepped(work(), self.handles)

        @server.tool
        async def wait(context: Context) -> None:
            await context.progress(1)
            await anyio.sleep_forever()

        return server

    async def _whole(self, transport: Transport) -> None:
        try:
            async with Host("walker", "1", limits=_LIMITS, roots=["file:///a"]) as host:
                server = await host.connect(transport, on_log=lambda message: None)
                await self._all(server)
        except ConnectionClosedError:
            self.outcomes["closed"] += 1
        else:
            self.outcomes["complete"] += 1

    async def _all(self, server: Connection) -> None:
        assert [tool.name async for tool in server.tools()] == ["copy", "wait"]
        async with anyio.create_task_group() as tasks:
            for number in range(CALLS):
                tasks.start_soon(self._call, server, number)
            tasks.start_soon(self._take_back, server)
        async with server.subscription(_NOTE) as updates:
            await self._call(server, 7)
            if self.outcomes["7 answered"]:
                assert await anext(updates) == _NOTE
        await server.mcp.ping()

    async def _call(self, server: Connection, number: int) -> None:
        patient = server.with_options(on_progress=lambda report: None)
        outcome = "cancelled"
        try:
            call = patient.mcp.tools_call(name="copy", arguments={"number": number})
            result = await self.ask(call)
            assert result.content == [mcp.TextContent(text=f"{number} in file:///a")]
            outcome = "answered"
        except ConnectionClosedError:
            outcome = "lost"
        except RpcError as error:
            outcome = "refused" if error.code == -32603 else f"refused: {error}"
        except CallLeftError:
            outcome = "left"
        finally:
            self.calls_ended += 1
            self.outcomes[outcome] += 1
            self.outcomes[f"{number} {outcome}"] += 1

    async def _take_back(self, server: Connection) -> None:
        with anyio.CancelScope() as scope:
            patient = server.with_options(on_progress=lambda report: scope.cancel())
            try:
                await patient.mcp.tools_call(name="wait")
            except ConnectionClosedError:
                return
        assert scope.cancel_called
