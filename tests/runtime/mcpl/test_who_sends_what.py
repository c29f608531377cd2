"""The table of section 4.1 between two live sides: what is sent otherwise meets nobody."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any, NamedTuple

import pytest

from kinwire import RpcError
from kinwire.mcp.extension import Next
from kinwire.mcpl import Channels, Inference, McplHost, McplServer, PushedEvent, ScriptedProvider
from kinwire.rpc.request import Request
from kinwire.rpc.session import Session
from kinwire_protocols import mcpl
from kinwire_protocols.mcpl.methods import PROTOCOL
from tests.runtime.mcpl.fixtures_exchanges import EXCHANGES
from tests.runtime.mcpl.fixtures_pairs import MEMORY, feature, live_pair
from tests.spec.texts import text_of
from tests.specified import specified

pytestmark = pytest.mark.anyio

SETS = {
    **MEMORY,
    **{
        name: feature("pushEvents", "inferenceRequest", "tools", scoped=True, rollback=True)
        for name in ("gitlab.notifications", "files.edit", "notes.edit")
    },
    "channels.all": feature("channels.publish", "channels.observe"),
}
OWN = ("featureSets/update", "inference/chunk", "state/rollback")
"""What a server of kinwire serves itself."""
PARAMS = {one.method: one.params for one in reversed(EXCHANGES)}
LINE = re.compile(r"^\| `(\S+/\S+)` \| ([\w ]+) \| (Either|\w+ → \w+) \|$", re.MULTILINE)


class Sent(NamedTuple):
    """One way in which a message of a method may go."""

    sender: str
    notified: bool


def ways(kind: str, direction: str) -> set[Sent]:
    senders = ["Host", "Server"] if direction == "Either" else [direction.split(" → ")[0]]
    kinds = kind.split(" or ")
    return {Sent(sender, one == "Notification") for sender in senders for one in kinds}


def table() -> dict[str, set[Sent]]:
    """Return what the text says of each method."""
    part = text_of("mcpl").partition("### 4.1 ")[2].partition("\n## ")[0]
    return {name: ways(kind, direction) for name, kind, direction in LINE.findall(part)}


async def take(event: PushedEvent) -> mcpl.PushEventResult:
    return mcpl.PushEventResult(accepted=True)


async def reply(params: Any) -> Any:
    return {}


class Watch:
    """Notes what meets a handler of a session."""

    def __init__(self, sender: str, session: Session, handled: set[Sent], name: str) -> None:
        self._sender, self._handled = sender, handled
        session.intercept_inbound(self._met, PROTOCOL.methods[name])

    async def _met(self, params: Any, request: Request, go_on: Next[Any, Any]) -> Any:
        self._handled.add(Sent(self._sender, request.id is None))
        return await go_on(params)


def both() -> tuple[McplHost, McplServer]:
    """Return a host and a server that do all that there is."""
    live = McplServer(feature_sets=SETS, channels=(), model_info=True)
    for row in PROTOCOL.methods.values():
        if row.sender != "server" and row.name not in OWN:
            live.on(row)(reply)
    inference = Inference(
        provider=ScriptedProvider(),
        routing=mcpl.RoutingPolicy(default="m"),
        model=mcpl.ModelInfo(id="m"),
    )
    host = McplHost(enabled=["*"], on_push=take, inference=inference, channels=Channels())
    return host, live


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.spec(f"mcpl-4.1-{number}"), id=name)
        for number, name in enumerate(specified(PROTOCOL), start=3)
    ],
)
async def test_a_method_meets_a_handler_where_the_text_says_and_nowhere_else(name: str) -> None:
    host, live = both()
    handled = set[Sent]()
    async with live_pair(live, host) as (connection, _):
        await connection.mcp.ping()
        sides = {"Host": connection.session, "Server": live.hosts[0].session}
        Watch("Server", sides["Host"], handled, name)
        Watch("Host", sides["Server"], handled, name)
        for session in sides.values():
            await session.raw_notify(name, PARAMS[name])
            with suppress(RpcError):  # there is no handler, or it had something against it
                await session.raw(name, PARAMS[name])
            await session.raw("ping")
    expected = table()[name]
    if name == "featureSets/update":  # hosts of the draft of 0.5 also send it as a request
        expected = expected | {Sent("Host", False)}
    assert handled == expected


@pytest.mark.spec("mcpl-4-1")
def test_the_text_has_the_methods_that_are_spoken() -> None:
    assert list(table()) == list(specified(PROTOCOL))
    assert len(table()) == 19
