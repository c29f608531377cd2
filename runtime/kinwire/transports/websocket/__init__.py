"""WebSocket, both sides: subprotocol `mcp`, a text frame a message.

`connection.py` carries frames after the handshake, on both sides; `client.py` and `listener.py`
have the two sides of the handshake; `asgi.py` is for ASGI servers, which frame messages themselves.
Framing and handshake are those of the library `websockets` (extra `ws`), without its I/O.
"""

from __future__ import annotations

__all__ = ()
