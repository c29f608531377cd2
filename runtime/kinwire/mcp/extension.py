"""The interface of a protocol that shares a connection with MCP.

`Server(..., extensions=[...])` and `Host(..., extensions=[...])` take any number of extensions;
each is one role of one protocol. `mcp/negotiation.py` calls them during the handshake;
`rpc/interceptors.py` defines the order in which their interceptors run.
"""

from __future__ import annotations

__all__ = (
    "Extension",
    "ExtensionBase",
    "ExtensionHandlers",
    "InboundInterceptor",
    "Next",
    "OutboundInterceptor",
    "capability_from",
    "checked_extensions",
    "extensions_kind",
)

from abc import ABC, abstractmethod
from collections.abc import Coroutine, Iterable, Mapping
from copy import deepcopy
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar, cast

from kinwire.mcp.handlers import ExtensionHandlers
from kinwire.rpc.errors import DuplicateServerError
from kinwire.rpc.interceptors import InboundInterceptor, Next, OutboundInterceptor
from kinwire.rpc.negotiated import Side, put_at_path
from kinwire.support.arguments import OBJECT, ArgumentCheck, ValueKind, having, instance_of, list_of
from kinwire_protocols.base import JsonObject, RpcError
from kinwire_protocols.peer import ProtocolTable

if TYPE_CHECKING:
    from kinwire.mcp.server import Server
    from kinwire.rpc.session import Session

Peer = TypeVar("Peer")

_CAPABILITY_FROM = ArgumentCheck(
    "capability_from",
    'capability_from(self.handlers, {"version": "1"})',
    {
        "handlers": instance_of(ExtensionHandlers, "ExtensionHandlers", "self.handlers"),
        "gates": OBJECT,
    },
)

_PEER_OF = ArgumentCheck(
    "ExtensionBase.peer_of",
    "peer_of(connection.session)",
    {"session": having(("identity", "on_close"), "a session", "connection.session")},
)


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


class ExtensionBase(ABC, Generic[Peer]):
    """A start for an extension: its handlers, its offer, and one peer object for each session.

    A subclass sets `protocol` and defines `join`; it may override `offer`, `left` and `negotiated`.
    Give users a decorator for each method by `self.on = ClientOn(self.handlers.add)`. `Peer` is a
    class of yours, whose object stores what belongs to one session.
    """

    protocol: ProtocolTable
    guards_plain_peers: ClassVar[bool] = False
    """Whether `negotiated` is awaited also with a peer that lacks the extension."""
    offers_to_plain_peers: ClassVar[bool] = False
    """Whether a server shows its offer also to a client that has offered nothing."""
    early_error: ClassVar[type[RpcError] | None] = None
    """The error of requests that come to a server before `initialize`; None for that of MCP."""
    only_side: ClassVar[Side | None] = None
    """The side that the extension is for: the other one refuses it. None for both."""

    def __init__(self) -> None:
        self.handlers = ExtensionHandlers()
        """The handlers of all sessions; they may change while sessions are open."""
        self._peers: dict[Session, Peer] = {}

    @property
    def peers(self) -> list[Peer]:
        """The peers that speak the protocol and are connected, in the order of connecting."""
        return [peer for session, peer in self._peers.items() if not session.closed]

    @abstractmethod
    def join(self, session: Session, theirs: JsonObject) -> Peer:
        """Return the peer object of a session in which both sides offer the protocol.

        Add guards and interceptors to `session` here. `theirs` is the offer of the peer. An
        exception refuses the peer.
        """

    def served_by(self, server: Server) -> None:
        """Add what the extension has of its own, such as tools, to the server that it was given to.

        The server calls this once, when it is made. Nothing is added, if not overridden.
        """

    def left(self, peer: Peer) -> None:
        """Do what is necessary when the session of a peer is over; nothing, if not overridden."""

    def offer(self, theirs: JsonObject | None) -> JsonObject | None:
        """Return the gates of the methods that have handlers; see `Extension.offer`."""
        return capability_from(self.handlers, {})

    def understood(self, offer: JsonObject) -> JsonObject | None:
        """Return what counts of an offer, in the words of `protocol`; None if nothing does.

        It is called with the offers of both sides before gates apply: for names of other versions,
        and for versions that this one cannot speak with. Nothing is changed, if not overridden.
        """
        return offer

    def attach(self, session: Session, theirs: JsonObject | None) -> None:
        """Make the peer, keep it until the session is over, and serve the handlers."""
        if theirs is None:
            return
        peer = self._peers[session] = self._joined(self.join(session, theirs))
        session.on_close(lambda: self._leave(session, peer))
        session.serve(self.handlers.routes)

    async def negotiated(self, session: Session) -> None:
        """Do nothing, if not overridden; see `Extension.negotiated`."""

    def peer_of(self, session: Session) -> Peer | None:
        """Return the peer of a session; None if it speaks only MCP, or the session is over.

        The session of a `Connection` is `connection.session`, of a `Context` `context.session`.

        Raises:
            TypeError: it is not a session.
        """
        peer = self._peers.get(session)
        if peer is None:
            _PEER_OF.check(session=session)
        return peer

    def must_be_only_session(self, session: Session) -> None:
        """Check that no other open session is with the same peer: call it first in `join`.

        It is for the role that keeps data by `Session.identity`.

        Raises:
            DuplicateServerError: one is.
        """
        key = session.identity.key
        if any(one.identity.key == key for one in self._peers if not one.closed):
            raise DuplicateServerError(session.peer_id, self.protocol.name)

    def _joined(self, peer: Peer) -> Peer:
        """Return the peer that `join` has returned.

        Raises:
            TypeError: `join` is an `async` function.
        """
        if not isinstance(peer, Coroutine):
            return peer
        peer.close()
        raise TypeError(
            f"{type(self).__name__}.join: expected a plain function, got an async one. Define it "
            "with `def`, and await in `negotiated`."
        )

    def _leave(self, session: Session, peer: Peer) -> None:
        del self._peers[session]
        self.left(peer)


