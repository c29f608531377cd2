"""A person before the model and behind it; whose context goes along; deadlines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anyio
import pytest

from kinwire.mcp.context import Context
from kinwire.mcp.host import Host
from kinwire.mcp.profile import PROFILE
from kinwire.mcp.sampling import Sampling, SamplingRequest, unattended
from kinwire.mcp.server import Server
from kinwire.rpc.errors import RpcError
from kinwire.rpc.request import Request
from kinwire.rpc.routes import Route
from kinwire.rpc.session import Session
from kinwire.testing import PairedConnection, pair
from kinwire.transports.memory import memory_pair
from kinwire_protocols import mcp
from kinwire_protocols.base import to_wire
from kinwire_protocols.jsonrpc.errors import InternalError, InvalidRequestError
from kinwire_protocols.mcp import methods

pytestmark = pytest.mark.anyio


def said(text: str, role: Any = "user") -> mcp.SamplingMessage:
    return mcp.SamplingMessage(role=role, content=mcp.TextContent(text=text))


def wrote(text: str) -> mcp.CreateMessageResult:
    return mcp.CreateMessageResult(
        role="assistant", content=mcp.TextContent(text=text), model="m", stop_reason="endTurn"
    )


def text_of(result: mcp.CreateMessageResult) -> str:
    assert isinstance(result.content, mcp.TextContent)
    return result.content.text


class Model:
    """Answers with what it was given, and remembers it."""

    def __init__(self) -> None:
        self.seen: list[mcp.CreateMessageRequestParams] = []

    async def __call__(self, params: mcp.CreateMessageRequestParams) -> mcp.CreateMessageResult:
        self.seen.append(params)
        content = params.messages[-1].content
        assert isinstance(content, mcp.TextContent)
        return wrote(content.text.upper())


class Author:
    """A server that has a message written, and what it got."""

    def __init__(self, **wanted: Any) -> None:
        self.results: list[mcp.CreateMessageResult] = []
        self.errors: list[RpcError] = []
        self.server = Server("author", "1")

        @self.server.tool
        async def write(context: Context) -> None:
            try:
                result = await mcp.ClientStub(context.session).sampling_create_message(
                    messages=[said("hello")], max_tokens=100, **wanted
                )
            except RpcError as error:
                self.errors.append(error)
            else:
                self.results.append(result)

    async def have_written(self, sampling: Sampling) -> PairedConnection:
        with anyio.fail_after(20):
            async with pair(self.server, Host("h", "1", sampling=sampling)) as client:
                await client.mcp.tools_call(name="write")
                return client


@pytest.mark.spec(
    "mcp-human-in-the-loop-requirement-2",
    "mcp-human-in-the-loop-requirement-3",
    "mcp-human-in-the-loop-requirement-5",
)
async def test_a_request_goes_through_both_approvals() -> None:
    model, author = Model(), Author(system_prompt="be loud")
    steps: list[str] = []

    async def approve_request(request: SamplingRequest) -> mcp.CreateMessageRequestParams:
        assert model.seen == []
        steps.append(f"request of {request.connection.server_info.name}")
        edited = [*request.params.messages, said("and goodbye")]
        return request.params.model_copy(update={"messages": edited, "system_prompt": None})

    async def approve_result(
        request: SamplingRequest, result: mcp.CreateMessageResult
    ) -> mcp.CreateMessageResult:
        steps.append(f"result for {len(request.params.messages)} messages")
        return result.model_copy(update={"content": mcp.TextContent(text=text_of(result)[:7])})

    await author.have_written(
        Sampling(model, approve_request=approve_request, approve_result=approve_result)
    )
    assert steps == ["request of author", "result for 2 messages"]
    assert model.seen[0].system_prompt is None
    assert [text_of(result) for result in author.results] == ["AND GOO"]


@pytest.mark.spec("mcp-human-in-the-loop-requirement-1")
async def test_a_rejected_request_does_not_reach_the_model() -> None:
    model, author = Model(), Author()

    async def reject(request: SamplingRequest) -> None:
        return None

    await author.have_written(Sampling(model, approve_request=reject, approve_result=unattended))
    assert model.seen == []
    (error,) = author.errors
    assert isinstance(error, mcp.SamplingRejectedError)
    assert error.code == -1


async def reject_by_none(request: SamplingRequest, result: mcp.CreateMessageResult) -> None:
    return None


async def reject_by_error(request: SamplingRequest, result: mcp.CreateMessageResult) -> None:
    raise mcp.SamplingRejectedError("not that")


@pytest.mark.parametrize(
    ("reject", "message"),
    [
        (reject_by_none, "The user rejected the sampling request"),
        (reject_by_error, "not that"),
    ],
)
@pytest.mark.spec("mcp-human-in-the-loop-requirement-4", "mcp-human-in-the-loop-requirement-5")
async def test_a_rejected_result_does_not_reach_the_server(reject: Any, message: str) -> None:
    model, author = Model(), Author()
    client = await author.have_written(
        Sampling(model, approve_request=unattended, approve_result=reject)
    )
    assert len(model.seen) == 1
    (error,) = author.errors
    assert isinstance(error, mcp.SamplingRejectedError)
    assert error.message == message
    assert not any(b"HELLO" in frame.data for frame in client.frames)


async def test_unattended_approves_of_all() -> None:
    author = Author()
    await author.have_written(
        Sampling(Model(), approve_request=unattended, approve_result=unattended)
    )
    assert [text_of(result) for result in author.results] == ["HELLO"]


@pytest.mark.spec("mcp-human-in-the-loop-requirement-1")
async def test_nothing_is_unattended_by_omission() -> None:
    with pytest.raises(TypeError, match="approve_request"):
        Sampling(Model())  # type: ignore[call-arg]


async def test_an_approval_that_is_only_a_yes_counts_as_a_fault() -> None:
    model, author = Model(), Author()

    async def yes(request: SamplingRequest, result: object = None) -> Any:
        return True

    for approvals in ((yes, unattended), (unattended, yes)):
        await author.have_written(
            Sampling(model, approve_request=approvals[0], approve_result=approvals[1])
        )
    assert len(model.seen) == 1
    assert all(isinstance(error, InternalError) for error in author.errors)
    assert len(author.errors) == 2


async def sleep(*given: Any) -> Any:
    await anyio.sleep_forever()


async def raise_timeout(*given: Any) -> Any:
    raise TimeoutError("of the program")


@pytest.mark.parametrize(
    "name", ["model", "approve_request", "approve_result", "context", "consent"]
)
@pytest.mark.parametrize("function", [sleep, raise_timeout])
async def test_only_the_deadline_of_the_host_is_reported_as_one(
    name: str, function: Any, caplog: pytest.LogCaptureFixture
) -> None:
    author = Author(include_context="allServers" if name == "consent" else "thisServer")
    given: dict[str, Any] = {
        **{"model": Model(), "approve_request": unattended, "approve_result": unattended},
        **({} if name != "consent" else {"context": raise_timeout}),
        name: function,
    }
    late = function is sleep
    await author.have_written(Sampling(**given, timeout=0.01 if late else 600.0))
    (error,) = author.errors
    assert isinstance(error, InternalError)
    assert ("no answer within 0.01 s" in error.message) is late
    assert ("TimeoutError: of the program" in caplog.text) is not late


async def test_a_server_that_takes_its_request_back_ends_the_approval() -> None:
    started, ended = anyio.Event(), anyio.Event()
    server = Server("author", "1")

    @server.tool
    async def give_up(context: Context) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask, mcp.ClientStub(context.session))
            await started.wait()
            tasks.cancel_scope.cancel()

    async def ask(client: mcp.ClientStub) -> None:
        await client.sampling_create_message(messages=[said("hello")], max_tokens=1)

    async def wait(request: SamplingRequest) -> None:
        started.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()

    sampling = Sampling(Model(), approve_request=wait, approve_result=unattended)
    with anyio.fail_after(20):
        async with pair(server, Host("h", "1", sampling=sampling)) as client:
            await client.mcp.tools_call(name="give_up")
            await ended.wait()


async def context(request: SamplingRequest) -> Sequence[mcp.SamplingMessage]:
    return [said(f"context of {request.params.include_context}")]


async def agree(request: SamplingRequest) -> bool:
    return True


async def refuse(request: SamplingRequest) -> bool:
    return False


@pytest.mark.parametrize(
    ("wanted", "members", "granted"),
    [
        pytest.param(None, {"context": context}, "none", id="absent"),
        pytest.param("none", {"context": context, "consent": agree}, "none", id="none"),
        pytest.param("thisServer", {"context": context}, "thisServer", id="this server"),
        pytest.param("thisServer", {"context": context, "consent": refuse}, "thisServer"),
        pytest.param("thisServer", {}, "none", id="no provider"),
        pytest.param("allServers", {"context": context}, "none", id="nobody was asked"),
        pytest.param("allServers", {"context": context, "consent": refuse}, "none", id="refused"),
        pytest.param("allServers", {"context": context, "consent": agree}, "allServers"),
        pytest.param("allServers", {"consent": agree}, "none", id="consent, but no provider"),
    ],
)
@pytest.mark.spec(
    "mcp-include-context-options-1",
    "mcp-include-context-options-2",
    "mcp-include-context-options-3",
)
async def test_context_is_added_as_far_as_it_is_granted_and_seen_by_who_approves(
    wanted: Any, members: dict[str, Any], granted: str
) -> None:
    model, author = Model(), Author(include_context=wanted)
    shown: list[mcp.CreateMessageRequestParams] = []

    async def approve_request(request: SamplingRequest) -> mcp.CreateMessageRequestParams:
        shown.append(request.params)
        return request.params

    await author.have_written(
        Sampling(model, approve_request=approve_request, approve_result=unattended, **members)
    )
    added = [] if granted == "none" else [said(f"context of {granted}")]
    assert shown == model.seen
    assert model.seen[0].messages == [*added, said("hello")]
    assert model.seen[0].include_context == granted
    assert [text_of(result) for result in author.results] == ["HELLO"]


@pytest.mark.spec("mcp-initialize-request-2", "mcp-client-capabilities-1")
async def test_only_a_host_that_can_sample_says_so() -> None:
    sampling = Sampling(Model(), approve_request=unattended, approve_result=unattended)
    for able, expected in ((None, False), (sampling, True)):
        async with pair(Server("s", "1"), Host("h", "1", sampling=able)) as client:
            assert (b'"sampling"' in client.frames[0].data) is expected


async def test_a_server_that_asks_before_the_session_is_open_is_refused() -> None:
    refused: list[RpcError] = []

    async def initialize(params: mcp.InitializeRequestParams, request: Request) -> Any:
        with pytest.raises(InvalidRequestError) as caught:
            await mcp.ClientStub(request.session).sampling_create_message(
                messages=[said("hello")], max_tokens=1
            )
        refused.append(caught.value)
        return to_wire(
            mcp.InitializeResult(
                protocol_version="2024-11-05",
                capabilities=mcp.ServerCapabilities(),
                server_info=mcp.Implementation(name="s", version="1"),
            )
        )

    model = Model()
    sampling = Sampling(model, approve_request=unattended, approve_result=unattended)
    client_end, server_end = memory_pair()
    routes = {"initialize": Route(methods.INITIALIZE, initialize)}
    async with (
        Session(server_end, profile=PROFILE, routes=routes),
        Host("h", "1", sampling=sampling) as host,
    ):
        await host.connect(client_end)
    assert len(refused) == 1
    assert model.seen == []
