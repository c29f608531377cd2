"""A client of a server's events."""

from __future__ import annotations

__all__ = ("ClientPeer",)

from kinwire.rpc.session import Session


class ClientPeer:
    """One session with a client, and which client it is."""

    def __init__(self, session: Session) -> None:
        self.session = session