def capability_from(handlers: ExtensionHandlers, gates: Mapping[str, Any]) -> JsonObject:
    """Return an offer: the gates of all methods that have handlers, and what `gates` adds.

    `gates` has values by dotted path: `{"version": "1", "channels.publish": True}`. They are for
    fields that no method needs, and for methods that this side only sends. A value in `gates` is
    not changed by handlers, with one exception: a list gets the names of gates below it. So
    `{"extensions": []}` with a handler whose gate is `mgp:extensions.audit` becomes
    `{"extensions": ["audit"]}`. None leaves a gate and all below it out.

    Gates that one side alone declares, such as `server:tools`, are left out. A gate with other
    gates below it, none of which has a handler, becomes true, which includes them: put what this
    side has of them into `gates`.
    """
    _CAPABILITY_FROM.check(handlers=handlers, gates=gates)
    offer: JsonObject = {}
    for path, value in gates.items():
        if value is not None:
            put_at_path(offer, path, deepcopy(value))
    left_out = tuple(f"{path}." for path, value in gates.items() if value is None)
    rows = [route.method for route in handlers.routes.values()]
    for gate in sorted({row.gate or "" for row in rows}, reverse=True):  # `a.b` before `a`
        of, _, path = gate.partition(":")
        if of not in ("", "client", "server") and not f"{path}.".startswith(left_out):
            _declare(offer, path.split("."))
    return offer


def _declare(offer: JsonObject, path: list[str]) -> None:
    """Declare the gate at `path`, unless the offer has a value there or above it."""
    name, *rest = path
    below = offer.setdefault(name, {} if rest else True)
    if rest and isinstance(below, dict):
        _declare(cast("JsonObject", below), rest)
    elif rest and isinstance(below, list) and rest[0] not in below:
        cast("list[str]", below).append(rest[0])


def _must_be_for(side: Side, extension: Extension) -> None:
    why = _why_wrong(side, extension)
    if why is not None:
        name, other = type(extension).__name__, "Host" if side == "server" else "Server"
        raise TypeError(
            f"extensions: expected an extension for a {side}, got {name}, which {why}. Pass it to "
            f"a {other}."
        )


def _why_wrong(side: Side, extension: Extension) -> str | None:
    only = getattr(extension, "only_side", None)
    if only not in (None, side):
        return f"is for a {only}"
    handlers = getattr(extension, "handlers", None)
    if isinstance(handlers, ExtensionHandlers):
        for route in handlers.routes.values():
            if route.method.sender == side:
                return f"handles {route.method.name}, a message that a {side} sends"
    return None


def extensions_kind(example: str) -> ValueKind:
    """Return what the parameter `extensions` takes, with an example of an extension."""
    steps = ("protocol", "offer", "attach", "negotiated")
    return list_of(having(steps, "an extension", example), "several extensions")


def checked_extensions(extensions: Iterable[Extension], side: Side) -> tuple[Extension, ...]:
    """Return the extensions of one server or host.

    Raises:
        ValueError: two of them belong to the same protocol.
        TypeError: one is for the other side: it says so, or handles what its own side sends.
    """
    listed = tuple(extensions)
    names = [extension.protocol.name for extension in listed]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(
                f"extensions: expected one for each protocol, got {names.count(name)} for {name}. "
                "Remove all but one."
            )
    for extension in listed:
        _must_be_for(side, extension)
    return listed
