"""The members of messages between two live sides: what is not of the text's shape is refused."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from copy import deepcopy
from typing import Any, Literal, NamedTuple

import pytest

from kinwire.mcpl import (
    Channels,
    Inference,
    McplHost,
    ModelAnswer,
    Scopes,
    ScriptedProvider,
    UserTurn,
)
from kinwire.rpc.session import Session
from kinwire_protocols import mcpl
from kinwire_protocols.base import JsonObject
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from tests.runtime.mcpl.fixtures_chat import Chat
from tests.runtime.mcpl.fixtures_pairs import feature, live_pair
from tests.spec.fenced import at

pytestmark = pytest.mark.anyio

SETS = {
    "files.edit": feature("tools", "inferenceRequest", "pushEvents", scoped=True),
    "channels.all": feature("channels.publish", "channels.observe"),
}
ELEVATE: JsonObject = {"featureSet": "files.edit", "scope": {"label": "/a", "payload": {"n": [1]}}}
INFER: JsonObject = {
    "featureSet": "files.edit",
    "messages": [{"role": "user", "content": "Summarize"}],
    "preferences": {"maxTokens": 500, "temperature": 0.7},
}
CHANNEL: JsonObject = {
    "id": "chat:#a",
    "type": "chat",
    "label": "#a",
    "direction": "bidirectional",
    "address": {"deep": [{"x": None}]},
    "metadata": {"": 1.5},
}
REGISTER: JsonObject = {"channels": [CHANNEL]}
OPEN: JsonObject = {"type": "chat", "address": {"channel": "#b"}, "metadata": {"n": 1}}
CLOSE: JsonObject = {"channelId": "discord:#b"}
INCOMING: JsonObject = {
    "messages": [
        {
            "channelId": "chat:#a",
            "messageId": "m1",
            "threadId": "t_42",
            "author": {"id": "u_777", "name": "Alice"},
            "timestamp": "2026-03-05T10:30:00Z",
            "content": [{"type": "text", "text": "What's the status?"}],
            "metadata": {"mentions": ["@bob"]},
        }
    ]
}
MESSAGE = "/messages/0"
OPENED = mcpl.ChannelDescriptor(id="discord:#b", type="chat", label="#b", direction="bidirectional")


class Case(NamedTuple):
    """A message, and the places in it with what may not stand there; `...` for nothing at all."""

    sender: Literal["host", "server"]
    method: str
    params: JsonObject
    wrong: list[tuple[str, Any]]


def case(rows: str, *members: Any) -> Any:
    one = Case(*members)
    marks = pytest.mark.spec(*(f"mcpl-{row}" for row in rows.split()))
    return pytest.param(one, marks=marks, id=f"{one.method} {rows}")


CASES = [
    case("7.3-1", "server", "scope/elevate", ELEVATE, [("/scope/label", ...), ("/scope/label", 7)]),
    case("7.3-2", "server", "scope/elevate", ELEVATE, [("/scope/payload", "/etc")]),
    case("7.4-2", "server", "scope/elevate", ELEVATE, [("/featureSet", ...), ("/scope", ...)]),
    case(
        "11.1-2",
        "server",
        "inference/request",
        INFER,
        [(f"{MESSAGE}/role", ...), (f"{MESSAGE}/content", ...), (f"{MESSAGE}/content", 7)],
    ),
    case(
        "11.2-5",
        "server",
        "inference/request",
        INFER,
        [("/preferences/maxTokens", "many"), ("/preferences/maxTokens", 1.5)],
    ),
    case("11.2-6", "server", "inference/request", INFER, [("/preferences/temperature", "hot")]),
    case(
        "14.2-2",
        "server",
        "channels/register",
        REGISTER,
        [("/channels/0/type", ...), ("/channels/0/label", ...), ("/channels/0/label", 1)],
    ),
    case(
        "14.2-4",
        "server",
        "channels/register",
        REGISTER,
        [("/channels/0/address", "#a"), ("/channels/0/metadata", [5])],
    ),
    case(
        "14.3-4",
        "host",
        "channels/open",
        OPEN,
        [("/type", ...), ("/address", "#b"), ("/metadata", "m")],
    ),
    case("14.3-6", "host", "channels/close", CLOSE, [("/channelId", ...), ("/channelId", 1)]),
    case(
        "14.3-13",
        "server",
        "channels/incoming",
        INCOMING,
        [
            *((f"{MESSAGE}/{name}", ...) for name in ("channelId", "messageId", "content")),
            *((f"{MESSAGE}/{name}", 5) for name in ("threadId", "author", "timestamp", "metadata")),
        ],
    ),
]


class Sides(NamedTuple):
    sessions: dict[str, Session]
    provider: ScriptedProvider
    turns: list[UserTurn]
    opened: list[mcpl.ChannelsOpenParams]


@asynccontextmanager
async def both() -> AsyncGenerator[Sides]:
    """Yield two sides that do all that the cases need, with a channel that is open already."""
    turns, opened = list[UserTurn](), list[mcpl.ChannelsOpenParams]()
    chat = Chat(sets=SETS, channels=(), flags=("publish", "observe", "streaming"))

    @chat.live.on.channels_open
    async def open(params: mcpl.ChannelsOpenParams) -> mcpl.ChannelsOpenResult:
        opened.append(params)
        return mcpl.ChannelsOpenResult(channel=OPENED)

    @chat.live.on.channels_close
    async def close(params: mcpl.ChannelsCloseParams) -> mcpl.ChannelsCloseResult:
        return mcpl.ChannelsCloseResult(closed=True)

    async def take(turn: UserTurn) -> None:
        turns.append(turn)

    provider = ScriptedProvider(ModelAnswer("x", "m"))
    host = McplHost(
        enabled=["*"],
        scopes=Scopes(lists={"files.edit": mcpl.ScopeRules(whitelist=["/a"])}),
        channels=Channels(on_turn=take),
        inference=Inference(provider=provider, routing=mcpl.RoutingPolicy(default="m")),
    )
    async with live_pair(chat.live, host, chat.server) as (connection, live):
        await connection.mcp.ping()
        await live.channels.open("chat", {"channel": "#b"})
        opened.clear()
        sessions = {"host": connection.session, "server": chat.live.hosts[0].session}
        yield Sides(sessions, provider, turns, opened)


@pytest.mark.parametrize("case", CASES)
async def test_a_message_of_the_shape_of_the_text_is_taken_and_no_other(case: Case) -> None:
    async with both() as sides:
        session = sides.sessions[case.sender]
        if case.method == "channels/incoming":
            await session.raw("channels/register", REGISTER)
        for pointer, value in case.wrong:
            params = deepcopy(case.params)
            whole, _, name = pointer.rpartition("/")
            container = at(params, whole)
            if value is ...:
                del container[name]
            else:
                container[name] = value
            assert f"{case.method}#{pointer}: expected" in await refusal(session, case, params)
        assert (sides.provider.requests, sides.turns, sides.opened) == ([], [], [])
        await session.raw(case.method, case.params)
        await check_effect(case, sides)


async def refusal(session: Session, case: Case, params: JsonObject) -> str:
    """Return why a message is refused: its request, or a message of a channel by itself."""
    if case.method == "channels/incoming":
        (outcome,) = (await session.raw(case.method, params))["results"]
        assert outcome["accepted"] is False
        return str(outcome["reason"])
    with pytest.raises(InvalidParamsError) as raised:
        await session.raw(case.method, params)
    return str(raised.value)


async def check_effect(case: Case, sides: Sides) -> None:
    """Check that what was taken got where it was meant for, whole."""
    if case.method == "inference/request":
        (request,) = sides.provider.requests
        assert (request.max_tokens, request.temperature) == (500, 0.7)
        assert [(one.role, one.content) for one in request.messages] == [("user", "Summarize")]
    elif case.method == "channels/register":
        listed = await sides.sessions["server"].raw("channels/list")
        assert CHANNEL in listed["channels"]
    elif case.method == "channels/open":
        (params,) = sides.opened
        assert (params.type, params.address, params.metadata) == tuple(OPEN.values())
    elif case.method == "channels/incoming":
        ((message,),) = (turn.messages for turn in sides.turns)
        assert message.model_dump(by_alias=True, exclude_none=True) == INCOMING["messages"][0]
