"""The stream on which a server speaks by itself: opened again and again, as long as it offers one
(MCP, Streamable HTTP, GET)."""

from __future__ import annotations

__all__ = ("NO_CALL", "read_get_stream")

from collections.abc import Awaitable, Callable

from kinwire.transports.http_client.session import HttpClientSession
from kinwire.transports.http_client.streams import EventStream

NO_CALL = 0
"""No request of a session has this id: responses do not belong on this stream."""

_TRY_AGAIN = (408, 409, 425, 429)  # what else is below 500 says that there is no such stream


async def read_get_stream(
    stream: EventStream, session: HttpClientSession, renew: Callable[[str | None], Awaitable[bool]]
) -> None:
    """Have what comes handed over; return when the server offers no such stream.

    `renew` gets other credentials, if it can.
    """
    renewed = False
    while True:
        end = await stream.read(session.get(stream.events.last_event_id))
        if end.status == 401 and not renewed:
            renewed = await renew(end.headers.get("www-authenticate"))
            if renewed:
                continue
        if end.opened:
            renewed = False
        elif 200 <= end.status < 500 and end.status not in _TRY_AGAIN:
            return
        await stream.wait()
