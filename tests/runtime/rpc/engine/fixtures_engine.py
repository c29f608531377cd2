"""An engine whose ports only write down what they are asked for, and a clock that stands still."""

from __future__ import annotations

__all__ = ("Bench", "Settled", "handler", "route")

import json
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

from kinwire.mcp.profile import PROFILE
from kinwire.rpc.calls import Outbound, ProgressCallback
from kinwire.rpc.engine.engine import Engine
from kinwire.rpc.engine.io import PauseReason
from kinwire.rpc.error_table import ErrorTable
from kinwire.rpc.errors import ConnectionClosedError
from kinwire.rpc.limits import Limits
from kinwire.rpc.request import Request
from kinwire.rpc.routes import Handler, Route
from kinwire.rpc.session import Session
from kinwire.transports.memory import memory_pair
from kinwire_protocols.mcp import methods
from kinwire_protocols.peer import Method, ProtocolTable


class Settled(NamedTuple):
    """What a caller was given."""

    result: object
    error: Exception | None


async def handler(params: Any, request: Any) -> Any:
    """Stand in a route: the bench runs no handler, the test says how it ends."""


def route(method: Method[Any, Any], serve: Handler = handler) -> Route:
    return Route(method, serve)


ROUTES = {
    row.name: route(row)
    for row in (
        methods.INITIALIZE,
        methods.PING,
        methods.TOOLS_CALL,
        methods.NOTIFICATIONS_INITIALIZED,
        methods.NOTIFICATIONS_MESSAGE,
    )
}


class Bench:
    """The ports, and what to push against them."""

    def __init__(
        self,
        *,
        routes: Mapping[str, Route] = ROUTES,
        limits: Limits = Limits(),
        peer_may_emit_noise: bool = False,
        protocols: tuple[ProtocolTable, ...] = (),
    ) -> None:
        self.time = 1000.0
        self.started: list[Request] = []
        self.stopped: list[Request] = []
        self.settled: dict[int, Settled] = {}
        self.gone: set[Outbound] = set()
        self.rings_at: list[float] = []
        self.holding = False
        self.rooms = 0
        self.wakes = 0
        self.ended: ConnectionClosedError | None = None
        self.session = Session(memory_pair()[0], profile=PROFILE, routes={})  # it runs nothing
        self.engine = Engine(
            self,
            routes=routes,
            profile=PROFILE,
            limits=limits,
            known=ErrorTable(protocols),
            new=partial(Request, self.session),
            peer_may_emit_noise=peer_may_emit_noise,
        )

    # EngineIO.

    def wake_writer(self) -> None:
        self.wakes += 1

    def start(self, work: Request, /) -> None:
        self.started.append(work)

    def stop(self, work: Request, /) -> None:
        self.stopped.append(work)

    def settle(self, call: Outbound, result: object, error: Exception | None, /) -> None:
        assert call.id not in self.settled, "a call was settled twice"
        self.settled[call.id] = Settled(result, error)

    def is_abandoned(self, call: Outbound, /) -> bool:
        return call in self.gone

    def call_at(self, at: float, /) -> None:
        self.rings_at.append(at)

    def now(self) -> float:
        return self.time

    def pause_reading(self, why: PauseReason = "unsent", /) -> None:
        self.holding = True

    def resume_reading(self, why: PauseReason = "unsent", /) -> None:
        self.holding = False

    def room(self) -> None:
        self.rooms += 1

    def end(self, why: ConnectionClosedError, /) -> None:
        self.ended = why

    # What a test does.

    def receive(self, **members: Any) -> None:
        """Let a message arrive."""
        self.engine.feed(json.dumps({"jsonrpc": "2.0", **members}).encode())

    def sent(self) -> list[dict[str, Any]]:
        """Return the messages that have left since the last time."""
        return [json.loads(frame) for frame in self.engine.take()]

    def answer(self) -> dict[str, Any]:
        """Return the one message that has left."""
        (message,) = self.sent()
        return message

    def requested(self, id: object = 1, method: str = "ping", **params: Any) -> Request:
        """Let a request arrive whose handler is started, and return it."""
        before = len(self.started)
        self.receive(id=id, method=method, params=params)
        (work,) = self.started[before:]
        return work

    def call(
        self,
        method: Method[Any, Any] = methods.TOOLS_CALL,
        *,
        timeout: float | None = None,
        on_progress: ProgressCallback | None = None,
        **params: Any,
    ) -> Outbound:
        """Make a call that has not left yet."""
        call = Outbound(method.name, method, None, timeout, on_progress)
        self.engine.outbound.request(call, params)
        return call

    def called(self, **options: Any) -> Outbound:
        """Make a call that has left."""
        call = self.call(**options)
        self.engine.take()
        return call

    def pass_time(self, seconds: float) -> None:
        """Move the clock; the timer rings if it is due."""
        self.time += seconds
        if self.rings_at and self.rings_at[-1] <= self.time:
            self.engine.expire()
