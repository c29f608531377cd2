"""What `kinwire tap` writes and `kinwire replay` plays: `lines.py` has the form of a recording.

Writing: `pump.py` carries the bytes of a session, `recorder.py` keeps them. Playing: `playback.py`
has the rules, `messages.py` compares, `replaying.py` talks to the peer.
"""

from __future__ import annotations

__all__ = ()
