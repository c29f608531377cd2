"""A server that sends events."""

from __future__ import annotations

__all__ = ("EventServer",)

from kinwire.rpc.session import Session


class EventServer:
    """One session with a server of events."""

    def __init__(self, session: Session) -> None:
        self.session = session
