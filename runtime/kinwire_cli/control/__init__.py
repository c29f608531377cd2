"""How commands talk to a kernel that runs: JSON-RPC over a socket that only its owner can use.

`place.py` says where the socket is and keeps others away from it; `listening.py` is the side of
`kinwire up`, `client.py` that of `kinwire ps` and the others; `messages.py` is what they say.
"""

from __future__ import annotations

__all__ = ()
