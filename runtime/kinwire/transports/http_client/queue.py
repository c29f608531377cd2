"""Which frame leaves next, where each has a request of its own. Pure.

Requests may overtake each other, as their answers may. A notification is waited for: what follows
it may rest on it, such as every call on `notifications/initialized`.
"""

from __future__ import annotations

__all__ = ("SendQueue",)

from collections import deque

from kinwire.transports.http_client.frames import Outgoing


class SendQueue:
    """Frames in order; of requests at most `most` are under way at a time."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._waiting: deque[Outgoing] = deque()
        self._parked: deque[Outgoing] = deque()  # requests beyond the limit: replies go past them
        self._under_way = 0
        self._before: Outgoing | None = None  # the notification that everything waits for
        self.stopped = False
        """Whether nothing may leave at all."""
        self.size = 0
        """Bytes that wait."""

    def add(self, message: Outgoing) -> None:
        """Queue a frame."""
        self._waiting.append(message)
        self.size += len(message.frame)

    def next(self) -> Outgoing | None:
        """Return the next frame to leave, None if none may."""
        if self.stopped or self._before is not None:
            return None
        message = self._next()
        if message is None:
            return None
        self.size -= len(message.frame)
        if message.kind == "request":
            self._under_way += 1
        elif message.in_order:
            self._before = message
        return message

    def done(self, message: Outgoing) -> None:
        """A frame that `next` has returned is answered, or never will be."""
        if message.kind == "request":
            self._under_way -= 1
        elif message is self._before:
            self._before = None

    def take_back(self, identifier: int) -> bool:
        """Forget the request of this id if it has not left; say whether it was here."""
        for queue in (self._parked, self._waiting):
            for message in queue:
                if message.id == identifier:
                    queue.remove(message)
                    self.size -= len(message.frame)
                    return True
        return False

    def forget_requests(self) -> None:
        """Forget the requests that have not left: nobody waits for their answers any more."""
        self._parked.clear()
        rest = [message for message in self._waiting if message.kind != "request"]
        self._waiting = deque(rest)
        self.size = sum(len(message.frame) for message in rest)

    def _next(self) -> Outgoing | None:
        room = self._under_way < self._most
        if self._parked and room:
            return self._parked.popleft()
        while self._waiting:
            message = self._waiting.popleft()
            if message.kind != "request" or room:
                return message
            self._parked.append(message)
        return None
