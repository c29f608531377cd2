"""What the JSON-RPC layer has to know of the protocol that it carries."""

from __future__ import annotations

__all__ = ("Cancellation", "Progress", "RpcProfile")

from dataclasses import dataclass
from typing import Any, NamedTuple

from kinwire_protocols.peer import Method


class Cancellation(NamedTuple):
    """The notification that takes a request back."""

    method: str
    id_field: str
    """The field of its params that holds the id of the request."""
    reason_field: str


class Progress(NamedTuple):
    """The notification that reports progress on a request."""

    method: Method[Any, Any]
    token_field: str
    """The field of its params, and of the request's metadata, that ties the two together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RpcProfile:
    """One protocol's conventions on top of JSON-RPC 2.0. The defaults are plain JSON-RPC."""

    protocol: str | None = None
    """The protocol whose requests leave out empty params. Those of its extensions send them."""

    opening: str | None = None
    """The method that opens the connection. It is never cancelled."""

    opening_hint: str | None = None
    """What to try if the opening method is not answered in time, as sentences."""

    cancellation: Cancellation | None = None
    """How a request is taken back; None where that is not possible."""

    progress: Progress | None = None
    """How progress is reported; None where it is not."""

    meta_field: str = "_meta"
    """The field of params that holds metadata of the request."""
