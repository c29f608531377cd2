"""The details of a status: `google.rpc.ErrorInfo` in a `google.rpc.Status`, as other libraries of
gRPC write and read them. Headers hold them, so they are bounded.
"""

from __future__ import annotations

__all__ = ("DETAILS", "ErrorDetails", "details_in", "encoded_details", "shortened")

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import DecodeError

if TYPE_CHECKING:  # they have no types
    ErrorInfo: Any
    Status: Any
else:
    from google.rpc.error_details_pb2 import ErrorInfo
    from google.rpc.status_pb2 import Status

DETAILS = "grpc-status-details-bin"
"""The name of the trailer."""

_SHOWN = 300  # characters of a message
_SIZE = 3072  # bytes of all details: in base64 a half of the 8 KiB that peers accept as headers


class ErrorDetails(NamedTuple):
    """What programs know an error by."""

    reason: str
    """A word in capitals."""
    domain: str
    """Whose word it is."""
    metadata: dict[str, str]
    """Further facts, as text."""


def shortened(message: str) -> str:
    """Return `message` as short as a trailer may be."""
    return message if len(message) <= _SHOWN else f"{message[: _SHOWN - 3]}..."


def encoded_details(number: int, message: str, details: ErrorDetails) -> bytes:
    """Return the value of the trailer for the status `number`.

    Facts that are too long are left out, the last ones first.
    """
    facts = dict(details.metadata)
    while True:
        info = ErrorInfo(reason=details.reason, domain=details.domain, metadata=facts)
        status = Status(code=number, message=shortened(message), details=[_packed(info)])
        encoded: bytes = status.SerializeToString()
        if len(encoded) <= _SIZE or not facts:
            return encoded
        facts.popitem()


def details_in(trailers: Iterable[tuple[str, str | bytes]]) -> ErrorDetails | None:
    """Return the details that a peer has sent; None if it sent none, or what nobody can read."""
    for name, value in trailers:
        if name == DETAILS and isinstance(value, bytes):
            return _read(value)
    return None


def _read(encoded: bytes) -> ErrorDetails | None:
    info = ErrorInfo()
    try:
        for packed in Status.FromString(encoded).details:
            if packed.Unpack(info):
                return ErrorDetails(info.reason, info.domain, dict(info.metadata))
    except DecodeError:
        pass
    return None


def _packed(info: Any) -> AnyMessage:
    packed = AnyMessage()
    packed.Pack(info)
    return packed
