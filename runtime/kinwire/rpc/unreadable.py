"""What is wrong with a frame that cannot be read, in words for its sender."""

from __future__ import annotations

__all__ = ("fault_of", "parse_error")

from kinwire.rpc.errors import RpcError
from kinwire_protocols.jsonrpc.errors import InvalidRequestError, ParseError

_CUT_PAIR = "unexpected end of hex escape"  # so pydantic_core calls it
_MARK = "expected JSON, got a byte order mark before it"
_MARKS = (
    (b"\xff\xfe\0\0", "UTF-32 with a byte order mark"),  # before UTF-16, which begins alike
    (b"\0\0\xfe\xff", "UTF-32 with a byte order mark"),
    (b"\xff\xfe", "UTF-16 with a byte order mark"),
    (b"\xfe\xff", "UTF-16 with a byte order mark"),
)


def fault_of(frame: bytes, why: str) -> RpcError:
    """Return the error for a frame that is JSON for a reader that takes more than it should."""
    if _encoding_of(frame) is not None:
        return parse_error(frame, why)
    if frame.startswith(b"\xef\xbb\xbf"):
        return InvalidRequestError(f"Invalid Request: {_MARK}")
    return InvalidRequestError(
        f"Invalid Request: {why.replace(_CUT_PAIR, 'half of a surrogate pair')}"
    )


def parse_error(frame: bytes, why: str) -> ParseError:
    """Return the error for a frame that is not JSON, or not in UTF-8."""
    encoding = _encoding_of(frame)
    text = why if encoding is None else f"expected UTF-8, got {encoding}"
    return ParseError(f"Parse error: {text}")


def _encoding_of(frame: bytes) -> str | None:
    """Return what a frame is in that is not in UTF-8, None if it is."""
    for mark, name in _MARKS:
        if frame.startswith(mark):
            return name
    if b"\0" in frame[:4]:
        return "UTF-16 or UTF-32"
    try:
        frame.decode()
    except UnicodeDecodeError:
        return "other bytes"
    return None
