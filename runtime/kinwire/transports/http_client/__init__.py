"""A server behind a URL, the client's side (MCP, Streamable HTTP; HTTP+SSE of 2024-11-05).

`transport.py` carries frames, a request of its own for each; `exchange.py` is one of them, and
`event_stream.py` has the streams that are requested by GET. Below are connections that stay open
(`pool.py`) and the reader of responses (`response.py`): code of our own, as the libraries for it
cost five times what a call costs here. `address.py`, `fields.py`, `response.py` and `queue.py` are
without I/O.
"""

from __future__ import annotations

__all__ = ()
