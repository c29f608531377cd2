"""One script of calls over every transport: what goes over the wire is the same everywhere.

Only the moment at which a server's news arrive is left open: over HTTP they have a stream of their
own.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from kinwire import Host, RpcError, Sampling, stdio, unattended
from kinwire.mcp.connection import Connection
from kinwire.mcp.urls import transport_to
from kinwire.support.background import background
from kinwire.transports.memory import memory_pair
from kinwire_protocols import mcp
from tests.runtime.programs import everywhere
from tests.runtime.transports.fixtures_recorded import Recorded
from tests.runtime.transports.fixtures_serving import NETWORK, Served, served

pytestmark = pytest.mark.anyio

PROGRAM = Path(everywhere.__file__)
ROOT = "file:///home/ada"
VALUES: list[Any] = [
    9007199254740993,
    -9223372036854775808,
    0.1,
    "grüße, 世界 \U0001f600\u2028\u0085\r\n\x00",
    {"deep": [[[None, True, {}]]], "": "empty"},
    "007",
]

NEWS = ("notifications/prompts/list_changed", "notifications/resources/updated")
"""What may come on a stream of its own, and so at any moment."""

Transcript = tuple[list[Any], list[Any], list[str]]
"""What the client sent, what the server sent, and the server's news."""


@pytest.fixture(scope="module")
def listening() -> Iterator[Served]:
    with served(everywhere.server) as one:
        yield one


@asynccontextmanager
async def transport_of(name: str, listening: Served) -> AsyncGenerator[Recorded]:
    """Yield a client's end of a transport to the server."""
    everywhere.heard.clear()
    if name == "memory":
        near, far = memory_pair()
        async with background() as tasks:
            tasks.start_soon(everywhere.server.serve, far)
            yield Recorded(near)
    elif name == "stdio":
        yield Recorded(stdio(sys.executable, str(PROGRAM)))
    else:
        yield Recorded(transport_to(listening.url(name), {}))


class Script:
    """The steps, each done before the next one begins."""

    def __init__(self, recorded: Recorded) -> None:
        self.recorded = recorded
        self.news: list[str] = []
        sampling = Sampling(written, approve_request=unattended, approve_result=unattended)
        self.host = Host("script", "1.0", roots=[ROOT], sampling=sampling)
        for on in (
            self.host.on.notifications_prompts_list_changed,
            self.host.on.notifications_resources_updated,
        ):
            on(self._heard)

    async def _heard(self, params: Any) -> None:
        self.news.append(type(params).__name__)

    async def run(self) -> None:
        """Do all of it."""
        with anyio.fail_after(30):
            async with self.host as host:
                server = await host.connect(self.recorded)
                for step in (lists, calls, failures, questions):
                    await step(server)
                await subscriptions(server, self.news)
                await cancellation(server)

    def transcript(self) -> Transcript:
        """Return what went over the wire, without the polling at the end."""
        messages = self.recorded.messages
        polls = {message["id"] for _, message in messages if is_poll(message)}
        sent: dict[str, list[Any]] = {"client": [], "server": []}
        for sender, message in messages:
            if message.get("id") not in polls:
                sent[sender].append(normalised(message))
        said = [message for message in sent["server"] if message.get("method") not in NEWS]
        news = [message["method"] for message in sent["server"] if message.get("method") in NEWS]
        return sent["client"], said, sorted(news)


def is_poll(message: Any) -> bool:
    match message:
        case {"method": "tools/call", "params": {"name": "tell"}}:
            return True
        case _:
            return False


def normalised(message: Any) -> Any:
    """Return a message without its random parts: ids of errors, and cursors."""
    match message:
        case {"error": {"message": text, "data": {"correlationId": number} as data} as error}:
            data["correlationId"] = "..."
            error["message"] = text.replace(number, "...")
        case {"result": {"nextCursor": _} as result}:
            result["nextCursor"] = "..."
        case {"params": {"cursor": _} as params}:
            params["cursor"] = "..."
    return message


async def written(params: mcp.CreateMessageRequestParams) -> mcp.CreateMessageResult:
    content = mcp.TextContent(text="42")
    return mcp.CreateMessageResult(role="assistant", content=content, model="deep-thought")


async def lists(server: Connection) -> None:
    assert len([tool async for tool in server.tools()]) == 9
    assert [one.uri async for one in server.resources()] == ["memo://today", "memo://bytes"]
    assert len([one async for one in server.resource_templates()]) == 1
    await server.mcp.resources_read(uri="memo://bytes")
    await server.mcp.resources_read(uri="memo://day/monday")


async def calls(server: Connection) -> None:
    for value in VALUES:
        await server.mcp.tools_call(name="echo", arguments={"value": value})
    reports: list[float] = []
    asking = server.with_options(on_progress=lambda report: reports.append(report.progress))
    await asking.mcp.tools_call(name="count", arguments={"to": 3})
    assert reports == [1, 2, 3]
    await server.mcp.logging_set_level(level="warning")
    await server.mcp.tools_call(name="speak")


async def failures(server: Connection) -> None:
    for name, arguments in (("fail", {}), ("stumble", {}), ("count", {"to": "x"}), ("nosuch", {})):
        try:
            result = await server.mcp.tools_call(name=name, arguments=arguments)
            assert result.is_error
        except RpcError:
            pass
    for method, params in (("x/unknown", {}), ("resources/read", {"uri": "memo://day/never"})):
        with pytest.raises(RpcError):
            await server.session.raw(method, params)


async def questions(server: Connection) -> None:
    result = await server.mcp.tools_call(name="ask")
    assert "42" in str(result.content)


async def cancellation(server: Connection) -> None:
    with anyio.CancelScope() as scope:
        asking = server.with_options(on_progress=lambda report: scope.cancel())
        await asking.mcp.tools_call(name="wait")
    while "cancelled" not in str((await server.mcp.tools_call(name="tell")).content):
        pass  # how often it is asked says nothing; the caller limits the time


async def subscriptions(server: Connection, news: list[str]) -> None:
    await server.mcp.resources_subscribe(uri="memo://today")
    await server.mcp.tools_call(name="change")
    while len(news) < 2:
        await anyio.lowlevel.checkpoint()
    await server.mcp.resources_unsubscribe(uri="memo://today")


@pytest.fixture(scope="module")
def expected() -> dict[str, Transcript]:
    """What the first transport had to say, by event loop."""
    return {}


@pytest.mark.parametrize("transport", ["memory", "stdio", *NETWORK])
async def test_the_script_leaves_the_same_transcript_on_every_transport(
    transport: str, listening: Served, anyio_backend_name: str, expected: dict[str, Transcript]
) -> None:
    async with transport_of(transport, listening) as recorded:
        script = Script(recorded)
        await script.run()
    first = expected.setdefault(anyio_backend_name, script.transcript())
    assert script.transcript() == first
