"""Shapes of MCP-lite 0.042: tools, calls, kinds of response, promises, streams, both bindings."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from kinwire_protocols import jsonrpc, mcplite
from kinwire_protocols.base import JsonObject, RpcError, from_wire, to_wire
from kinwire_protocols.mcplite import methods, tables, tools
from tests.generated.messages import DOCUMENTS, alone
from tests.generated.shapes import Shape, check_shape, shape
from tests.specified import specified

CONTENT: dict[str, Any] = next(one.content for one in DOCUMENTS if one.name == "mcp-lite")
TOKEN = "prom_a7b9c2d4e6f8"

SHAPES = [
    shape("mcp-lite-3.1-2", kind="ListToolsResult", tools={}),
    shape("mcp-lite-3.1-3", "mcp-lite-3.9-1", kind="Tool", name=5),
    shape("mcp-lite-3.9-2", kind="Tool", required=False, **{"@type": 5}),
    shape("mcp-lite-3.9-3", "mcp-lite-3.9-4", kind="Tool", description=None, inputSchema="{}"),
    shape("mcp-lite-3.2-1", kind="CallToolParams", name=None),
    shape("mcp-lite-4.2.2-2", kind="CallToolParams", required=False, arguments=[5]),
    shape("mcp-lite-3.3-2", kind="ResponseMeta", required=False, response_type=0),
    shape(
        "mcp-lite-3.3-3",
        kind="ResponseMeta",
        required=False,
        timestamp=1704110400000,
        processing_time_ms="145",
        server_version=2,
    ),
    shape("mcp-lite-3.3-4", "mcp-lite-4.2.2-3", kind="ToolResult", required=False, _meta="answer"),
    shape("mcp-lite-3.4-3", kind="ToolResult", required=False, elicitation="Which quarter?"),
    shape("mcp-lite-3.4-4", kind="ToolResult", required=False, error="no", isError="yes"),
    shape("mcp-lite-3.6-3", kind="RedeemParams", promise=7),
    shape("mcp-lite-2.2-3", kind="RedeemParams", required=False, action="forget"),
    shape("mcp-lite-A.2-1", "mcp-lite-A.2-2", kind="ToolResult", required=False, content=["text"]),
    shape(
        "mcp-lite-A.3-1",
        kind="ResponseMeta",
        required=False,
        promise_token=7,
        estimated_completion=300,
        expires_at=0,
        retry_after_ms=-1,
    ),
    shape("mcp-lite-A.4-2", "mcp-lite-4.3-3", kind="PartialResult", partial=["Quarterly"]),
    shape("mcp-lite-A.4-3", "mcp-lite-4.3-4", "mcp-lite-3.7-3", kind="StreamEnd", _meta=None),
    shape("mcp-lite-A.5-1", kind="ToolNotFoundData", required=False, available_tools="redeem"),
]


@pytest.mark.parametrize("case", SHAPES)
def test_members_are_there_as_the_text_says(case: Shape) -> None:
    check_shape(case)


@pytest.mark.spec("mcp-lite-mcp-lite-specification-1")
def test_the_protocol_has_its_name_and_version() -> None:
    table = methods.PROTOCOL
    assert (table.name, table.title, table.version) == ("mcp-lite", "MCP-lite", "0.042")
    assert table.capability is None


@pytest.mark.spec("mcp-lite-2.2-1", "mcp-lite-2.2-2")
def test_tools_are_listed_and_called_by_requests_of_the_client() -> None:
    stable = [row for row in specified(methods.PROTOCOL).values() if row.status == "stable"]
    assert [(row.name, row.kind, row.sender) for row in stable] == [
        ("tools/list", "request", "client"),
        ("tools/call", "request", "client"),
    ]


@pytest.mark.spec("mcp-lite-7.2-1", "mcp-lite-7.2-2", "mcp-lite-7.2-3")
def test_servers_send_only_answers_and_there_are_no_sessions() -> None:
    assert set(specified(methods.PROTOCOL)) == {"tools/list", "tools/call", "prompts/list"}
    assert {row.sender for row in specified(methods.PROTOCOL).values()} == {"client"}
    assert CONTENT["http"]["verb"] == "POST"


@pytest.mark.spec("mcp-lite-8.1-1")
def test_prompts_are_an_idea_without_stub_and_handler() -> None:
    assert methods.PROMPTS_LIST.status == "considered"
    assert not hasattr(mcplite.ServerStub, "prompts_list")
    assert "prompts/list" not in mcplite.ServerHandlers.rows
    assert "prompts" not in tables.HTTP.paths


@pytest.mark.parametrize("params", [{}, {"_meta": {"session_context": "conv_789"}}])
@pytest.mark.spec("mcp-lite-4.2.1-1", "mcp-lite-2.2-5")
def test_the_request_for_the_tools_may_be_empty(params: JsonObject) -> None:
    assert to_wire(from_wire(mcplite.ListToolsParams, params)) == params


@pytest.mark.spec("mcp-lite-A.1-2", "mcp-lite-4.2.1-2")
def test_the_tools_are_a_list_in_an_object() -> None:
    tool = {"name": "ping", "description": "Answers", "inputSchema": {"type": "object"}}
    assert to_wire(from_wire(mcplite.ListToolsResult, {"tools": [tool]})) == {"tools": [tool]}
    with pytest.raises(ValidationError):
        from_wire(mcplite.ListToolsResult, [tool])


@pytest.mark.parametrize("identifier", ["unique-id", 7])
@pytest.mark.spec("mcp-lite-4.2.2-1")
def test_a_call_is_a_request_of_json_rpc(identifier: Any) -> None:
    params: JsonObject = {"name": "search", "arguments": {"query": "q"}}
    frame = {"jsonrpc": "2.0", "id": identifier, "method": "tools/call", "params": params}
    assert to_wire(from_wire(jsonrpc.Request, frame)) == frame
    assert to_wire(methods.TOOLS_CALL.decode_params(params)) == params


RESPONSES: list[Any] = [
    pytest.param("answer", {"content": [{"n": 1}]}, marks=pytest.mark.spec("mcp-lite-3.4-1")),
    pytest.param(
        "promise", {"_meta": {"promise_token": TOKEN}}, marks=pytest.mark.spec("mcp-lite-3.4-2")
    ),
    ("elicitation", {"elicitation": {"text": "?", "questions": [{"id": "q", "text": "Which?"}]}}),
    ("failure", {"error": {"code": "OUT_OF_STOCK", "message": "None left"}, "isError": True}),
    ("request-for-more-resource", {}),
    ("a-later-kind", {"x-later": {"what": None}}),
]


@pytest.mark.parametrize(("kind", "members"), RESPONSES)
@pytest.mark.spec("mcp-lite-1-6")
def test_a_response_of_any_kind_comes_back_equal(kind: str, members: JsonObject) -> None:
    value = {**members, "_meta": {**members.get("_meta", {}), "response_type": kind}}
    result = from_wire(mcplite.ToolResult, value)
    assert to_wire(result) == value
    assert result.meta is not None
    assert result.meta.response_type == kind


def test_the_kinds_of_response_are_those_of_the_table() -> None:
    listed = CONTENT["$defs"]["ResponseType"]["enum"]
    assert list(tables.RESPONSE_TYPES) == listed
    final = [name for name, row in tables.RESPONSE_TYPES.items() if row.final]
    assert final == ["answer", "failure"]


REDEEM = tools.REDEEM


@pytest.mark.spec("mcp-lite-3.6-1", "mcp-lite-3.6-2", "mcp-lite-A.1-3")
def test_redeem_is_a_system_tool_with_one_required_text() -> None:
    entry = from_wire(mcplite.Tool, REDEEM.definition)
    assert (entry.name, entry.type) == ("redeem", "system")
    assert entry.input_schema["required"] == ["promise"]
    assert entry.input_schema["properties"]["promise"]["type"] == "string"


@pytest.mark.spec("mcp-lite-A.3-2")
def test_a_promise_is_redeemed_by_a_call_with_the_token() -> None:
    params = from_wire(mcplite.CallToolParams, {"name": "redeem", "arguments": {"promise": TOKEN}})
    assert REDEEM.caller is methods.TOOLS_CALL
    assert REDEEM.decode_params(params.arguments) == mcplite.RedeemParams(promise=TOKEN)


REDEEMED: list[JsonObject] = [
    {"content": [{"rows": 3}], "_meta": {"response_type": "answer"}},
    {"_meta": {"response_type": "promise", "promise_token": TOKEN, "retry_after_ms": 5000}},
    {
        "error": {"code": "PROMISE_UNAVAILABLE", "message": "Too late"},
        "isError": True,
        "_meta": {"response_type": "failure"},
    },
]


@pytest.mark.parametrize("result", REDEEMED)
@pytest.mark.spec("mcp-lite-3.6-4", "mcp-lite-3.5-4")
def test_what_is_redeemed_is_the_whole_result(result: JsonObject) -> None:
    redeemed = REDEEM.decode_result(from_wire(mcplite.ToolResult, result))
    assert to_wire(redeemed) == result
    assert REDEEM.result_to_wire(redeemed) == result


@pytest.mark.parametrize(
    ("event", "data"),
    [
        ("message", {"partial": "Quarterly"}),
        ("done", {"_meta": {"response_type": "answer"}}),
        ("done", {"id": 7, "content": [{}], "_meta": {"response_type": "answer"}}),
        pytest.param(
            "error", {"code": -32603, "message": "m"}, marks=pytest.mark.spec("mcp-lite-4.3-5")
        ),
        pytest.param("heartbeat", {}, marks=pytest.mark.spec("mcp-lite-4.3-6")),
    ],
)
def test_an_event_has_its_data(event: str, data: JsonObject) -> None:
    home = "jsonrpc" if event == "error" else "mcp-lite"
    assert alone(home, tables.HTTP.events[event], data) == data


@pytest.mark.spec("mcp-lite-3.7-2")
def test_parts_and_ends_are_distinguished() -> None:
    with pytest.raises(ValidationError, match="_meta"):
        from_wire(mcplite.StreamEnd, {"partial": "Quarterly"})
    with pytest.raises(ValidationError, match="partial"):
        from_wire(mcplite.PartialResult, {"_meta": {"response_type": "answer"}})


@pytest.mark.spec("mcp-lite-4.1-2", "mcp-lite-4.1-3", "mcp-lite-4.1-5")
def test_http_posts_json_below_the_base() -> None:
    binding = tables.HTTP
    assert (binding.base, binding.verb) == ("/mcp-lite/v1/", "POST")
    assert binding.content_type == "application/json"
    assert all(path.path.startswith(binding.base) for path in binding.paths.values())


@pytest.mark.spec("mcp-lite-4.2-1", "mcp-lite-A.1-1", "mcp-lite-A.4-1")
def test_each_path_leads_to_its_method_also_by_its_aliases() -> None:
    found = {
        name: (path.method, path.enveloped)
        for path in tables.HTTP.paths.values()
        for name in (path.path.removeprefix(tables.HTTP.base), *path.aliases)
    }
    assert found == {
        "listtools": ("tools/list", False),
        "tools": ("tools/list", False),
        "calltools": ("tools/call", True),
        "calltoolsEndpoint": ("tools/call", True),
        "rpc": ("tools/call", True),
    }


ERRORS = [
    ("mcp-lite-4.4-1", jsonrpc.ParseError, -32700),
    ("mcp-lite-4.4-2", jsonrpc.InvalidRequestError, -32600),
    ("mcp-lite-4.4-3", mcplite.ToolNotFoundError, -32601),
    ("mcp-lite-4.4-4", jsonrpc.InvalidParamsError, -32602),
    ("mcp-lite-4.4-5", jsonrpc.InternalError, -32603),
]


@pytest.mark.parametrize(
    ("kind", "code"),
    [pytest.param(kind, code, marks=pytest.mark.spec(row)) for row, kind, code in ERRORS],
)
def test_a_call_can_be_answered_with_the_error_and_its_code(
    kind: type[RpcError], code: int
) -> None:
    assert kind().code == code
    assert kind in methods.TOOLS_CALL.errors


GRPC: dict[str, Any] = CONTENT["grpc"]
NUMBERS: list[tuple[str, str, JsonObject]] = [
    ("mcp-lite-5.2-1", "Empty", {}),
    ("mcp-lite-5.2-2", "Tool", {"name": 1, "type": 2, "description": 3, "input_schema": 4}),
    ("mcp-lite-5.2-3", "ToolsList", {"tools": 1}),
    ("mcp-lite-5.2-4", "ToolRequest", {"name": 1, "arguments": 2}),
    ("mcp-lite-5.2-5", "ToolResponse", {"result": 1, "meta": 2}),
    (
        "mcp-lite-5.2-6",
        "ResponseMeta",
        {"response_type": 1, "promise_token": 2, "timestamp": 3, "processing_time_ms": 4},
    ),
]


@pytest.mark.parametrize(
    ("message", "numbers"),
    [pytest.param(name, fields, marks=pytest.mark.spec(row)) for row, name, fields in NUMBERS],
)
def test_a_message_has_the_field_numbers_of_the_text(message: str, numbers: JsonObject) -> None:
    fields = GRPC["messages"][message]["fields"]
    assert {name: fields[name]["number"] for name in numbers} == numbers
    ours = [field["number"] for name, field in fields.items() if name not in numbers]
    assert all(number >= 10 for number in ours)
    assert len(set(ours)) == len(ours)


@pytest.mark.spec("mcp-lite-5.2-8")
def test_the_kinds_of_response_have_the_numbers_of_the_text() -> None:
    values = GRPC["enums"]["ResponseType"]["values"]
    numbers = {name: value["number"] for name, value in values.items()}
    extra = {"REQUEST_FOR_MORE_RESOURCE": 4}
    assert numbers == {"ANSWER": 0, "PROMISE": 1, "ELICITATION": 2, "FAILURE": 3} | extra
    assert [value["value"] for value in values.values()] == list(tables.RESPONSE_TYPES)


CALLS = [
    ("mcp-lite-5.1-2", "GetTools", "Empty", "ToolsList", False),
    ("mcp-lite-5.1-3", "CallTool", "ToolRequest", "ToolResponse", False),
    ("mcp-lite-5.1-4", "CallToolStream", "ToolRequest", "ToolResponse", True),
]


@pytest.mark.parametrize(
    ("name", "request_type", "response_type", "stream"),
    [pytest.param(*call, marks=pytest.mark.spec(row)) for row, *call in CALLS],
)
def test_the_service_has_the_call(
    name: str, request_type: str, response_type: str, stream: bool
) -> None:
    row = GRPC["rpcs"][name]
    assert (row["request"], row["response"]) == (request_type, response_type)
    assert row.get("stream", False) is stream


STATUSES = [
    ("mcp-lite-5.5-1", "INVALID_ARGUMENT", "jsonrpc#InvalidParams"),
    ("mcp-lite-5.5-2", "NOT_FOUND", "ToolNotFound"),
    ("mcp-lite-5.5-3", "DEADLINE_EXCEEDED", None),
    ("mcp-lite-5.5-4", "INTERNAL", "jsonrpc#InternalError"),
]


@pytest.mark.parametrize(
    ("code", "error"),
    [pytest.param(code, error, marks=pytest.mark.spec(row)) for row, code, error in STATUSES],
)
def test_a_status_stands_for_an_error(code: str, error: str | None) -> None:
    assert {row["code"]: row.get("error") for row in GRPC["codes"]}[code] == error
