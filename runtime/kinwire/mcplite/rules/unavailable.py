"""The error of a server that cannot answer now, by HTTP and gRPC (sections 4.4 and 5.5)."""

from __future__ import annotations

__all__ = ("RETRY_AFTER", "ServerUnavailableError")

from typing import Final

from kinwire_protocols.jsonrpc.errors import InternalError

RETRY_AFTER: Final = 1
"""Seconds after which a client may try again: as `Retry-After`, and in the data of the error."""


class ServerUnavailableError(InternalError):
    """The server cannot answer now; the same call may succeed later.

    The closed list of section 4.4 has no code for it, so it is an internal error whose data has
    `retry_after_ms`. Over HTTP its status is 503, over gRPC UNAVAILABLE.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message, data={"retry_after_ms": RETRY_AFTER * 1000})
