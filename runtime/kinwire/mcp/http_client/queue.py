"""Which frame leaves next, where each has a request of its own, and which may leave twice. Pure.

Requests may overtake each other, as their answers may. A notification is waited for: what follows
it may rest on it, such as every call on `notifications/initialized`.
"""

from __future__ import annotations

__all__ = (
    "SendQueue",
    "is_repeatable",
)

from collections import deque

from kinwire.rpc.codec import OutgoingFrame

_UNORDERED = "notifications/progress"
_REPEATABLE = frozenset(
    {
        "completion/complete",
        "initialize",
        "logging/setLevel",
        "ping",
        "prompts/get",
        "prompts/list",
        "resources/list",
        "resources/read",
        "resources/subscribe",
        "resources/templates/list",
        "resources/unsubscribe",
        "tools/list",
    }
)


class SendQueue:
    """Frames in order; of requests at most `most` are under way at a time."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._waiting: deque[OutgoingFrame] = deque()
        # Requests beyond the limit; answers go past them.
        self._parked: deque[OutgoingFrame] = deque()
        self._under_way = 0
        self._before: OutgoingFrame | None = None  # the notification that everything waits for
        self.stopped = False
        """Whether nothing may leave at all."""
        self.size = 0
        """Bytes that wait."""

    def add(self, message: OutgoingFrame) -> None:
        """Queue a frame."""
        self._waiting.append(message)
        self.size += len(message.data)

    def next(self) -> OutgoingFrame | None:
        """Return the next frame to leave, None if none may."""
        if self.stopped or self._before is not None:
            return None
        message = self._next()
        if message is None:
            return None
        self.size -= len(message.data)
        if message.kind == "request":
            self._under_way += 1
        elif _is_in_order(message):
            self._before = message
        return message

    def done(self, message: OutgoingFrame) -> None:
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
                    self.size -= len(message.data)
                    return True
        return False

    def forget_requests(self) -> None:
        """Forget the requests that have not left: nobody waits for their answers any more."""
        self._parked.clear()
        rest = [message for message in self._waiting if message.kind != "request"]
        self._waiting = deque(rest)
        self.size = sum(len(message.data) for message in rest)

    def _next(self) -> OutgoingFrame | None:
        room = self._under_way < self._most
        if self._parked and room:
            return self._parked.popleft()
        while self._waiting:
            message = self._waiting.popleft()
            if message.kind != "request" or room:
                return message
            self._parked.append(message)
        return None


def _is_in_order(frame: OutgoingFrame) -> bool:
    """Return whether what follows must not overtake a frame."""
    return frame.kind == "notification" and frame.cancels is None and frame.method != _UNORDERED


def is_repeatable(message: OutgoingFrame) -> bool:
    """Return whether a frame may be sent again when it is unknown whether it has arrived.

    A server ignores a second response, and other methods such as `tools/call` may change things.
    """
    return message.kind != "request" or message.method in _REPEATABLE
