"""What most extensions share: offers made of handlers, and one peer object for each session."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any

import anyio
import pytest

from kinwire import (
    Connection,
    DuplicateServerError,
    ExtensionBase,
    ExtensionHandlers,
    Host,
    RpcError,
    Server,
    Session,
    capability_from,
    pair,
)
from kinwire.mcp.context import Context
from kinwire.mcp.profile import PROFILE
from kinwire.support.background import background
from kinwire.transports.memory import memory_pair
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcp.methods import TOOLS_LIST
from kinwire_protocols.mcpl import methods as mcpl
from kinwire_protocols.mgp import methods as mgp
from kinwire_protocols.peer import Method
from tests.each import each
from tests.runtime.mcp.fake_protocols import MARKS, MARKS_RENAME, Marks, Text

pytestmark = pytest.mark.anyio

OFFERS: list[tuple[list[Method[Any, Any]], JsonObject, JsonObject]] = [
    ([], {}, {}),
    ([], {"version": "1", "a.b": 1, "a.c": None}, {"version": "1", "a": {"b": 1}}),
    ([mcpl.PUSH_EVENT], {"version": "1"}, {"version": "1", "pushEvents": True}),
    ([mcpl.SCOPE_ELEVATE, mcpl.MODEL_INFO, TOOLS_LIST], {}, {}),
    (
        [mcpl.CONTEXT_BEFORE_INFERENCE, mcpl.CONTEXT_AFTER_INFERENCE],
        {"contextHooks.afterInference.blocking": False},
        {"contextHooks": {"beforeInference": True, "afterInference": {"blocking": False}}},
    ),
    (
        [mcpl.CHANNELS_LIST, mcpl.CHANNELS_REGISTER],
        {"channels.publish": True},
        {"channels": {"publish": True, "register": True}},
    ),
    ([mcpl.CHANNELS_PUBLISH], {"channels": {"publish": False}}, {"channels": {"publish": False}}),
    ([mcpl.CHANNELS_PUBLISH], {"channels": True}, {"channels": True}),
    ([mcpl.CHANNELS_PUBLISH, mcpl.PUSH_EVENT], {"channels": None}, {"pushEvents": True}),
    ([mcpl.INFERENCE_CHUNK], {"inference": None}, {"inferenceRequest": {"streaming": True}}),
    (
        [mgp.MGP_ACCESS_QUERY, mgp.MGP_ACCESS_GRANT, mgp.MGP_HEALTH_PING],
        {"version": "0.2.0", "extensions": ["security"]},
        {"version": "0.2.0", "extensions": ["security", "lifecycle", "access_control"]},
    ),
]


@each(("rows", "gates", "expected"), OFFERS)
def test_an_offer_has_the_gates_of_handlers_and_what_is_added(
    rows: list[Method[Any, Any]], gates: JsonObject, expected: JsonObject
) -> None:
    async def handle(params: Any) -> Any:
        raise AssertionError

    handlers = ExtensionHandlers()
    for row in rows:
        handlers.add(row, handle)
    for _again in range(2):  # the second must not find the lists of the first changed
        assert capability_from(handlers, gates) == expected


class MarkPeer:
    def __init__(self, session: Session) -> None:
        self.session = session
        self.names: list[str] = []


class MarkServer(ExtensionBase[MarkPeer]):
    protocol = MARKS

    def __init__(self, *, refuses: bool = False) -> None:
        super().__init__()
        self.refuses = refuses
        self.gone: list[MarkPeer] = []
        self.handlers.add(MARKS_RENAME, self._rename)

    def join(self, session: Session, theirs: JsonObject) -> MarkPeer:
        if self.refuses:
            raise RpcError("not you", code=-32000)
        return MarkPeer(session)

    def left(self, peer: MarkPeer) -> None:
        assert peer.session.closed
        self.gone.append(peer)

    async def _rename(self, params: Text, context: Context) -> Text:
        peer = self.peer_of(context.session)
        assert peer is not None
        if params.text == "slow":
            with anyio.CancelScope(shield=True):
                await anyio.sleep(0.01)
            peer = self.peer_of(context.session)
            assert peer is not None
        peer.names.append(params.text)
        return params


class MarkHost(ExtensionBase[Session]):
    protocol = MARKS

    def join(self, session: Session, theirs: JsonObject) -> Session:
        self.must_be_only_session(session)
        return session


def marking() -> tuple[MarkServer, MarkHost, Server, Host]:
    server, host = MarkServer(), MarkHost()
    return (
        server,
        host,
        Server("s", "1", extensions=[server]),
        Host("h", "1", extensions=[host]),
    )


async def test_each_session_has_a_peer_until_it_is_over() -> None:
    extension, _, server, _ = marking()
    async with AsyncExitStack() as stack:
        for name in ("a", "b"):
            host = Host("h", "1", extensions=[MarkHost()])
            await Marks(await stack.enter_async_context(pair(server, host))).marks_rename(text=name)
        assert [peer.names for peer in extension.peers] == [["a"], ["b"]]
    assert extension.peers == []
    assert sorted(peer.names for peer in extension.gone) == [["a"], ["b"]]
    assert not any(extension.peer_of(peer.session) for peer in extension.gone)


async def test_a_handler_finds_its_peer_after_the_connection_has_ended() -> None:
    extension, _, server, host = marking()
    async with pair(server, host) as connection:
        with anyio.move_on_after(0.005):
            await Marks(connection).marks_rename(text="slow")
    assert [peer.names for peer in extension.gone] == [["slow"]]


async def test_a_peer_without_the_extension_has_no_peer_object() -> None:
    extension, _, server, _ = marking()
    async with pair(server, Host("plain", "1")) as connection:
        await connection.mcp.ping()
        assert extension.peers == []
    assert extension.gone == []


async def test_an_error_of_join_refuses_the_peer() -> None:
    extension = MarkServer(refuses=True)
    server = Server("s", "1", extensions=[extension])
    with pytest.raises(RpcError, match="not you"):
        async with pair(server, Host("h", "1", extensions=[MarkHost()])):
            raise AssertionError
    assert (extension.peers, extension.gone) == ([], [])


async def test_an_async_join_refuses_the_peer_with_what_to_write() -> None:
    class Late(MarkHost):
        async def join(self, session: Session, theirs: JsonObject) -> Session:  # type: ignore[override]
            return session  # pragma: no cover

    server = Server("s", "1", extensions=[MarkServer()])
    with pytest.raises(TypeError, match=r"Late\.join: expected a plain function, got an async"):
        async with pair(server, Host("h", "1", extensions=[Late()])):
            raise AssertionError


async def test_peer_of_refuses_what_is_not_a_session() -> None:
    _, extension, server, host = marking()
    async with pair(server, host) as connection:
        wrong: Any = connection
        with pytest.raises(TypeError, match=r"Write peer_of\(connection\.session\)"):
            extension.peer_of(wrong)
        assert extension.peer_of(connection.session) is connection.session


@asynccontextmanager
async def connected(server: Server, host: Host, server_id: str) -> AsyncGenerator[Connection]:
    host_end, server_end = memory_pair()
    async with background() as tasks:
        tasks.start_soon(server.serve, server_end)
        connection = await host.connect(host_end, server_id=server_id)
        yield connection
        await connection.aclose()


async def test_a_peer_with_an_open_session_is_refused_until_that_is_over() -> None:
    _, extension, server, host = marking()
    async with host, connected(server, host, "other"):
        async with connected(server, host, "one") as first:
            with pytest.raises(DuplicateServerError, match="marks"):
                async with connected(server, host, "one"):
                    raise AssertionError
            await first.mcp.ping()
            assert len(extension.peers) == 2
        async with connected(server, host, "one"):
            assert len(extension.peers) == 2


class Versioned(ExtensionBase[MarkPeer]):
    """It calls the gate `push` by another name, and speaks with version 1 only."""

    protocol = MARKS
    guards_plain_peers = True

    def __init__(self, offered: JsonObject | None) -> None:
        super().__init__()
        self.offered = offered
        self.done: list[str] = []

    def offer(self, theirs: JsonObject | None) -> JsonObject | None:
        return self.offered

    def understood(self, offer: JsonObject) -> JsonObject | None:
        if offer.get("version") != 1:
            return None
        return {"push": True} if "send" in offer else offer

    def attach(self, session: Session, theirs: JsonObject | None) -> None:
        self.done.append(f"attached {theirs}")
        super().attach(session, theirs)

    async def negotiated(self, session: Session) -> None:
        self.done.append("negotiated")

    def join(self, session: Session, theirs: JsonObject) -> MarkPeer:
        return MarkPeer(session)


@pytest.mark.parametrize(
    ("ours", "theirs", "active"),
    [
        ({"version": 1, "send": 1}, {"version": 1, "push": True}, True),
        ({"version": 1, "push": True}, {"version": 1, "send": 1}, True),
        ({"version": 1, "push": True}, {"version": 2, "push": True}, False),
        ({"version": 1, "push": True}, None, False),
    ],
)
async def test_an_extension_says_what_of_the_offers_counts(
    ours: JsonObject, theirs: JsonObject | None, active: bool
) -> None:
    host, server = Versioned(ours), Versioned(theirs)
    async with pair(
        Server("s", "1", extensions=[server]), Host("h", "1", extensions=[host])
    ) as connection:
        allowed = connection.session.denial_reason(MARKS_RENAME) is None
    assert allowed is active
    assert [one.startswith("attached {") for one in host.done] == [active, False]
    assert host.done[1] == "negotiated"  # a plain peer is guarded, too


class Shown(ExtensionBase[MarkPeer]):
    """It is for every client of its server, and has a tool of its own."""

    protocol = MARKS
    offers_to_plain_peers = True
    early_error = RpcError

    def offer(self, theirs: JsonObject | None) -> JsonObject | None:
        return {"push": theirs is None}

    def served_by(self, server: Server) -> None:
        @server.tool
        async def mark() -> str:
            """Mark."""
            return "marked"

    def join(self, session: Session, theirs: JsonObject) -> MarkPeer:
        return MarkPeer(session)


async def test_an_extension_shows_itself_to_plain_clients_and_adds_tools() -> None:
    async with pair(Server("s", "1", extensions=[Shown()])) as client:
        frames = [frame.data.decode() for frame in client.frames]
        assert '"push":true' in frames[1]
        assert [tool.name async for tool in client.tools()] == ["mark"]


@each(("extensions", "code"), [([], -32600), ([Shown()], -32603)])
async def test_an_extension_says_how_early_requests_are_refused(
    extensions: list[Shown], code: int
) -> None:
    server = Server("s", "1", extensions=extensions, offers=["tools"])
    client_end, server_end = memory_pair()
    async with background() as tasks:
        tasks.start_soon(server.serve, server_end)
        async with Session(client_end, routes={}, profile=PROFILE) as session:
            with pytest.raises(RpcError) as refused:
                await session.raw("tools/list")
        assert refused.value.code == code


async def test_last_words_are_awaited_once_before_an_orderly_end() -> None:
    said: list[str] = []

    async def say(word: str) -> None:
        await client.mcp.ping()
        said.append(word)
        if word == "first":
            raise RuntimeError("broken")

    async with pair(Server("s", "1")) as client:
        for word in ("first", "second"):
            client.session.before_close(partial(say, word))
        await client.aclose()
        await client.aclose()
    async with pair(Server("s", "1")) as client:
        client.session.before_close(partial(say, "at the end of the host"))
    async with pair(Server("s", "1")) as client:
        client.session.before_close(partial(say, "never"))
        await client.session.aclose()
    assert said == ["first", "second", "at the end of the host"]
