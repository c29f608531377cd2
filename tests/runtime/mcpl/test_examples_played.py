"""Every example of the text is played: sent by the side that sends it, answered by the other.

`fixtures_exchanges.py` has them, as the document has. What goes over the wire is the example, what
the typed handler is given is the example, and what comes back is the example of the answer.
"""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import pytest

from kinwire import Host, RpcError, Server, stdio
from kinwire.mcp.connection import Connection
from kinwire.mcp.urls import transport_to
from kinwire.mcpl.rules.offers import read_offer
from kinwire.support.background import background
from kinwire.transports.memory import memory_pair
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject, to_wire
from kinwire_protocols.mcp.methods import TOOLS_CALL
from kinwire_protocols.mcpl.methods import PROTOCOL
from tests.generated.messages import DOCUMENTS
from tests.runtime.mcpl.fixtures_exchanges import CARRIED, EXCHANGES, OFFERED, Exchange, text
from tests.runtime.programs import plays
from tests.runtime.programs.plays import OWN, Heard, Player, server_of, to_json
from tests.runtime.transports.fixtures_recorded import Recorded
from tests.runtime.transports.fixtures_serving import Served, served
from tests.spec.fenced import rows_of

pytestmark = pytest.mark.anyio

IN_THREAD = ("http", "ws")
slow = partial(pytest.param, marks=pytest.mark.slow)


class Stage(NamedTuple):
    """Both sides, and what goes over the wire between them."""

    player: Player
    """The host's; the server's is steered by its tools."""
    connection: Connection
    recorded: Recorded

    async def play(self, exchange: Exchange) -> None:
        """Play it, and check what each side sees of it."""
        heard, answer = await (
            self._by_host(exchange) if exchange.sender == "client" else self._by_server(exchange)
        )
        row = PROTOCOL.methods.get(exchange.method, TOOLS_CALL)
        notified = exchange.answer is None
        assert text(heard) == text(
            [(exchange.method, row.params.__name__, exchange.params, notified)]
        )
        assert text(answer) == text(exchange.answer)
        self._check_wire(exchange)

    async def _by_host(self, exchange: Exchange) -> tuple[Any, Any]:
        row = PROTOCOL.methods.get(exchange.method, TOOLS_CALL)
        params, session = row.decode_params(exchange.params), self.connection.session
        answer: JsonObject | None = None
        if exchange.answer is None:
            await session.notify(row, params)
        else:
            await self._tool("tell_answer", method=exchange.method, answer=exchange.answer)
            try:
                answer = {"result": to_wire(await session.call(row, params))}
            except RpcError as error:
                answer = {"error": as_told(error)}
        while not (heard := json.loads(await self._tool("tell_heard"))):
            pass  # a notification is on its way yet; the caller limits the time
        return heard, answer

    async def _by_server(self, exchange: Exchange) -> tuple[list[Heard], Any]:
        if exchange.answer is not None:
            self.player.answers[exchange.method] = exchange.answer
        given = {"method": exchange.method, "params": exchange.params}
        answer = json.loads(await self._tool("send", **given, notified=exchange.answer is None))
        if answer is not None and "error" in answer:
            answer["error"]["data"] = without_names(answer["error"]["data"])
        while not self.player.heard:
            await anyio.lowlevel.checkpoint()
        heard = list(self.player.heard)
        self.player.heard.clear()
        return heard, answer

    async def _tool(self, name: str, **arguments: Any) -> str:
        result = await self.connection.mcp.tools_call(name=name, arguments=arguments)
        (block,) = result.content or [mcp.TextContent(text="")]
        assert isinstance(block, mcp.TextContent)
        assert not result.is_error, block.text
        return block.text

    def _check_wire(self, exchange: Exchange) -> None:
        """Check the last message of that method, and its answer."""
        sender, message = [
            (sender, message)
            for sender, message in self.recorded.messages
            if message.get("method") == exchange.method and not is_own(message)
        ][-1]
        assert sender == exchange.sender
        members = {"jsonrpc", "method", "params", *(() if exchange.answer is None else ("id",))}
        assert message.keys() | {"params"} == members  # what is empty may be left out
        assert message["jsonrpc"] == "2.0"
        assert text(message.get("params", {})) == text(exchange.params)


