"""HTTP+SSE, the transport of the first version of MCP: one stream for all that the server sends,
whose first event says where to send the rest (MCP 2024-11-05, Transports).

It shares its URL with Streamable HTTP. A stream is asked for without a session, and the session
ends with it. Its id is part of the address that messages go to, as clients know no other way: a
log of requests should leave out what comes behind the question mark.
"""

from __future__ import annotations

__all__ = ("first_event", "named_session")

from urllib.parse import parse_qs

from kinwire.transports.http.sse import encoded_event

_LONGEST = 200  # bytes of a query; the one that is handed out is shorter


def first_event(id: str) -> bytes:
    """Return the event that says where to send messages: relative, so proxies may rename."""
    return encoded_event(f"?session_id={id}".encode(), name="endpoint")


def named_session(query: bytes) -> str | None:
    """Return the session that the address of a message names."""
    if not query or len(query) > _LONGEST:
        return None
    return parse_qs(query.decode("latin-1")).get("session_id", [None])[0]
