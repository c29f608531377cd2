"""What a server asks of its client: samples and roots, when that is allowed, and from where."""

from __future__ import annotations

import threading
from typing import Any

import anyio
import anyio.from_thread
import pytest

from kinwire.mcp.context import Context
from kinwire.mcp.host import Host
from kinwire.mcp.sampling import Sampling, unattended
from kinwire.mcp.server import Server
from kinwire.rpc.errors import (
    CapabilityNotNegotiatedError,
    RequestCancelledError,
    RequestTimeoutError,
    RpcError,
    SessionStateError,
)
from kinwire.rpc.limits import Limits
from kinwire.rpc.routes import Route
from kinwire.testing import pair
from kinwire_protocols import mcp
from kinwire_protocols.jsonrpc.errors import InternalError
from kinwire_protocols.mcp import methods
from tests.each import each
from tests.runtime.mcp.fake_client import raw_client

pytestmark = pytest.mark.anyio

BRIEF = Limits(drain=0.05)  # for handlers that do not end by themselves
SAMPLING: dict[str, Any] = {"sampling": {}}


def sampling_host(seen: list[mcp.CreateMessageRequestParams]) -> Host:
    host = Host("h", "1")

    @host.on.sampling_create_message
    async def create(params: mcp.CreateMessageRequestParams) -> mcp.CreateMessageResult:
        seen.append(params)
        return mcp.CreateMessageResult(
            role="assistant", content=mcp.TextContent(text="written"), model="m"
        )

    return host


@pytest.mark.spec(
    "mcp-sampling-specification-1",
    "mcp-sampling-createmessage-request-1",
    "mcp-sampling-createmessage-request-2",
)
async def test_a_tool_has_the_clients_model_write() -> None:
    server, seen = Server("s", "1"), list[mcp.CreateMessageRequestParams]()

    @server.tool
    async def write(context: Context) -> mcp.TextContent:
        short = await context.sample("Write.", max_tokens=9)
        assert isinstance(short.content, mcp.TextContent)
        message = mcp.SamplingMessage(role="assistant", content=mcp.TextContent(text="Hm."))
        await context.sample(
            (message,),
            max_tokens=1,
            system_prompt="Be brief.",
            model_preferences=mcp.ModelPreferences(speed_priority=1),
            include_context="thisServer",
            temperature=0.5,
            stop_sequences=(".",),
            metadata={"a": None},
        )
        return short.content

    async with pair(server, sampling_host(seen)) as client:
        result = await client.mcp.tools_call(name="write")
    assert result.content == [mcp.TextContent(text="written")]
    text = mcp.SamplingMessage(role="user", content=mcp.TextContent(text="Write."))
    assert seen == [
        mcp.CreateMessageRequestParams(messages=[text], max_tokens=9),
        mcp.CreateMessageRequestParams(
            messages=[mcp.SamplingMessage(role="assistant", content=mcp.TextContent(text="Hm."))],
            max_tokens=1,
            system_prompt="Be brief.",
            model_preferences=mcp.ModelPreferences(speed_priority=1),
            include_context="thisServer",
            temperature=0.5,
            stop_sequences=["."],
            metadata={"a": None},
        ),
    ]


async def test_a_tool_sees_the_roots_also_from_a_thread() -> None:
    server = Server("s", "1")

    @server.tool
    def where(context: Context) -> list[str]:
        return [root.uri for root in anyio.from_thread.run(context.roots)]

    async with pair(server, Host("h", "1", roots=["file:///home/ada"])) as client:
        result = await client.mcp.tools_call(name="where")
    assert result.content == [mcp.TextContent(text='["file:///home/ada"]')]


async def test_what_the_client_did_not_offer_is_refused_before_anything_is_sent() -> None:
    server, raised = Server("s", "1"), list[str]()

    @server.tool
    async def ask(context: Context) -> None:
        for call in (lambda: context.sample("", max_tokens=1), context.roots):
            with pytest.raises(CapabilityNotNegotiatedError) as caught:
                await call()
            raised.append(str(caught.value))

    async with raw_client(server) as client:
        await client.greet()
        await client.session.raw("tools/call", {"name": "ask"})
        assert client.received("sampling/createMessage") == client.received("roots/list") == []
    assert "sampling/createMessage" in raised[0]
    assert "roots/list" in raised[1]


async def test_a_tool_that_needs_what_the_client_did_not_offer_says_so() -> None:
    server = Server("s", "1")

    @server.tool
    async def ask(context: Context) -> None:
        await context.sample("", max_tokens=1)

    async with pair(server) as client:
        with pytest.raises(InternalError, match="createMessage: needs client:sampling") as caught:
            await client.mcp.tools_call(name="ask")
    assert caught.value.message.endswith(f"correlation id {caught.value.data['correlationId']}.")


