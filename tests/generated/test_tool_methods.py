"""Tools that a protocol defines: called like methods, served like methods, typed all the way."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from kinwire_protocols import mcp, mcpe, mcplite
from kinwire_protocols.base import JsonObject, RpcError, from_wire, to_wire
from kinwire_protocols.jsonrpc import InvalidParamsError
from kinwire_protocols.peer import Method
from kinwire_protocols.tool_methods import ToolFailedError, ToolHandlers
from tests.each import each

pytestmark = pytest.mark.anyio

FILTER = mcpe.EventFilter(event_types=["github.*"])
DELIVERY = mcpe.DeliveryPreferences(channels=["realtime"])
UNSUBSCRIBE = mcpe.tools.EVENTS_UNSUBSCRIBE


class Tools(mcpe.ServerTools):
    async def events_unsubscribe(
        self, params: mcpe.EventsUnsubscribeParams
    ) -> mcpe.EventsUnsubscribeResult:
        if params.subscription_id == "none":
            raise mcpe.SubscriptionNotFoundError(data={"id": "none"})
        return mcpe.EventsUnsubscribeResult(success=True)


class FakePeer:
    """Hands calls of tools to handlers, and keeps what was sent."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.sent: list[JsonObject] = []

    async def call(self, method: Method[Any, Any], params: Any, /) -> Any:
        self.sent.append(to_wire(params))
        answer = self.answer
        if isinstance(answer, ToolHandlers):
            answer = await answer.call(self.sent[-1]["name"], self.sent[-1].get("arguments"))
        return method.decode_result(answer)

    async def notify(self, method: Method[Any, Any], params: Any, /) -> None:
        raise AssertionError("a tool is not a notification")


async def test_a_tool_is_called_like_a_method() -> None:
    peer = FakePeer(Tools())
    result = await mcpe.ServerStub(peer).events_unsubscribe(subscription_id="7")
    assert result == mcpe.EventsUnsubscribeResult(success=True)
    assert peer.sent == [{"name": "events_unsubscribe", "arguments": {"subscriptionId": "7"}}]


async def test_the_arguments_go_out_by_wire_names() -> None:
    peer = FakePeer({"content": [], "isError": True})
    with pytest.raises(ToolFailedError):
        await mcpe.ServerStub(peer).events_subscribe(filter=FILTER, delivery=DELIVERY)
    arguments = {"filter": {"eventTypes": ["github.*"]}, "delivery": {"channels": ["realtime"]}}
    assert peer.sent == [{"name": "events_subscribe", "arguments": arguments}]


def text(value: object) -> list[JsonObject]:
    return [{"type": "text", "text": value if isinstance(value, str) else json.dumps(value)}]


YES, NO = {"success": True}, {"success": False}


@each(
    ("body", "success"),
    [
        pytest.param({"content": text(YES)}, True, id="text alone"),
        pytest.param({"content": [], "structuredContent": YES}, True, id="structure alone"),
        pytest.param({"content": text(NO), "structuredContent": YES}, True, id="structure first"),
        pytest.param({"content": text(NO), "structuredContent": None}, False, id="null"),
        pytest.param({"content": [*text(YES), *text("more")], "isError": False}, True, id="first"),
    ],
)
def test_a_result_is_its_structure_or_else_its_text(body: JsonObject, success: bool) -> None:
    assert UNSUBSCRIBE.decode_result(body).success is success
    assert UNSUBSCRIBE.decode_result(from_wire(mcp.CallToolResult, body)).success is success


@pytest.mark.parametrize(
    "content",
    [[], text("no JSON"), text([1]), text({"success": 1}), [{"type": "image"}], text("[" * 9000)],
    ids=["nothing", "prose", "array", "wrong type", "no text", "deep"],
)
def test_a_result_that_does_not_fit_is_refused(content: list[JsonObject]) -> None:
    with pytest.raises(ValidationError):
        UNSUBSCRIBE.decode_result({"content": content})


def said(code: int, **data: str) -> JsonObject:
    return {"code": code, "message": "why", **({"data": data} if data else {})}


