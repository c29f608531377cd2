"""What is generated for other tools, as far as it can be judged without them.

`tests/interop/test_exports.py` asks the tools themselves.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from kinwire import RpcError, Server, pair
from tests.each import each
from tests.generated.interpreter import ROOT
from tests.generated.messages import DOCUMENTS, EXAMPLES

GENERATED = ROOT / "generated"
# The numbers that the specification of MCP-lite gives (5.2); what it lacks is 10 or above.
MCP_LITE = {
    "Tool": {"name": 1, "type": 2, "description": 3, "input_schema": 4},
    "ToolsList": {"tools": 1},
    "ToolRequest": {"name": 1, "arguments": 2},
    "ToolResponse": {"result": 1, "meta": 2},
    "ResponseMeta": {
        "response_type": 1,
        "promise_token": 2,
        "timestamp": 3,
        "processing_time_ms": 4,
    },
}


def schema_of(protocol: str) -> dict[str, Any]:
    text = (GENERATED / "json-schema" / f"{protocol}.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


@each("document", DOCUMENTS)
def test_a_json_schema_has_every_type_and_refers_to_nothing_outside(document: Any) -> None:
    schema = schema_of(document.name)
    Draft202012Validator.check_schema(schema)
    assert schema["$id"] == f"urn:kinwire:{document.name}:{document.content['version']}"
    assert set(schema["$defs"]) >= set(document.definitions)
    assert {name: kind["title"] for name, kind in schema["$defs"].items()} == {
        name: name for name in schema["$defs"]
    }
    named = set(re.findall(r'"\$ref": "([^"]*)"', json.dumps(schema)))
    assert named <= {f"#/$defs/{name}" for name in schema["$defs"]}


def part_of(schema: dict[str, Any], pointer: str) -> Draft202012Validator:
    """Return the validator of a type or of a kind of message in a schema."""
    whole = {"$ref": f"{schema['$id']}{pointer}"}
    registry = Registry[Any]().with_resource(schema["$id"], DRAFT202012.create_resource(schema))
    return Draft202012Validator(whole, registry=registry)


def test_every_example_fits_its_type_in_the_json_schema() -> None:
    schemas = {document.name: schema_of(document.name) for document in DOCUMENTS}
    for protocol, name, example in EXAMPLES:
        kind = part_of(schemas[protocol], f"#/$defs/{name}")
        assert kind.is_valid(example), (protocol, name)


def echo(text: str) -> str:
    return text


@pytest.mark.anyio
async def test_frames_of_a_session_fit_the_schema_of_messages() -> None:
    server = Server("echo", "1")
    server.tool(echo)
    async with pair(server) as client:
        await client.mcp.tools_list()
        await client.mcp.ping()
        await client.mcp.tools_call(name="echo", arguments={"text": "a"})
        with pytest.raises(RpcError):
            await client.mcp.tools_call(name="nosuch")
        frames = [json.loads(frame.data) for frame in client.frames]
    schema = schema_of("mcp")
    table = json.loads((GENERATED / "json-schema/mcp/methods.json").read_text("utf-8"))["methods"]
    asked = {frame["id"]: frame["method"] for frame in frames if {"id", "method"} <= {*frame}}
    assert {*asked.values()} == {"initialize", "tools/list", "ping", "tools/call"}
    for frame in frames:
        assert Draft202012Validator(schema).is_valid(frame), frame
        wire = frame.get("method") or asked[frame["id"]]
        kind = "response" if "result" in frame else "request" if "id" in frame else "notification"
        anchor = "#ErrorResponse" if "error" in frame else table[wire][kind]
        assert part_of(schema, anchor).is_valid(frame), frame


REQUEST = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "a"}}
RESPONSE = {"jsonrpc": "2.0", "id": 1, "result": {"content": []}}


@each(
    ("anchor", "frame", "valid"),
    [
        ("#ToolsCallRequest", REQUEST, True),
        ("#ToolsCallRequest", REQUEST | {"id": "a", "extra": 1}, True),
        ("#ToolsCallRequest", REQUEST | {"id": None}, False),
        ("#ToolsCallRequest", REQUEST | {"jsonrpc": "1.0"}, False),
        ("#ToolsCallRequest", REQUEST | {"method": "tools/list"}, False),
        ("#ToolsCallRequest", REQUEST | {"params": {"name": 1}}, False),
        ("#ToolsCallRequest", {**REQUEST, "params": None}, False),
        ("#ToolsCallRequest", REQUEST | {"result": {}}, False),
        ("#ToolsListRequest", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, True),
        ("#ToolsCallResponse", RESPONSE, True),
        ("#ToolsCallResponse", RESPONSE | {"result": {}}, False),
        ("#ToolsCallResponse", RESPONSE | {"error": {"code": 1, "message": "a"}}, False),
        (
            "#ErrorResponse",
            {"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": ""}},
            True,
        ),
        ("#ErrorResponse", {"jsonrpc": "2.0", "id": 1, "error": {"code": 1}}, False),
        ("", REQUEST, True),
        ("", REQUEST | {"method": "tools/nothing"}, False),
        ("", {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "a"}}, False),
        ("", {"jsonrpc": "2.0", "id": 1, "method": "notifications/initialized"}, False),
        ("", {"jsonrpc": "2.0", "method": "notifications/initialized"}, True),
        ("", [], False),
    ],
)
def test_schemas_of_messages_take_what_is_right_and_nothing_else(
    anchor: str, frame: Any, valid: bool
) -> None:
    assert part_of(schema_of("mcp"), anchor).is_valid(frame) == valid


@each("document", DOCUMENTS)
def test_the_table_of_methods_leads_to_types_and_messages(document: Any) -> None:
    path = GENERATED / "json-schema" / document.name / "methods.json"
    assert path.exists() == bool(document.content["methods"])
    if not path.exists():
        return
    schema = schema_of(document.name)
    file = json.loads(path.read_text(encoding="utf-8"))
    assert file["schema"] == schema["$id"]
    assert {wire for wire, row in file["methods"].items() if "aliasOf" not in row} == {
        wire
        for wire, row in document.content["methods"].items()
        if row.get("status") != "considered"
    }
    anchors = {f"#{message['$anchor']}" for message in schema["anyOf"]}
    for row in file["methods"].values():
        found = {row[kind] for kind in ("request", "response", "notification") if kind in row}
        expected = {"request": 2, "notification": 1, "either": 3}[row["kind"]]
        assert len(found) == expected
        assert found <= anchors
    for row in (*file["methods"].values(), *file["tools"].values()):
        for part in ("params", "result", "arguments"):
            name = row.get(part, "#/$defs/").removeprefix("#/$defs/")
            assert not name or name in schema["$defs"]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_openrpc_describes_what_each_end_answers(document: Any) -> None:
    for role, sender in (("server", "client"), ("client", "server")):
        path = GENERATED / "openrpc" / f"{document.name}-{role}.json"
        expected = {
            wire
            for wire, row in document.content["methods"].items()
            if row["from"] in (sender, "both") and row.get("status") != "considered"
        }
        assert path.exists() == bool(expected)
        if expected:
            methods = json.loads(path.read_text(encoding="utf-8"))["methods"]
            assert {method["name"] for method in methods} == expected


def test_the_binding_to_grpc_keeps_the_numbers_of_the_specification() -> None:
    text = (GENERATED / "proto" / "mcplite.proto").read_text(encoding="utf-8")
    for name, fields in MCP_LITE.items():
        (body,) = re.findall(rf"^message {name} {{\n(.*?)^}}", text, flags=re.M | re.S)
        found = {field: int(number) for field, number in re.findall(r"(\w+) = (\d+);", body)}
        assert {field: found.pop(field) for field in fields} == fields
        assert all(number >= 10 for number in found.values())
