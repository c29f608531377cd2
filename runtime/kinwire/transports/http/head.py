"""What the head of a request says, without I/O (RFC 9110)."""

from __future__ import annotations

__all__ = (
    "Accepted",
    "Head",
    "accepted",
    "is_json",
    "is_utf8_json",
    "names_event_stream",
    "prefers_event_stream",
    "read_head",
)

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

_JOINED = frozenset(
    {
        b"accept",
        b"authorization",
        b"content-encoding",
        b"content-length",
        b"content-type",
        b"host",
        b"last-event-id",
        b"origin",
    }
)
_NONE: frozenset[bytes] = frozenset()
_OFFERS = (("application", "json"), ("text", "event-stream"))


class Accepted(NamedTuple):
    """Which of the two kinds of answer a client takes."""

    json: bool
    stream: bool


@dataclass(slots=True)
class Head:
    """The headers by name; the values of one that means something here are joined by commas."""

    values: dict[bytes, bytes]
    repeated: frozenset[bytes]
    size: int

    def text(self, name: bytes) -> str | None:
        """Return the value of a header, None if it is missing."""
        value = self.values.get(name)
        return None if value is None else value.decode("latin-1").strip()

    def all(self, name: bytes) -> tuple[str, ...]:
        """Return the value of a header, or an invalid value if there are several."""
        value = self.values.get(name)
        if value is None:
            return ()
        one = value.decode("latin-1").strip()
        return (one, one) if name in self.repeated else (one,)


def read_head(headers: Sequence[tuple[bytes, bytes]], also: frozenset[bytes] = _NONE) -> Head:
    """Return what ASGI has of the headers; their names are in lower case there.

    The values of a repeated header are joined if it is one that HTTP needs, or in `also`.
    """
    values = dict(headers)
    if len(values) == len(headers):  # as a rule no name occurs twice
        return Head(values, _NONE, len(b"".join([*values, *values.values()])))
    size = sum(map(len, chain.from_iterable(headers)))
    values.clear()
    repeated: set[bytes] = set()
    for name, value in headers:
        if name in values and (name in _JOINED or name in also):
            repeated.add(name)
            values[name] += b", " + value
        else:
            values[name] = value
    return Head(values, frozenset(repeated), size)


@lru_cache(maxsize=256)
def accepted(header: bytes | None) -> Accepted:
    """Return what an `Accept` header takes: everything if it is missing."""
    if header is None:
        return Accepted(json=True, stream=True)
    best = [(-1, False), (-1, False)]  # how exact the range is, and whether it is wanted
    for part in header.decode("latin-1").lower().split(","):
        media, *parameters = (piece.strip() for piece in part.split(";"))
        kind, _, name = media.partition("/")
        wanted = not any(_is_zero(parameter) for parameter in parameters)
        for number, offer in enumerate(_OFFERS):
            exactness = _exactness(kind, name, offer)
            if exactness > best[number][0]:
                best[number] = (exactness, wanted)
    return Accepted(best[0][1], best[1][1])


def names_event_stream(header: bytes | None) -> bool:
    """Return whether an `Accept` header names event streams, and does not only take everything."""
    return header is not None and b"text/event-stream" in header.lower() and accepted(header).stream


@lru_cache(maxsize=64)
def prefers_event_stream(header: bytes | None) -> bool:
    """Return whether an `Accept` header names event streams, and does not name JSON as well."""
    return names_event_stream(header) and not (
        header is not None and b"application/json" in header.lower() and accepted(header).json
    )


@lru_cache(maxsize=64)
def is_json(content_type: bytes | None) -> bool:
    """Whether a body is declared as JSON.

    A page of another origin cannot declare that without asking first.
    """
    if content_type is None:
        return False
    return content_type.partition(b";")[0].strip().lower() == b"application/json"


@lru_cache(maxsize=64)
def is_utf8_json(content_type: bytes | None) -> bool:
    """Whether a body is declared as JSON, and in no other encoding than UTF-8."""
    if content_type is None or not is_json(content_type):
        return False
    parameters = content_type.decode("latin-1").lower().split(";")[1:]
    pairs = (parameter.partition("=") for parameter in parameters)
    return all(_is_utf8(value) for name, _, value in pairs if name.strip() == "charset")


def _is_utf8(charset: str) -> bool:
    return charset.strip().strip('"') in ("utf-8", "utf8")


def _exactness(kind: str, name: str, offer: tuple[str, str]) -> int:
    if (kind, name) == offer:
        return 2
    if name != "*":
        return -1
    return 1 if kind == offer[0] else 0 if kind == "*" else -1


def _is_zero(parameter: str) -> bool:
    name, _, value = parameter.partition("=")
    return name.strip() == "q" and not value.strip().strip("0.")
