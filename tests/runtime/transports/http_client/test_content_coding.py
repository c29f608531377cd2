"""Coded bodies, however they are cut."""

from __future__ import annotations

import gzip
import json
import zlib
from collections import deque
from collections.abc import Callable

import pytest

from kinwire.transports.http_client.content_coding import ContentCodingError, decoder_for
from tests.each import each

BODY = json.dumps([{"number": number, "text": "x" * number} for number in range(500)]).encode()


def raw_deflate(body: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return compressor.compress(body) + compressor.flush()


def decoded(coding: str, coded: bytes, *, step: int = 1 << 20) -> bytes:
    decoder = decoder_for(coding)
    assert decoder is not None
    found = b""
    for at in range(0, len(coded), step):
        found += b"".join(decoder.feed(coded[at : at + step]))
    decoder.finish()
    return found


GOOD: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "upper case": ("GZIP", gzip.compress),
    "the old name": ("x-gzip", gzip.compress),
    "two members": ("gzip", lambda body: gzip.compress(body[:9]) + gzip.compress(body[9:])),
    "zeros behind": ("gzip", lambda body: gzip.compress(body) + b"\0\0\0"),
    "zlib": ("deflate", zlib.compress),
    "raw deflate": ("deflate", raw_deflate),
    "bytes behind": ("deflate", lambda body: zlib.compress(body) + b"more"),
    "two codings": ("deflate, gzip", lambda body: gzip.compress(zlib.compress(body))),
    "with identity": ("identity ,, gzip", gzip.compress),
}


@each("step", [1, 7, 1 << 20])
@each("name", GOOD)
def test_a_coded_body_is_read(name: str, step: int) -> None:
    coding, encode = GOOD[name]
    assert decoded(coding, encode(BODY), step=step) == BODY


@pytest.mark.parametrize("coding", ["", "identity", " Identity , "])
def test_a_body_without_a_coding_needs_no_decoder(coding: str) -> None:
    assert decoder_for(coding) is None


@pytest.mark.parametrize("coding", ["gzip", "deflate", "gzip, deflate"])
def test_an_empty_body_may_have_any_coding(coding: str) -> None:
    assert decoded(coding, b"") == b""


@pytest.mark.parametrize("wbits", [31, 15, -15])
def test_what_was_flushed_can_be_read(wbits: int) -> None:
    compressor = zlib.compressobj(wbits=wbits)
    decoder = decoder_for("gzip" if wbits == 31 else "deflate")
    assert decoder is not None
    for number in range(3):
        event = b"data: %d\n\n" % number
        coded = compressor.compress(event) + compressor.flush(zlib.Z_SYNC_FLUSH)
        assert b"".join(decoder.feed(coded)) == event


@pytest.mark.parametrize(
    ("coding", "name"), [("br", "'br'"), ("gzip, zstd", "'zstd'"), ("a" * 99, "'" + 39 * "a")]
)
def test_an_unknown_coding_is_named(coding: str, name: str) -> None:
    with pytest.raises(ContentCodingError) as caught:
        decoder_for(coding)
    assert str(caught.value) == (
        f"the coding {name} of its body is unknown: expected gzip and deflate"
    )


def test_more_than_five_codings_are_refused() -> None:
    with pytest.raises(ContentCodingError, match="more than 5 codings"):
        decoder_for(",".join(["gzip"] * 6))


@pytest.mark.parametrize("name", ["gzip", "zlib", "raw deflate", "two members", "two codings"])
def test_up_to_4_mib_any_factor_is_read(name: str) -> None:
    coding, encode = GOOD[name]
    assert len(decoded(coding, encode(bytes(4_000_000)))) == 4_000_000


def test_a_chunk_expands_in_pieces() -> None:
    decoder = decoder_for("gzip, gzip")
    assert decoder is not None
    bomb = gzip.compress(gzip.compress(bytes(4_000_000)))
    pieces = decoder.feed(bomb)
    assert len(next(pieces)) <= 64 * 1024
    assert 64 * 1024 + sum(map(len, pieces)) >= 4_000_000


@pytest.mark.parametrize("name", ["gzip", "zlib", "raw deflate", "two codings"])
def test_a_body_without_a_limit_grows_by_a_bounded_factor(name: str) -> None:
    coding, encode = GOOD[name]
    decoder = decoder_for(coding)
    assert decoder is not None
    bomb = encode(b": x\n" * 5_000_000)
    found: deque[bytes] = deque()
    with pytest.raises(ContentCodingError, match="more than 100 times its size"):
        found.extend(decoder.feed(bomb))
    assert sum(map(len, found)) <= max(100 * len(bomb), 4 * 1024 * 1024)
    lines = b"".join(b"%d: a line\n" % (number * 7919 % 99_991) for number in range(300_000))
    assert decoded(coding, encode(lines)) == lines


@pytest.mark.parametrize("name", ["gzip", "zlib", "raw deflate"])
def test_a_damaged_body_is_refused(name: str) -> None:
    coding, encode = GOOD[name]
    coded = bytearray(encode(BODY))
    coded[20:30] = b"\xff" * 10
    with pytest.raises(ContentCodingError):
        decoded(coding, bytes(coded))


def test_a_plain_body_that_says_it_is_coded_is_refused() -> None:
    with pytest.raises(ContentCodingError, match="its coded body is damaged"):
        decoded("gzip", b'{"jsonrpc": "2.0"}')


@pytest.mark.parametrize("name", ["gzip", "zlib", "raw deflate", "two members", "two codings"])
def test_a_body_that_ends_too_early_is_refused(name: str) -> None:
    coding, encode = GOOD[name]
    with pytest.raises(ContentCodingError, match="ends in the middle of the coding"):
        decoded(coding, encode(BODY)[:-1])


def test_one_byte_of_deflate_is_not_a_body() -> None:
    with pytest.raises(ContentCodingError, match="ends in the middle of the coding 'deflate'"):
        decoded("deflate", b"x")
