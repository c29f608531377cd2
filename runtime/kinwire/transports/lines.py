"""Newline framing (MCP, stdio): a line is one frame, and only the byte 0x0A ends it."""

from __future__ import annotations

__all__ = ("Lines",)

from collections.abc import Callable

from kinwire.rpc.codec import HEAD, TAIL, ends_of, has_id_at_its_end


class Lines:
    """Cuts what arrives into lines; of one that is too long only the ends are handed over.

    They are handed over as soon as it is too long, without the end if that is not needed.
    """

    def __init__(
        self, limit: int, line: Callable[[bytes], object], overlong: Callable[[bytes], object]
    ) -> None:
        self._limit = limit
        self._line = line
        self._overlong = overlong
        self._parts: list[bytes] = []  # of a line whose end has not come
        self._size = 0
        self._skipping = False
        self._head: bytes | None = None  # of a line that is handed over together with its end
        self._tail = b""

    def receive(self, chunk: bytes) -> None:
        """Hand over the lines that `chunk` completes."""
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            self._complete(end)
        if rest:
            self._keep(rest)

    def end(self) -> None:
        """Hand over a last line that has no newline."""
        if self._parts or self._head is not None:
            self._complete(b"")

    @property
    def unfinished(self) -> bool:
        """Return whether a line is incomplete."""
        return self._skipping or bool(self._parts)

    @property
    def torn(self) -> bool:
        """Return whether a JSON object has begun and not ended."""
        rest = b"".join(self._parts).strip()
        return rest.startswith(b"{") and not rest.endswith(b"}")

    def _complete(self, end: bytes) -> None:
        if self._parts or self._skipping:
            self._keep(end)
            if self._skipping:
                self._skip_no_more()
                return
            end = b"".join(self._parts)
            self._parts.clear()
            self._size = 0
        if len(end) > self._limit:
            self._overlong(ends_of(end))
        else:
            self._line(end)

    def _skip_no_more(self) -> None:
        self._skipping = False
        if self._head is not None:
            ends, self._head = self._head + self._tail, None
            self._overlong(ends)

    def _keep(self, part: bytes) -> None:
        if self._skipping:
            if self._head is not None:
                self._tail = (self._tail + part[-TAIL:])[-TAIL:]
            return
        self._parts.append(part)
        self._size += len(part)
        if self._size > self._limit:
            begun = b"".join(self._parts)
            self._parts.clear()
            self._size = 0
            self._skipping = True
            if has_id_at_its_end(begun):
                self._head, self._tail = begun[:HEAD], begun[-TAIL:]
            else:
                self._overlong(begun[:HEAD])