def is_own(message: JsonObject) -> bool:
    """Return whether a message calls one of the tools that steer the server."""
    params: JsonObject = message.get("params", {})
    return params.get("name") in OWN


def as_told(error: RpcError) -> JsonObject:
    """Return an error as the text shows it."""
    told = to_json(error)
    told["data"] = without_names(told["data"])
    return told


def without_names(data: JsonObject) -> JsonObject:
    """Return the data of an error without the two fields by which kinwire distinguishes errors."""
    return {name: value for name, value in data.items() if name not in ("protocol", "name")}


@pytest.fixture(scope="module")
def listening() -> Iterator[Served]:
    with served(server_of(Player())) as one:
        yield one


@asynccontextmanager
async def reached(
    name: str, server: Server, listening: Served | None = None
) -> AsyncGenerator[Recorded]:
    """Yield the host's end of a transport."""
    if name == "memory":
        near, far = memory_pair()
        async with background() as tasks:
            tasks.start_soon(server.serve, far)
            yield Recorded(near)
    elif name == "stdio":
        root = Path(__file__).parents[3]
        yield Recorded(
            stdio(sys.executable, "-m", plays.__name__, cwd=root, env={"PYTHONPATH": str(root)})
        )
    else:
        assert listening is not None
        yield Recorded(transport_to(listening.url(name), {}))


@asynccontextmanager
async def stage(name: str, listening: Served | None = None) -> AsyncGenerator[Stage]:
    player = Player()
    with anyio.fail_after(60):
        async with (
            reached(name, server_of(Player()), listening) as recorded,
            Host("h", "1", extensions=[player]) as host,
        ):
            yield Stage(player, await host.connect(recorded), recorded)


@pytest.mark.parametrize("transport", ["memory", *(slow(one) for one in IN_THREAD)])
@pytest.mark.parametrize("exchange", EXCHANGES, ids=str)
async def test_an_example_is_sent_handled_and_answered_as_it_is_written(
    exchange: Exchange, transport: str, listening: Served
) -> None:
    async with stage(transport, listening) as one:
        await one.play(exchange)


@pytest.mark.spec("mcpl-4-2", "mcpl-4.1-1", "mcpl-4.1-2")
async def test_they_run_in_a_row_on_stdio_and_only_requests_are_answered() -> None:
    async with stage("stdio") as one:
        for exchange in EXCHANGES:
            await one.play(exchange)
        messages = one.recorded.messages
    for side, other in (("client", "server"), ("server", "client")):
        sent = [message for sender, message in messages if sender == side]
        answers = [
            message["id"]
            for sender, message in messages
            if sender == other and "method" not in message
        ]
        asked = [message["id"] for message in sent if "method" in message and "id" in message]
        assert sorted(answers) == sorted(asked)  # each once, and nothing else
        assert len(set(asked)) == len(asked)
    assert {message["jsonrpc"] for _, message in messages} == {"2.0"}


@pytest.mark.parametrize("transport", ["memory", slow("http")])
@pytest.mark.parametrize("offered", OFFERED)
async def test_an_offer_of_the_text_is_made_and_understood_by_either_side(
    offered: JsonObject, transport: str
) -> None:
    host_side, server_side = Player(offered), Player(offered)
    server = server_of(server_side)
    with anyio.fail_after(20), served(server) as listening:
        async with (
            reached(transport, server, listening) as recorded,
            Host("h", "1", extensions=[host_side]) as host,
        ):
            await host.connect(recorded)
    assert text(host_side.theirs) == text(server_side.theirs) == text(offered)
    assert read_offer(offered).warnings == ()


def test_every_block_of_the_text_is_one_that_is_played() -> None:
    """But for schemas, and for what is written into a file and never sent."""
    (document,) = [one for one in DOCUMENTS if one.name == "mcpl"]
    types = {
        row[part].rpartition("/")[2]
        for row in document.content["methods"].values()
        for part in ("params", "result")
        if part in row
    }
    types |= {pointer.rpartition("/")[2] for pointer in document.content["offers"].values()}
    files = {one["type"].rpartition("/")[2] for one in document.content["records"].values()}
    shown = {row["of"] for row in rows_of("mcpl") if row["is"] == "example"}
    assert shown - types - CARRIED.keys() == files
