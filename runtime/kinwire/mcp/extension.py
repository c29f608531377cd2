"""What another protocol that shares a connection with MCP brings along.

`Server(..., extensions=[...])` and `Host(..., extensions=[...])` take any number of them; each is
one role of one protocol. `mcp/negotiation.py` has when they are asked, `interceptors.py` the order
in which they see the calls of each other and of MCP.
"""

from __future__ import annotations

__all__ = (
    "Extension",
    "ExtensionHandlers",
    "InboundInterceptor",
    "Next",
    "OutboundInterceptor",
    "checked_extensions",
)

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

from kinwire.mcp.handlers import ExtensionHandlers
from kinwire.rpc.interceptors import InboundInterceptor, Next, OutboundInterceptor
from kinwire_protocols.base import JsonObject
from kinwire_protocols.peer import ProtocolTable

if TYPE_CHECKING:
    from kinwire.rpc.session import Session


class Extension(Protocol):
    """One role of a protocol that a connection can speak beside MCP.

    One object serves every session of its server or host, so what it knows of a session it keeps
    by session. `offer` and `attach` return at once, and no message is handled between them.
    """

    @property
    def protocol(self) -> ProtocolTable:
        """The generated table. Its `capability` says where offers sit in the handshake."""
        ...

    def offer(self, theirs: JsonObject | None) -> JsonObject | None:
        """Return what this side offers; None to leave the extension out of this session.

        A host speaks first and is asked with None. A server is asked only if the client offered
        something, with that: it may not answer what was not offered. An `RpcError` refuses the
        client.
        """
        ...

    def attach(self, session: Session, theirs: JsonObject | None) -> None:
        """Give the session its handlers, interceptors and errors.

        `theirs` is what the peer offers, or `{}` where the protocol has no offers. It is None if
        one of the sides lacks the extension: then nothing is to be done, or what helps a peer that
        speaks only MCP. The first message after the handshake finds it all in place.
        """
        ...

    async def negotiated(self, session: Session) -> None:
        """Do what the protocol does between the result of `initialize` and `initialized`.

        It is awaited, one extension after the other in listed order, if both sides have it. The
        peer's requests are served meanwhile.

        A host sends `initialized` and returns its connection after this, and what this raises
        refuses the server: `connect` raises it. On a server this begins once the result is on its
        way and runs beside the session, which serves whatever comes: what must wait for it, an
        interceptor keeps waiting. It may ask the client for nothing of MCP yet. What it raises
        closes the session.
        """
        ...


def checked_extensions(extensions: Iterable[Extension]) -> tuple[Extension, ...]:
    """Return the extensions of one server or host.

    Raises:
        ValueError: two are of the same protocol.
    """
    listed = tuple(extensions)
    names = [extension.protocol.name for extension in listed]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(
                f"extensions: expected one for each protocol, got {names.count(name)} for {name}. "
                "Remove all but one."
            )
    return listed
