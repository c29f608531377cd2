"""A server behind a URL, the client's side (MCP, Streamable HTTP; HTTP+SSE of 2024-11-05).

`transport.py` carries frames, a request of its own for each; `exchange.py` is one of them, and
`event_stream.py` has the streams that are requested by GET. Connections and responses are those of
`kinwire.transports.http_client`.
"""

from __future__ import annotations

__all__ = ()
