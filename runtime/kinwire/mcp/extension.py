"""The interface of a protocol that shares a connection with MCP.

`Server(..., extensions=[...])` and `Host(..., extensions=[...])` take any number of extensions;
each is one role of one protocol. `mcp/negotiation.py` calls them during the handshake;
`rpc/interceptors.py` defines the order in which their interceptors run.
"""

from __future__ import annotations

__all__ = (
    "Extension",
    "ExtensionHandlers",
    "InboundInterceptor",
    "Next",
    "OutboundInterceptor",
    "checked_extensions",
    "extensions_kind",
)

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

from kinwire.mcp.handlers import ExtensionHandlers
from kinwire.rpc.interceptors import InboundInterceptor, Next, OutboundInterceptor
from kinwire.support.arguments import ValueKind, having, list_of
from kinwire_protocols.base import JsonObject
from kinwire_protocols.peer import ProtocolTable

if TYPE_CHECKING:
    from kinwire.rpc.session import Session


class Extension(Protocol):
    """One role of a protocol that a connection can speak in addition to MCP.

    One object serves all sessions of its server or host, so it stores its data by session. `offer`
    and `attach` are plain functions, and no message is handled between them.
    """

    @property
    def protocol(self) -> ProtocolTable:
        """The generated table. Its `capability` says where offers sit in the handshake."""
        ...

    def offer(self, theirs: JsonObject | None) -> JsonObject | None:
        """Return what this side offers; None to leave the extension out of this session.

        A host offers first, so `theirs` is None. A server is asked only if the client offered
        something, and `theirs` is that offer. Raise an `RpcError` to refuse the client.
        """
        ...

    def attach(self, session: Session, theirs: JsonObject | None) -> None:
        """Give the session its handlers, interceptors and errors.

        `theirs` is what the peer offers, or `{}` where the protocol has no offers. It is None if
        one of the sides lacks the extension: then do nothing, or only what helps a peer that
        speaks only MCP. This runs before the first message after the handshake is handled.
        """
        ...

    async def negotiated(self, session: Session) -> None:
        """Do what the protocol does between the result of `initialize` and `initialized`.

        It is awaited if both sides have the extension, one extension after the other in listed
        order. The peer's requests are served at the same time.

        A host sends `initialized` and returns its connection after this; an error refuses the
        server, and `connect` raises it. On a server this starts once the result is queued and runs
        concurrently with the session; a handler that must wait for it is held back by a guard. A
        server may not send requests of MCP yet, and an error closes the session.
        """
        ...


def extensions_kind(example: str) -> ValueKind:
    """Return what the parameter `extensions` takes, with an example of an extension."""
    steps = ("protocol", "offer", "attach", "negotiated")
    return list_of(having(steps, "an extension", example), "several extensions")


def checked_extensions(extensions: Iterable[Extension]) -> tuple[Extension, ...]:
    """Return the extensions of one server or host.

    Raises:
        ValueError: two of them belong to the same protocol.
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
