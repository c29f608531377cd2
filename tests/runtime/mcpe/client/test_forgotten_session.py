"""A reader of events whose server is killed and started again, over HTTP: it only listens."""

from __future__ import annotations

import anyio
import pytest

from kinwire import ConnectionClosedError, Host
from kinwire.mcpe import McpeClient
from tests.runtime.mcp.http_client import fake_server as http
from tests.runtime.mcpe.raw_server import EVENT, RawServer

pytestmark = pytest.mark.anyio


class RestartedEventServer:
    """A server of HTTP that has the answers of one raw server, and of the next after `restart`."""

    def __init__(self) -> None:
        self._raws = [RawServer(), RawServer()]
        self._stopping = anyio.Event()
        self._subscribed = anyio.Event()
        asked = {"initialize": self._greet, "tools_list": self._reply, "tools_call": self._reply}
        self.handler = http.polite(**asked, GET=self._listen)

    def restart(self) -> None:
        del self._raws[0]
        self._stopping.set()

    @property
    def _session(self) -> str:
        return f"of-{len(self._raws)}"

    async def _greet(self, asked: http.Asked, line: http.Line) -> None:
        await line.json(self._answer(asked), mcp_session_id=self._session)

    async def _reply(self, asked: http.Asked, line: http.Line) -> None:
        if asked.headers["mcp-session-id"] != self._session:
            await line.status(404)
            return
        await line.json(self._answer(asked))
        if asked.message["params"].get("name") == "events_subscribe" and self._stopping.is_set():
            self._subscribed.set()

    def _answer(self, asked: http.Asked) -> object:
        message = asked.message
        return {"jsonrpc": "2.0", "id": message["id"], **(self._raws[0].reply_to(message) or {})}

    async def _listen(self, asked: http.Asked, line: http.Line) -> None:
        if asked.headers["mcp-session-id"] != self._session:
            await line.status(404)
            return
        await line.stream()
        await line.raw(b"retry: 10\n\n")
        if not self._stopping.is_set():
            await self._stopping.wait()
            await line.close()
            return
        await self._subscribed.wait()
        params = {"subscriptionId": self._raws[0].subscriptions[0]["id"], "event": EVENT}
        await line.event({"jsonrpc": "2.0", "method": "events/event", "params": params})
        await line.until_closed()


async def test_a_reader_goes_on_with_a_server_that_was_started_again() -> None:
    events, restarted = McpeClient(reconnect_within=60), RestartedEventServer()
    async with (
        http.RawServer.serving(restarted.handler) as server,
        Host("desk", "1", extensions=[events]) as host,
        host.keep_connected(server.url, first_delay=0.01) as kept,
        events.subscribe(kept.connection, ["github.*"]) as subscription,
    ):
        restarted.restart()
        with anyio.fail_after(5):
            event = await anext(subscription)
        assert (event.type, subscription.renewed) == ("github.push", 1)


async def test_the_loop_of_a_reader_ends_with_a_server_that_was_started_again() -> None:
    events, restarted = McpeClient(), RestartedEventServer()
    async with (
        http.RawServer.serving(restarted.handler) as server,
        Host("desk", "1", extensions=[events]) as host,
    ):
        connection = await host.connect(server.url)
        async with events.subscribe(connection, ["github.*"]) as subscription:
            restarted.restart()
            with (
                anyio.fail_after(5),
                pytest.raises(ConnectionClosedError, match="forgotten the session"),
            ):
                await anext(subscription)
