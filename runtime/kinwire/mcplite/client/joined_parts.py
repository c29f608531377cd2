"""The parts of a stream, joined for a server whose last message does not repeat them (A.4)."""

from __future__ import annotations

__all__ = ("JoinedParts",)

from kinwire.mcplite.client.outcomes import LitePart
from kinwire.mcplite.client.transport import StreamMessage
from kinwire.mcplite.rules.reading import joined_result
from kinwire.rpc.errors import InvalidResponseError
from kinwire_protocols.base import JsonObject


class JoinedParts:
    """Collects the text of parts, up to `most` characters."""

    def __init__(self, most: int) -> None:
        self._pieces: list[str] = []
        self._left = most

    def part(self, message: StreamMessage) -> LitePart:
        """Return a part.

        Raises:
            InvalidResponseError: it has no text.
        """
        text = message.value.get("partial")
        if not isinstance(text, str):
            raise InvalidResponseError("tools/call: a part of the stream has no text `partial`")
        self._left -= len(text)
        if self._left >= 0:
            self._pieces.append(text)
        return LitePart(text, message.value)

    def result(self, end: JsonObject) -> JsonObject:
        """Return the result at the end of the stream.

        Raises:
            InvalidResponseError: it would be longer than an answer may be.
        """
        joined = joined_result(end, self._pieces)
        if joined is not end and self._left < 0:
            raise InvalidResponseError("tools/call: the parts are longer than `answer_size` allows")
        return joined
