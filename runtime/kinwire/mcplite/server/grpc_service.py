"""The gRPC binding of a `LiteServer`: what `serve_grpc` and `run_grpc` do."""

from __future__ import annotations

__all__ = ("GrpcOptions", "run", "serve")

import signal
import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import anyio

from kinwire.support.arguments import FLAG, FUNCTION, PATH, PORT, TEXT, ArgumentCheck, instance_of
from kinwire.support.signals import on_end_signal
from kinwire.support.watchdog import Grace, Watchdog, exit_despite_threads
from kinwire.transports.grpc.limits import GrpcLimits
from kinwire.transports.grpc.needed import need_asyncio, need_grpc
from kinwire.transports.http.bearer import BearerCheck
from kinwire_protocols.mcplite.descriptor import SERVICE

if TYPE_CHECKING:
    from kinwire.mcplite.server.service import LiteServer
    from kinwire.transports.grpc.listener import GrpcListener
    from kinwire.transports.http.bearer import Authenticate


class GrpcOptions(NamedTuple):
    """How a service is served; see `LiteServer.serve_grpc`."""

    host: str
    port: int
    authenticate: Authenticate | None
    certfile: str | None
    keyfile: str | None
    insecure: bool
    limits: GrpcLimits | None


_CLOSING = 1.0  # seconds for the work of promises
_LAST_STEPS = 0.5  # seconds for the event loop to end, with what tools have left running

_OPTIONS = ArgumentCheck(
    "LiteServer.serve_grpc",
    "await server.serve_grpc()",
    {},
    host=TEXT,
    port=PORT,
    authenticate=FUNCTION.or_none,
    certfile=PATH.or_none,
    keyfile=PATH.or_none,
    insecure=FLAG,
    limits=instance_of(GrpcLimits, "GrpcLimits", "GrpcLimits(in_flight=100)").or_none,
)


async def serve(
    service: LiteServer, options: GrpcOptions, started: Callable[[str], object]
) -> None:
    """See `LiteServer.serve_grpc`."""
    _OPTIONS.check(**options._asdict())
    need_grpc()
    need_asyncio()
    await _listener(service, options).serve(options.host, options.port, started)


def run(service: LiteServer, options: GrpcOptions) -> None:
    """See `LiteServer.run_grpc`."""
    limits = options.limits if isinstance(options.limits, GrpcLimits) else GrpcLimits()
    grace = Grace(limits.drain + _CLOSING, service.running_calls)
    try:
        with Watchdog(grace) as watchdog:
            anyio.run(partial(_until_a_signal, service, options, watchdog, grace.seconds))
    except KeyboardInterrupt:
        exit_despite_threads(130)
        raise SystemExit(130) from None
    exit_despite_threads(0)


async def _until_a_signal(
    service: LiteServer, options: GrpcOptions, watchdog: Watchdog, seconds: float
) -> None:
    def heed(number: int) -> None:
        watchdog.heed(130 if number == signal.SIGINT else 0)
        watchdog.over(seconds + _LAST_STEPS)  # a tool may ignore that it is cancelled

    watchdog.watch_loop()
    try:
        with anyio.CancelScope() as scope, on_end_signal(scope.cancel, heed):
            await serve(service, options, _tell)
        await service.close(_CLOSING)
    finally:
        watchdog.over(_LAST_STEPS)


def _tell(address: str) -> None:
    print(f"serving at {address}", file=sys.stderr, flush=True)


def _listener(service: LiteServer, options: GrpcOptions) -> GrpcListener:
    from kinwire.mcplite.rules.grpc_messages import CLASSES
    from kinwire.mcplite.server.grpc_calls import GrpcCalls
    from kinwire.transports.grpc.listener import GrpcListener

    limits = options.limits or GrpcLimits()
    bearers = None if options.authenticate is None else BearerCheck(options.authenticate)
    calls = GrpcCalls(service, bearers, limits)
    return GrpcListener(
        calls.handlers(),
        SERVICE,
        CLASSES.pool,
        certfile=options.certfile,
        keyfile=options.keyfile,
        insecure=options.insecure,
        limits=limits,
    )
