"""Every JSON example of section 12 is played with a raw peer, as the text has it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from kinwire import Context, Server, result_text
from kinwire.mgp import CallStream, MgpKernel, MgpServer, ServerPolicy
from kinwire.support.background import background
from kinwire_protocols.mcp.models import ProgressNotificationParams
from tests.runtime.mgp.fixtures_kernel import guarded
from tests.runtime.mgp.raw_peers import NOTHING, Json, RawKernel, RawServer, tool
from tests.runtime.mgp.test_examples_played import MESSAGES

pytestmark = pytest.mark.anyio

CALL, FIRST, SECOND, FINAL = (MESSAGES[block] for block in (23, 24, 25, 26))
PROGRESS, CANCEL, CANCELLED = (MESSAGES[block] for block in (27, 28, 29))
OFFER: Json = {"version": "0.1.0", "extensions": ["streaming"]}  # block 22
TEXTS = [one["params"]["content"]["text"] for one in (FIRST, SECOND)]
REST = FINAL["result"]["content"][0]["text"].removeprefix("".join(TEXTS))


def thinker() -> Server:
    guard = MgpServer()
    server = Server("thinker", "1", extensions=[guard])

    @server.tool
    async def think(agent_id: str, message: str) -> AsyncIterator[str]:
        for piece in (*TEXTS, REST):
            yield piece
        if message == "":
            await anyio.sleep_forever()

    @server.tool
    async def work(context: Context) -> str:
        params, peer = PROGRESS["params"], guard.of(context)
        assert peer is not None
        await peer.progress(
            context,
            params["progress"],
            message=params["message"],
            remaining_ms=params["estimated_remaining_ms"],
        )
        return "done"

    return server


async def test_a_server_says_what_the_examples_say() -> None:
    raw = RawKernel()
    async with background() as tasks:
        tasks.start_soon(thinker().serve, raw)
        await raw.greet(OFFER)
        final = await raw.ask(CALL["id"], CALL["method"], CALL["params"])
        sent = [one for one in raw.heard if one.get("method") == FIRST["method"]]
        assert sent[:2] == [FIRST, SECOND]
        assert final["result"]["content"] == FINAL["result"]["content"]
        assert final["result"]["_mgp"].keys() == FINAL["result"]["_mgp"].keys()
        # A cancelled one: the same call, which goes on after its last piece.
        endless = {**CALL["params"], "arguments": {"agent_id": "a", "message": ""}}
        raw.say(id=CANCEL["params"]["request_id"], method=CALL["method"], params=endless)
        await raw.settle()
        assert await raw.ask(CANCEL["id"], CANCEL["method"], CANCEL["params"]) == CANCELLED
        # Progress.
        identifier = PROGRESS["params"]["request_id"]
        await raw.ask(identifier, "tools/call", {"name": "work"})
        assert [one for one in raw.heard if one.get("method") == PROGRESS["method"]] == [PROGRESS]
        tasks.cancel_scope.cancel()


class Thinking(RawServer):
    """A server that says what the examples say, about the call that is under way."""

    def __init__(self) -> None:
        super().__init__(tool("think"), mgp=OFFER, tools_call=NOTHING, mgp_stream_cancel=NOTHING)

    async def asked(self, method: str) -> Json:
        """Return the last request, once it is one of this method."""
        while self.heard[-1].get("method") != method:
            await self._news.wait()
        return self.heard[-1]

    def says(self, message: Json, identifier: int) -> None:
        """Send a notification of an example for a request."""
        params = {**message["params"], "request_id": identifier}
        self.say(method=message["method"], params=params)


async def test_a_kernel_understands_the_examples() -> None:
    kernel = MgpKernel(unknown=ServerPolicy(trust="trusted", confirm=[]))
    raw, reports = Thinking(), list[ProgressNotificationParams]()
    async with guarded(raw, kernel) as connection:
        arguments = CALL["params"]["arguments"]
        opened = kernel.stream(connection, "think", arguments, on_progress=reports.append)
        async with opened as stream:
            asked = await raw.asked("tools/call")
            assert {name: asked["params"][name] for name in CALL["params"]} == CALL["params"]
            for message in (PROGRESS, FIRST, SECOND):
                raw.says(message, asked["id"])
            assert [(await anext(stream)).text for _ in TEXTS] == TEXTS
            assert reports[0].progress == PROGRESS["params"]["progress"]
            raw.say(id=asked["id"], result=FINAL["result"])
            assert [chunk async for chunk in stream] == []
            assert result_text(stream.result) == FINAL["result"]["content"][0]["text"]
            assert stream.missed == FINAL["result"]["_mgp"]["chunks_sent"] - len(TEXTS)


async def test_a_kernel_cancels_as_the_example_does() -> None:
    kernel = MgpKernel(unknown=ServerPolicy(trust="trusted", confirm=[]))
    raw, found = Thinking(), list[Any]()

    async def cancel(stream: CallStream) -> None:
        found.append(await stream.cancel(CANCEL["params"]["reason"]))

    async with guarded(raw, kernel) as connection:
        opened = kernel.stream(connection, "think", CALL["params"]["arguments"])
        async with opened as stream, anyio.create_task_group() as tasks:
            call = await raw.asked("tools/call")
            tasks.start_soon(cancel, stream)
            asked = await raw.asked(CANCEL["method"])
            expected = {**CANCEL["params"], "request_id": call["id"]}
            assert {name: asked["params"][name] for name in expected} == expected
            raw.say(id=asked["id"], result=CANCELLED["result"])
            raw.say(id=call["id"], result=FINAL["result"])
    ((block,),) = found
    assert block.text == CANCELLED["result"]["partial_result"]["content"][0]["text"]
