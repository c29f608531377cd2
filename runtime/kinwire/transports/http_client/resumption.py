"""A reply that was cut off, or put off by the server: asked for again after its last event
(MCP, Streamable HTTP, Resumability)."""

from __future__ import annotations

__all__ = ("resumed",)

from kinwire.rpc.errors import InvalidResponseError
from kinwire.transports.http_client.errors import no_connection
from kinwire.transports.http_client.session import HttpClientSession
from kinwire.transports.http_client.streams import EventStream, StreamEnd

_MOST_EMPTY = 5  # attempts in a row that bring nothing


async def resumed(
    stream: EventStream, session: HttpClientSession, method: str, *, broken: bool
) -> Exception | None:
    """Read the rest of the reply once more; return why there is no more of it to be had.

    A reply whose connection was `broken` is asked for at once, one that the server has ended after
    the time that it wants.
    """
    last_event_id = stream.events.last_event_id
    if not last_event_id:
        return InvalidResponseError(f"{method}: the reply ended without the answer.")
    if stream.backoff.failures >= _MOST_EMPTY:
        why = f"the reply broke off {_MOST_EMPTY} times in a row."
        return InvalidResponseError(f"{method}: {why}")
    if not broken:
        await stream.wait()
    return _fault(await stream.read(session.get(last_event_id)), session, method)


def _fault(end: StreamEnd, session: HttpClientSession, method: str) -> Exception | None:
    if end.status == 0 and end.error is not None:
        return no_connection(session.address, end.error)
    if not end.opened:
        why = f"the reply broke off, and cannot be had again: HTTP {end.status}."
        return InvalidResponseError(f"{method}: {why}")
    return None