async def test_an_error_of_a_client_names_the_log_of_the_client(
    caplog: pytest.LogCaptureFixture,
) -> None:
    server, raised = Server("s", "1"), list[RpcError]()

    @server.tool
    async def ask(context: Context) -> None:
        with pytest.raises(InternalError) as caught:
            await context.sample("", max_tokens=1)
        raised.append(caught.value)

    async def model(params: mcp.CreateMessageRequestParams) -> mcp.CreateMessageResult:
        raise KeyError("model")

    sampling = Sampling(model, approve_request=unattended, approve_result=unattended)
    async with pair(server, Host("h", "1", sampling=sampling)) as client:
        await client.mcp.tools_call(name="ask")
    assert "The reason is in the log of the client" in raised[0].message
    assert "KeyError: 'model'" in caplog.text


@pytest.mark.spec("mcp-initialized-notification-2")
async def test_nothing_but_a_ping_is_asked_before_the_client_is_ready() -> None:
    server, raised = Server("s", "1"), list[str]()

    @server.tool
    async def ask(context: Context) -> None:
        await mcp.ClientStub(context.session).ping()
        with pytest.raises(SessionStateError) as caught:
            await context.sample("", max_tokens=1)
        raised.append(str(caught.value))

    async def pong(params: Any, request: Any) -> dict[str, Any]:
        return {}

    routes = {"ping": Route(methods.PING, pong)}
    async with raw_client(server, routes) as client:
        await client.greet(SAMPLING, done=False)
        await client.session.raw("tools/call", {"name": "ask"})
        assert client.received("sampling/createMessage") == []
        assert len(client.received("ping")) == 1
    assert raised == [
        "sampling/createMessage: the client has not sent notifications/initialized yet, and may "
        "not be asked anything before. Ask while a later request of it is served."
    ]


@each("round", range(10))
async def test_a_client_that_is_ready_in_the_same_write_may_be_asked(round: int) -> None:
    server = Server("s", "1")

    @server.tool
    async def ask(context: Context) -> str:
        return (await context.sample("", max_tokens=1)).model

    async def create(params: Any, request: Any) -> dict[str, Any]:
        return {"role": "assistant", "content": {"type": "text", "text": ""}, "model": "m"}

    routes = {"sampling/createMessage": Route(methods.SAMPLING_CREATE_MESSAGE, create)}
    async with raw_client(server, routes) as client:
        await client.greet(SAMPLING, done=False)
        client.session._opened().engine.notify("notifications/initialized", {})
        result = await client.session.raw("tools/call", {"name": "ask"})
    assert result["content"] == [{"type": "text", "text": "m"}]


async def test_a_handler_of_initialized_may_send_requests_and_blocks_nothing() -> None:
    server, found = Server("s", "1", limits=BRIEF), list[list[mcp.Root]]()
    asked = anyio.Event()

    @server.on.notifications_initialized
    async def ready(params: mcp.NotificationParams, context: Context) -> None:
        found.append(await context.roots())
        asked.set()
        await anyio.sleep_forever()

    @server.tool
    async def wait() -> None:
        await asked.wait()

    async with pair(server, Host("h", "1", roots=["file:///a"])) as client:
        await client.mcp.tools_call(name="wait")
    assert [[root.uri for root in roots] for roots in found] == [["file:///a"]]


async def test_asking_ends_after_the_given_time() -> None:
    server, host, raised = Server("s", "1"), Host("h", "1"), list[float]()

    @host.on.sampling_create_message
    async def create(params: mcp.CreateMessageRequestParams) -> mcp.CreateMessageResult:
        await anyio.sleep_forever()
        raise AssertionError

    @server.tool
    async def ask(context: Context) -> None:
        with pytest.raises(RequestTimeoutError) as caught:
            await context.sample("", max_tokens=1, timeout=0.01)
        raised.append(caught.value.timeout)

    async with pair(server, host) as client:
        await client.mcp.tools_call(name="ask")
    assert raised == [0.01]


# -- cancellation --


async def test_a_thread_notices_that_its_request_was_taken_back() -> None:
    server = Server("s", "1")
    begun, over = threading.Event(), threading.Event()
    raised: list[BaseException] = []

    @server.tool
    def work(context: Context) -> None:
        assert not context.cancelled
        begun.set()
        try:
            while True:
                context.raise_if_cancelled()
                over.wait(0.001)
        except RequestCancelledError as error:
            raised.append(error)
            assert context.cancelled
        finally:
            over.set()

    async with pair(server) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: client.mcp.tools_call(name="work"))
            await anyio.to_thread.run_sync(begun.wait)
            tasks.cancel_scope.cancel()
        assert await anyio.to_thread.run_sync(over.wait, 10)
    assert [str(error) for error in raised] == ["tools/call: nobody waits for the result"]


async def test_a_thread_notices_that_its_session_has_ended() -> None:
    server = Server("s", "1", limits=BRIEF)
    begun, over = threading.Event(), threading.Event()

    @server.tool
    def work(context: Context) -> None:
        begun.set()
        while not context.cancelled:
            over.wait(0.001)
        over.set()

    async with pair(server) as client, anyio.create_task_group() as tasks:
        tasks.start_soon(_fail, client)
        await anyio.to_thread.run_sync(begun.wait)
        await client.aclose()
    assert await anyio.to_thread.run_sync(over.wait, 10)


async def _fail(client: Any) -> None:
    from kinwire.rpc.errors import ConnectionClosedError

    with pytest.raises(ConnectionClosedError):
        await client.mcp.tools_call(name="work")
