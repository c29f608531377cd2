"""The demo of MCP Live: four servers, each a file to start from, and a host that talks to them.

`memory.py` and `redaction.py` are the examples of MCPL 15, `notes.py` keeps state that can be
rolled back, `chat.py` connects a chat, which is `rooms.py`. `everything.py` is all of them as one.
`desk.py` is the host, `conversation.py` what happens, `wire.py` reports each message.
"""

from __future__ import annotations

__all__ = ()
