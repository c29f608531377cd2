"""WebSocket, both sides: subprotocol `mcp`, a text frame a message.

`connection.py` carries frames once a connection stands, whoever asked for it; `client.py` and
`listener.py` ask and are asked; `asgi.py` is for servers that have their own. Framing and handshake
are those of the library `websockets` (extra `ws`), without its I/O.
"""

from __future__ import annotations

__all__ = ()
