"""What is generated for other tools, as far as it can be judged without them.

`tests/interop/test_exports.py` asks the tools themselves.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from jsonschema import Draft202012Validator

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


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_a_json_schema_has_every_type_and_refers_to_nothing_outside(document: Any) -> None:
    schema = schema_of(document.name)
    Draft202012Validator.check_schema(schema)
    assert set(schema["$defs"]) >= set(document.definitions)
    named = set(re.findall(r'"\$ref": "([^"]*)"', json.dumps(schema)))
    assert named <= {f"#/$defs/{name}" for name in schema["$defs"]}


def test_every_example_fits_its_type_in_the_json_schema() -> None:
    schemas = {document.name: schema_of(document.name) for document in DOCUMENTS}
    for protocol, name, example in EXAMPLES:
        kind = schemas[protocol] | {"$ref": f"#/$defs/{name}"}
        assert Draft202012Validator(kind).is_valid(example), (protocol, name)


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