@each(
    ("body", "kind"),
    [
        pytest.param(
            {"structuredContent": {"error": said(-32001)}}, mcpe.SubscriptionNotFoundError, id="row"
        ),
        pytest.param({"content": text(said(-32001))}, mcpe.SubscriptionNotFoundError, id="bare"),
        pytest.param(
            {"structuredContent": {"error": said(9, protocol="mcpe", name="SubscriptionNotFound")}},
            mcpe.SubscriptionNotFoundError,
            id="named",
        ),
        pytest.param(
            {"structuredContent": {"error": said(77)}}, ToolFailedError, id="not of the row"
        ),
    ],
)
def test_a_failure_with_a_code_is_the_error_of_that_code(
    body: JsonObject, kind: type[RpcError]
) -> None:
    with pytest.raises(RpcError, match="why") as caught:
        UNSUBSCRIBE.decode_result({"content": [], **body, "isError": True})
    assert type(caught.value) is kind


def test_a_failure_without_a_code_says_its_text_and_keeps_the_result() -> None:
    body = {"content": text("the disk is full"), "isError": True}
    with pytest.raises(ToolFailedError, match="the disk is full") as caught:
        UNSUBSCRIBE.decode_result(body)
    assert (caught.value.result, caught.value.name) == (body, None)


async def test_an_error_of_a_handler_is_a_result_that_says_so() -> None:
    body = await Tools().call("events_unsubscribe", {"subscriptionId": "none"})
    error = {
        "code": -32001,
        "message": mcpe.SubscriptionNotFoundError.default_message,
        "data": {"id": "none", "protocol": "mcpe", "name": "SubscriptionNotFound"},
    }
    assert body["isError"] is True
    assert body["structuredContent"] == json.loads(body["content"][0]["text"]) == {"error": error}
    with pytest.raises(mcpe.SubscriptionNotFoundError):
        await mcpe.ServerStub(FakePeer(Tools())).events_unsubscribe(subscription_id="none")


async def test_a_result_of_a_handler_stands_in_text_and_structure() -> None:
    body = await Tools().dispatch("events_unsubscribe", {"subscriptionId": "7"})
    assert body == {"content": text({"success": True}), "structuredContent": {"success": True}}


async def test_arguments_that_do_not_fit_do_not_reach_the_handler() -> None:
    with pytest.raises(InvalidParamsError) as caught:
        await Tools().dispatch("events_unsubscribe", {"subscriptionId": 7})
    (problem,) = caught.value.data["problems"]
    assert problem["pointer"] == "/subscriptionId"
    assert (await Tools().call("events_unsubscribe"))["isError"] is True


@pytest.mark.parametrize("name", ["events_pause", "nothing"])
async def test_a_tool_that_is_not_served_is_unknown(name: str) -> None:
    with pytest.raises(InvalidParamsError, match=f"Unknown tool: '{name}'"):
        await Tools().call(name, {})


def test_what_is_served_is_what_is_overridden() -> None:
    assert [row.name for row in Tools().served()] == ["events_unsubscribe"]


def test_a_handler_of_no_tool_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(TypeError, match=r"no tool of this side.*'events_pause'"):
        type("Mine", (mcpe.ServerTools,), {"events_pauze": Tools.events_unsubscribe})
    with pytest.raises(TypeError, match="`async def`"):
        type("Mine", (mcpe.ServerTools,), {"events_pause": lambda self, params: params})


async def test_a_tool_whose_result_is_that_of_the_call_is_taken_whole() -> None:
    row = mcplite.tools.REDEEM
    assert row.whole
    example = {"content": [{"title": "a"}], "_meta": {"response_type": "answer"}}
    peer = FakePeer(example)
    result = await mcplite.ServerStub(peer).redeem(promise="p")
    assert to_wire(result) == example == row.result_to_wire(result)
    assert peer.sent == [{"name": "redeem", "arguments": {"promise": "p"}}]
    failed = {
        "isError": True,
        "_meta": {"response_type": "failure"},
        "error": {"code": "PROMISE_UNAVAILABLE", "message": "why"},
    }
    assert to_wire(row.decode_result(failed)) == failed
