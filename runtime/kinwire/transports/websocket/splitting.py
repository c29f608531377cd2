"""Frames of any length as pieces: the state machine behind holds no whole message. Pure.

WebSocket allows a sender to split a message wherever it likes (RFC 6455, section 5.4). A long frame
is split here as it arrives, so that a message beyond the limit can be skipped.
"""

from __future__ import annotations

__all__ = ("LONGEST_PIECE", "FrameSplitter", "HeadReader")

LONGEST_PIECE = 1 << 20
"""Bytes that a piece has at most, as no more are fed at a time."""

_SIZE_16, _SIZE_64 = 126, 127
_LONG = 64 * 1024
_MOST = 1 << 63  # longer ones are not legal
_DATA = (0, 1, 2)  # opcodes
_FINAL, _MASKED = 0x80, 0x80
_HEAD_END = b"\r\n\r\n"


class FrameSplitter:
    """The frames of one connection, from the first one on."""

    def __init__(self) -> None:
        self._begun = b""  # a header, as far as it has come
        self._left = 0  # bytes of the payload that follow
        self._is_long = False
        self._first = 0  # byte of the header of the next piece
        self._key = b""  # mask of the next piece, none if the frame has none

    def feed(self, data: bytes) -> bytes:
        """Return what has arrived, long frames as pieces; a header is kept until it is whole."""
        if not self._is_long and len(data) <= self._left:
            self._left -= len(data)
            return data
        if not self._left and not self._begun and _is_whole_frame(data):
            return data
        data, self._begun = self._begun + data, b""
        return b"".join(self._parts(data))

    def _parts(self, data: bytes) -> list[bytes]:
        found: list[bytes] = []
        done = at = 0  # what is before `done` is in `found`, or dropped
        while at < len(data):
            if self._left:
                end = min(at + self._left, len(data))
                if self._is_long:
                    found.append(self._piece(data[at:end]))
                    done = end
                self._pass(end - at)
            else:
                end = self._read_header(data, at)
                if end == 0:
                    self._begun = data[at:]
                    return [*found, data[done:at]]
                if self._is_long:
                    found.append(data[done:at])
                    done = end
            at = end
        return [*found, data[done:]]

    def _read_header(self, data: bytes, at: int) -> int:
        """Read a header; return where it ends, 0 if it is not whole."""
        if len(data) < at + 2:
            return 0
        second = data[at + 1]
        length, end = second & 0x7F, at + 2
        if length >= _SIZE_16:
            end += 2 if length == _SIZE_16 else 8
            length = int.from_bytes(data[at + 2 : end])
        if second & _MASKED:
            end += 4
        if len(data) < end:
            return 0
        self._left = length
        self._is_long = _LONG < length < _MOST and data[at] & 0x0F in _DATA
        if self._is_long:
            self._first, self._key = data[at], data[end - 4 : end] if second & _MASKED else b""
        return end

    def _piece(self, part: bytes) -> bytes:
        """Return the next bytes of a long frame as a frame of their own."""
        is_last = len(part) == self._left
        first = self._first if is_last else self._first & ~_FINAL
        masked = _MASKED if self._key else 0
        piece = bytes([first, masked | _SIZE_64]) + len(part).to_bytes(8) + self._key + part
        self._first &= 0xF0  # the next one is a continuation
        turn = len(part) % 4
        self._key = self._key[turn:] + self._key[:turn]
        return piece

    def _pass(self, size: int) -> None:
        """Leave these bytes of a payload behind."""
        self._left -= size
        self._is_long = self._is_long and self._left > 0


class HeadReader:
    """What arrives until the handshake stands: a head, and perhaps the first frames behind it."""

    def __init__(self) -> None:
        self._last = b""
        self.is_whole = False
        self.rest = b""
        """What came behind the head."""

    def feed(self, data: bytes) -> bytes:
        """Return what of `data` belongs to the head."""
        if self.is_whole:
            self.rest += data
            return b""
        seen = self._last + data
        end = seen.find(_HEAD_END)
        if end < 0:
            self._last = seen[1 - len(_HEAD_END) :]
            return data
        cut = end + len(_HEAD_END) - len(self._last)
        self.is_whole, self.rest = True, data[cut:]
        return data[:cut]


def _is_whole_frame(data: bytes) -> bool:
    """Return whether this is one frame of at most 64 KiB, the usual case."""
    if len(data) < 4:
        return False
    length, size = data[1] & 0x7F, 2 + (4 if data[1] & _MASKED else 0)
    if length == _SIZE_16:
        return len(data) == size + 2 + (data[2] << 8 | data[3])
    return length < _SIZE_16 and len(data) == size + length
