"""Work that goes on behind a promise, in the process that began it."""

from __future__ import annotations

__all__ = ("OpenWork",)

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import anyio
from anyio.lowlevel import checkpoint

from kinwire.mcplite.rules.promises import PromiseRecord
from kinwire.mcplite.server.source import Put, ToolRun
from kinwire.rpc.codec import encode
from kinwire.rpc.errors import RpcError
from kinwire_protocols.base import JsonObject

Perform = Callable[[ToolRun], Awaitable[JsonObject]]
"""Runs a tool to its end, and returns the whole result."""


@dataclass(eq=False)
class OpenWork:
    """One run of a tool in a task of its own: its parts, its end, and its record."""

    run: ToolRun
    owner: str
    life: float
    """Seconds after which it is cancelled."""
    room: int
    """Bytes of parts that are kept in addition to those that are."""
    record: PromiseRecord | None = None
    """What is stored; None until it is a promise."""
    name: str = ""
    revision: int = 0
    key: str | None = None
    """Of the idempotency key that it was called with, in the records."""
    turn: anyio.Lock = field(default_factory=anyio.Lock)
    """Held while the record is written."""
    outcome: JsonObject | RpcError | None = None
    """What came of it; None while it runs, and if it was cancelled."""
    is_lost: bool = False
    """Whether it was stopped by `end_with`."""
    go: anyio.Event = field(default_factory=anyio.Event)
    """Set when a tool that has promised goes on: its promise is stored, or nobody wants one."""
    over: anyio.Event = field(default_factory=anyio.Event)
    """Set when the tool has ended."""
    stored: anyio.Event = field(default_factory=anyio.Event)
    """Set when it is over, and its end is stored."""
    estimated: float | None = None
    """How many seconds the tool says it takes."""
    tell_estimate: Callable[[], Awaitable[None]] = checkpoint
    """Adds this to the record, if there is one already."""
    parts: list[JsonObject] = field(default_factory=list[JsonObject])

    def __post_init__(self) -> None:
        """Have the run report to this work."""
        self._last: JsonObject | None = None
        self._scope = anyio.CancelScope()
        self._decided, self._news = anyio.Event(), anyio.Event()
        run = self.run
        run.send, run.report, run.promised = self._put, self._report, self._promised

    async def perform(self, perform: Perform) -> None:
        """Do the work; it is cancelled when its time is over."""
        self._scope.deadline = anyio.current_time() + self.life
        try:
            with self._scope:
                self.outcome = await perform(self.run)
        except RpcError as error:
            self.outcome = error
        finally:
            self.is_lost = self.outcome is None and self._last is not None
            self.outcome = self._last if self.outcome is None else self.outcome
            self.run.cancelled = self.outcome is None
            self.over.set()
            self._decided.set()
            self._tell()

    def end_with(self, result: JsonObject) -> None:
        """Stop it, and let this be its result: that of work which nobody could finish."""
        self._last = result
        self.cancel()

    def cancel(self) -> None:
        """Stop it: nobody waits for the result."""
        self.run.cancelled = True
        self._scope.cancel()

    async def wait(self, seconds: float) -> None:
        """Wait for its end, or until the tool has made a promise, at most that many seconds."""
        await checkpoint()
        await checkpoint()  # the task has begun: wrong arguments are refused immediately
        if not self._decided.is_set() and seconds > 0:
            with anyio.move_on_after(seconds):
                await self._decided.wait()

    async def follow(self, send: Put, seconds: float) -> None:
        """Send the parts, those from before first, until its end, at most that many seconds."""
        sent = 0
        with anyio.move_on_after(seconds):
            while not self.over.is_set() or sent < len(self.parts):
                news = self._news
                while sent < len(self.parts):
                    sent += 1
                    await send(self.parts[sent - 1])
                if not self.over.is_set():
                    await news.wait()

    async def _put(self, part: JsonObject) -> None:
        self._keep(part)
        await checkpoint()

    def _report(self, progress: JsonObject) -> None:
        self._keep({"partial": "", "progress": progress})

    async def _promised(self, estimated: float | None) -> None:
        self.estimated = estimated
        if estimated is not None:
            await self.tell_estimate()
        self._decided.set()
        await self.go.wait()

    def _keep(self, part: JsonObject) -> None:
        self.room -= len(encode(part))
        if self.room >= 0:  # who comes later sees the beginning, and the whole result
            self.parts.append(part)
            self._tell()

    def _tell(self) -> None:
        self._news.set()
        self._news = anyio.Event()
