"""A server behind a URL, the client's side (MCP, Streamable HTTP; HTTP+SSE of 2024-11-05).

`transport.py` carries frames, a request of its own for each; `exchange.py` is one of them. Below
are connections that stay open (`pool.py`) and the reader of responses (`response.py`): own code,
as the libraries for it cost five times what a call costs here. Pure are `address.py`, `fields.py`,
`response.py`, `queue.py` and `backoff.py`.
"""

from __future__ import annotations

__all__ = ()
