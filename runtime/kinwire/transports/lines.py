"""Newline framing (MCP, stdio): a line is one frame, and only the byte 0x0A ends it."""

from __future__ import annotations

__all__ = ("HEAD", "Lines")

from collections.abc import Callable

HEAD = 512  # bytes of a line that is too long


class Lines:
    """Cuts what arrives into lines; of one that is too long only the beginning is handed over."""

    def __init__(
        self, limit: int, line: Callable[[bytes], object], overlong: Callable[[bytes], object]
    ) -> None:
        self._limit = limit
        self._line = line
        self._overlong = overlong
        self._parts: list[bytes] = []  # of a line whose end has not come
        self._size = 0
        self._skipping = False

    def receive(self, chunk: bytes) -> None:
        """Hand over the lines that `chunk` completes."""
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            self._complete(end)
        if rest:
            self._keep(rest)

    def end(self) -> None:
        """Hand over a last line that has no newline."""
        if self._parts:
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
        if self._skipping:
            self._skipping = False
            return
        if self._parts:
            self._keep(end)
            if self._skipping:
                self._skipping = False
                return
            end = b"".join(self._parts)
            self._parts.clear()
            self._size = 0
        if len(end) > self._limit:
            self._overlong(end[:HEAD])
        else:
            self._line(end)

    def _keep(self, part: bytes) -> None:
        if self._skipping:
            return
        self._parts.append(part)
        self._size += len(part)
        if self._size > self._limit:
            head = b"".join(self._parts)[:HEAD]
            self._parts.clear()
            self._size = 0
            self._skipping = True
            self._overlong(head)
