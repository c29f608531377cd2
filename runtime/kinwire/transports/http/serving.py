"""What every application does alike: run as a program, live and end with a server."""

from __future__ import annotations

__all__ = ("RUN_KINDS", "run_app", "serve_lifespan")

import sys
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import quote

from kinwire.support.arguments import PATH, PORT, TEXT, ValueKind
from kinwire.support.settling import settle
from kinwire.support.watchdog import Grace
from kinwire.transports.http.replies import Receive, Send
from kinwire.transports.http.security import must_be_secure

if TYPE_CHECKING:
    from kinwire.transports.http.running import StoppableApp

RUN_KINDS: dict[str, ValueKind] = {
    "host": TEXT,
    "port": PORT,
    "certfile": PATH.or_none,
    "keyfile": PATH.or_none,
}
"""What the options of `run` take."""


def run_app(  # noqa: PLR0913 - all that a program says of where it listens
    app: StoppableApp,
    path: str,
    *,
    host: str,
    port: int,
    certfile: str | None,
    keyfile: str | None,
    insecure: bool,
    grace: Grace = Grace(),  # noqa: B008 - a tuple
) -> None:
    """Serve under uvicorn until SIGINT, SIGTERM or SIGHUP, and say on stderr where `path` is.

    Raises:
        InsecureAddressError: other machines could reach it in plain text.
        OSError: nobody can listen there.
        ImportError: the extra `http` is not installed.
    """
    must_be_secure(host, tls=bool(certfile), insecure=insecure, doing="listen on")
    try:
        from kinwire.transports.http.running import bound, host_and_port, run_on
    except ModuleNotFoundError as error:
        text = f"Serving over HTTP needs the library {error.name!r}. Install kinwire[http]."
        raise ModuleNotFoundError(text, name=error.name) from None

    with bound(host, port) as listener:
        where = f"{'https' if certfile else 'http'}://{host_and_port(listener)}{quote(path)}"
        tell = partial(print, f"serving at {where}", file=sys.stderr, flush=True)
        run_on(app, listener, certfile=certfile, keyfile=keyfile, started=tell, grace=grace)


async def serve_lifespan(
    receive: Receive, send: Send, close: Callable[[], Awaitable[None]]
) -> None:
    """Tell a server that the application is ready, and `close` it when the server ends."""
    await receive()
    settle()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await close()
    await send({"type": "lifespan.shutdown.complete"})
