"""Who a peer is in what this side stores: never by the name that the peer gives itself.

The key of a peer is a digest, so that a command line or a URL with secrets in it cannot be read
from a store or a log.
"""

from __future__ import annotations

__all__ = ("PeerIdentity", "is_transient")

import secrets
from dataclasses import dataclass
from typing import Self

from kinwire.support.json_values import short_digest

_TRANSIENT = "transient-"


@dataclass(frozen=True, slots=True)
class PeerIdentity:
    """The identity of the peer of one session."""

    key: str
    """What its stored data is kept under: 32 characters, or longer if it is `transient`."""
    server_id: str | None = None
    """The name that the host gave it; None without one. Never a name that the peer chose."""

    @classmethod
    def of(cls, address: str | None, server_id: str | None = None) -> Self:
        """Return the identity of a peer: by `server_id`, else by `Transport.address`.

        With neither the key is random, and belongs to this connection only.
        """
        if server_id:
            return cls(short_digest("server_id", server_id), server_id)
        if address is not None:
            return cls(short_digest("address", address))
        return cls(_TRANSIENT + secrets.token_hex(16))

    @property
    def transient(self) -> bool:
        """Whether nothing names the peer beyond this connection."""
        return is_transient(self.key)


def is_transient(key: str) -> bool:
    """Return whether a key of a peer is random, so that nothing is stored under it."""
    return key.startswith(_TRANSIENT)
