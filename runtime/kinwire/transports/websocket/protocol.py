"""What is used of the library `websockets`: its two state machines, which do no I/O."""

from __future__ import annotations

__all__ = ("SUBPROTOCOL", "client_protocol", "server_protocol")

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from websockets.client import ClientProtocol
    from websockets.server import ServerProtocol
    from websockets.typing import Subprotocol

    from kinwire.transports.http_client.address import ServerAddress

SUBPROTOCOL = "mcp"

# At its level DEBUG the library writes headers, and so tokens, to the log.
_SILENT = logging.Logger("websockets", level=logging.CRITICAL + 1)
_NO_MESSAGE = 64 * 1024  # bytes, until the session says how large a frame may be
_MISSING = "WebSocket needs the library `websockets`. Install kinwire[ws]."


def client_protocol(address: ServerAddress) -> ClientProtocol:
    """Return the client's side of a connection that does not stand yet.

    Raises:
        ImportError: the extra `ws` is not installed.
    """
    try:
        from websockets.client import ClientProtocol
        from websockets.uri import WebSocketURI
    except ImportError:
        raise ModuleNotFoundError(_MISSING, name="websockets") from None
    path, _, query = address.target.partition("?")
    where = (address.secure, address.host, address.port, path, query)
    return ClientProtocol(
        WebSocketURI(*where),
        subprotocols=[cast("Subprotocol", SUBPROTOCOL)],
        max_size=_NO_MESSAGE,
        logger=_SILENT,
    )


def server_protocol() -> ServerProtocol:
    """Return the server's side of a connection that does not stand yet.

    Raises:
        ImportError: the extra `ws` is not installed.
    """
    try:
        from websockets.server import ServerProtocol
    except ImportError:
        raise ModuleNotFoundError(_MISSING, name="websockets") from None
    return ServerProtocol(select_subprotocol=_select, max_size=_NO_MESSAGE, logger=_SILENT)


def _select(protocol: ServerProtocol, offered: Sequence[Subprotocol]) -> Subprotocol | None:
    from websockets.exceptions import NegotiationError

    if not offered:  # a client that names none speaks this one: there is no other
        return None
    if SUBPROTOCOL not in offered:
        raise NegotiationError(f"expected the subprotocol {SUBPROTOCOL}")
    return cast("Subprotocol", SUBPROTOCOL)
