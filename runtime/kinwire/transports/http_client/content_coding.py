"""Coded bodies of responses: gzip and deflate (RFC 9110, section 8.4.1).

This library asks for none (`Accept-Encoding: identity`), but some servers send one anyway.
"""

from __future__ import annotations

__all__ = ("ContentCodingError", "ContentDecoder", "decoder_for")

import zlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol

from kinwire.rpc.errors import InvalidResponseError

if TYPE_CHECKING:
    from zlib import _Decompress  # pyright: ignore[reportPrivateUsage]

_PIECE = 64 * 1024  # bytes that one step expands to
_MOST_CODINGS = 5
_MOST_TIMES = 100  # what a body may grow by, in total
_ANYWAY = 4 * 1024 * 1024  # bytes that it may expand to whatever it grows by
_SUPPORTED = "gzip and deflate"


class ContentCodingError(InvalidResponseError):
    """A coded body cannot be read: the coding is unknown, the bytes are damaged, or too many."""


class ContentDecoder:
    """Decodes one body, piece by piece. Made by `decoder_for`."""

    def __init__(self, stages: list[_Stage]) -> None:
        self._stages = stages
        self._given = self._size = 0

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Yield all that can be decoded by now, in pieces of at most 64 KiB.

        The caller may stop in the middle: then the body must not be read further.

        Raises:
            ContentCodingError: the bytes are damaged, or expand beyond 4 MiB to more than 100
                times their number: reading them would hold up everything.
        """
        self._given += len(chunk)
        most = max(_ANYWAY, _MOST_TIMES * self._given)
        for piece in _through(self._stages, chunk):
            self._size += len(piece)
            if self._size > most:
                raise ContentCodingError(
                    f"its coded body expands to more than {_MOST_TIMES} times its size"
                )
            yield piece

    def finish(self) -> None:
        """Note that no bytes follow.

        Raises:
            ContentCodingError: the body ends too early.
        """
        for stage in self._stages:
            stage.finish()


class _Stage(Protocol):
    def feed(self, chunk: bytes, /) -> Iterator[bytes]: ...
    def finish(self) -> None: ...


def decoder_for(content_encoding: str) -> ContentDecoder | None:
    """Return the decoder for a body with this `Content-Encoding`, None if it is not coded.

    `content_encoding` is the value of the header, "" if it is missing. How large a body may become
    is for its reader to bound.

    Raises:
        ContentCodingError: a coding is unknown, or there are more than 5.
    """
    names = [name.strip().lower() for name in content_encoding.split(",")]
    names = [name for name in names if name not in ("", "identity")]
    if not names:
        return None
    if len(names) > _MOST_CODINGS:
        raise ContentCodingError(f"its body has more than {_MOST_CODINGS} codings")
    return ContentDecoder([_stage(name) for name in reversed(names)])


def _stage(name: str) -> _Stage:
    make = _STAGES.get(name)
    if make is None:
        raise ContentCodingError(
            f"the coding {name!r:.40} of its body is unknown: expected {_SUPPORTED}"
        )
    return make()


class _Gzip:
    """Members of gzip, one behind the other (RFC 1952)."""

    def __init__(self) -> None:
        self._member: _Decompress | None = None
        self._begun = False

    def feed(self, chunk: bytes, /) -> Iterator[bytes]:
        while chunk:
            if self._member is None:
                if self._begun:
                    chunk = chunk.lstrip(b"\0")  # padding behind the last member
                    if not chunk:
                        return
                self._begun = True
                self._member = zlib.decompressobj(16 + zlib.MAX_WBITS)
            yield from _inflated(self._member, chunk)
            if not self._member.eof:
                return
            chunk, self._member = self._member.unused_data, None

    def finish(self) -> None:
        if self._member is not None:
            raise _too_early("gzip")


class _Deflate:
    """The format of zlib, or deflate without its frame, which some servers send."""

    def __init__(self) -> None:
        self._head = b""
        self._inflater: _Decompress | None = None

    def feed(self, chunk: bytes, /) -> Iterator[bytes]:
        if self._inflater is None:
            self._head += chunk
            if len(self._head) < 2:
                return
            chunk, self._head = self._head, b""
            framed = chunk[0] & 15 == 8 and int.from_bytes(chunk[:2]) % 31 == 0
            self._inflater = zlib.decompressobj(zlib.MAX_WBITS if framed else -zlib.MAX_WBITS)
        if not self._inflater.eof:  # what is behind the end is of no use
            yield from _inflated(self._inflater, chunk)

    def finish(self) -> None:
        if self._head or (self._inflater is not None and not self._inflater.eof):
            raise _too_early("deflate")


_STAGES: dict[str, Callable[[], _Stage]] = {"gzip": _Gzip, "x-gzip": _Gzip, "deflate": _Deflate}


def _through(stages: list[_Stage], chunk: bytes) -> Iterator[bytes]:
    if not stages:
        yield chunk
        return
    first, *rest = stages
    for piece in first.feed(chunk):
        yield from _through(rest, piece)


def _inflated(inflater: _Decompress, chunk: bytes) -> Iterator[bytes]:
    try:
        while True:
            piece = inflater.decompress(chunk, _PIECE)
            if piece:
                yield piece
            chunk = inflater.unconsumed_tail
            if inflater.eof or (not chunk and len(piece) < _PIECE):
                return
    except zlib.error:
        raise ContentCodingError("its coded body is damaged") from None


def _too_early(name: str) -> ContentCodingError:
    return ContentCodingError(f"its body ends in the middle of the coding {name!r}")
