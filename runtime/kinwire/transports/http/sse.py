"""Event streams: bytes to events and back, without I/O (WHATWG HTML, Server-sent events).

Data stays bytes: it is a JSON-RPC frame, which has a reader of its own. The decoder keeps no more
than `limit` bytes of an event, hands over the beginning of a longer one, and skips its rest.

Left out: a character that is not UTF-8 is replaced in names and ids only, not in data.
"""

from __future__ import annotations

__all__ = ("KEEP_ALIVE", "MEDIA_TYPE", "Event", "SseDecoder", "encoded_event")

import re
from typing import NamedTuple

from kinwire.rpc.codec import HEAD, TAIL, has_id_at_its_end

MEDIA_TYPE = "text/event-stream"

KEEP_ALIVE = b":\n"
"""A comment: it shows proxies, and the side that writes it, that the stream is alive.

Without the blank line that usual parsers want: there is one that makes an event of it.
"""


_BOM = b"\xef\xbb\xbf"
_BEFORE_DATA = len(_BOM + b"data: ")
_RETRY = re.compile(rb"[0-9]{1,9}")  # at most eleven days; a longer wait is a mistake
_CR, _LF = b"\r\n"  # numbers, which `in` finds faster than bytes
_FORBIDDEN = re.compile(r"[\r\n\0]")


class Event(NamedTuple):
    """One event of a stream."""

    data: bytes
    name: str = "message"
    id: str = ""
    """The last id that the stream has named, with this event or before."""
    overlong: bool = False
    """Whether `data` is only the beginning, since the event exceeds the limit."""


class SseDecoder:
    """Makes events of the bytes of one stream, however they are cut.

    What an earlier connection of the same stream has learned is handed in: it stands until this
    one learns better.
    """

    def __init__(self, limit: int, *, last_event_id: str = "", retry_ms: int | None = None) -> None:
        self.last_event_id = last_event_id
        """What to resume after: sent as `Last-Event-ID` if it is not empty."""
        self.retry_ms = retry_ms
        """How long the stream wants its reader to wait before it reconnects; None: unsaid."""
        self._limit = limit
        self._parts: list[bytes] = []  # of a line whose end has not come
        self._size = 0  # bytes of that line
        self._skipping = False  # the rest of a line that is too long, or of a comment
        self._after_cr = False  # a newline now belongs to the line end before
        self._begun = False
        self._name = ""
        self._id = last_event_id
        self._data: list[bytes] = []
        self._kept = 0  # bytes of data
        self._head: bytes | None = None  # of an event that is too long
        self._tail = b""  # of the same
        self._cutting = False  # the skipped line belongs to it

    def feed(self, chunk: bytes) -> list[Event]:
        """Return the events that `chunk` completes."""
        if self._after_cr and chunk:
            self._after_cr = False
            chunk = chunk.removeprefix(b"\n")
        if _CR in chunk:
            self._after_cr = chunk.endswith(b"\r")
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        events: list[Event] = []
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            line = self._whole(end)
            if line is None:
                continue
            if line:
                self._field(line)
            else:
                self._dispatch(events)
        if rest:
            self._keep(rest)
        return events

    def _whole(self, end: bytes) -> bytes | None:
        """Return the line that `end` completes, None if it was skipped."""
        if self._skipping:
            self._keep(end)
            self._skipping = self._cutting = False
            return None
        if self._parts:
            self._parts.append(end)
            end = b"".join(self._parts)
            self._parts.clear()
            self._size = 0
        if not self._begun:
            self._begun = True
            end = end.removeprefix(_BOM)
        return end

    def _keep(self, part: bytes) -> None:
        if self._skipping:
            if self._cutting:
                self._tail = (self._tail + part[-TAIL:])[-TAIL:]
            return
        if not self._parts and part.startswith(b":"):  # a comment needs no memory
            self._skipping = self._begun = True
            return
        self._parts.append(part)
        self._size += len(part)
        if self._kept + self._size > self._limit + _BEFORE_DATA:
            self._begun = self._skipping = self._cutting = True
            self._cut(b"".join(self._parts))
            self._parts.clear()
            self._size = 0

    def _field(self, line: bytes) -> None:
        if line.startswith(b"data:"):
            self._add_data(line[6:] if line[5:6] == b" " else line[5:])
        elif line.startswith(b":"):
            pass
        elif len(line) > self._limit + _BEFORE_DATA:
            self._cut(line)
        else:
            name, _, value = line.partition(b":")
            self._other_field(name, value.removeprefix(b" "))

    def _other_field(self, name: bytes, value: bytes) -> None:
        if name == b"data":
            self._add_data(value)
        elif name == b"event":
            self._name = value.decode(errors="replace")
        elif name == b"id":
            if b"\0" not in value:
                self._id = value.decode(errors="replace")
        elif name == b"retry" and _RETRY.fullmatch(value):
            self.retry_ms = int(value)

    def _add_data(self, value: bytes) -> None:
        if self._head is not None:
            self._tail = (self._tail + b"\n" + value[-TAIL:])[-TAIL:]
            return
        self._data.append(value)
        self._kept += len(value) + 1  # with the newline that joins it to the next
        if self._kept - 1 > self._limit:
            self._cut(b"")
            self._tail = value[-TAIL:]

    def _cut(self, line: bytes) -> None:
        """Keep only the ends of the event from here on."""
        self._tail = line[-TAIL:]
        if self._head is None:
            begun = b"\n".join(self._data)[:HEAD]
            self._head = begun or line.removeprefix(b"data:").removeprefix(b" ")[:HEAD]
        self._data.clear()
        self._kept = 0

    def _dispatch(self, events: list[Event]) -> None:
        self.last_event_id = self._id
        if self._head is not None:
            ends = self._head + self._tail if has_id_at_its_end(self._head) else self._head
            events.append(Event(ends, self._name or "message", self._id, overlong=True))
        elif self._data:
            data = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
            events.append(Event(data, self._name or "message", self._id))
        self._forget()

    def _forget(self) -> None:
        self._name = ""
        self._id = self.last_event_id
        self._data.clear()
        self._kept = 0
        self._head = None


def encoded_event(
    data: bytes, *, name: str | None = None, id: str | None = None, retry_ms: int | None = None
) -> bytes:
    """Return one event. Whatever `data` holds, it stays one: a line end begins a line of data.

    Raises:
        ValueError: `name` or `id` holds a line end or NUL, which would make another event of it.
    """
    head = ""
    for field, value in (("event", name), ("id", id)):
        if value is not None:
            if _FORBIDDEN.search(value):
                raise ValueError(f"{field}: expected no line end and no NUL in {value!r:.60}")
            head += f"{field}: {value}\n"
    if retry_ms is not None:
        head += f"retry: {retry_ms}\n"
    if _LF in data or _CR in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").replace(b"\n", b"\ndata: ")
    return b"%bdata: %b\n\n" % (head.encode(), data)
