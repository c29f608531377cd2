"""JSON Schemas with a table of methods: excerpts in the forms of ACP, A2A and DAP."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kinwire_cli import main
from tests.each import each


def thing(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def envelope(method: str, params: str) -> dict[str, Any]:
    return thing(
        method={"const": method},
        params={"$ref": f"#/definitions/{params}"},
        id={"type": ["string", "integer"]},
    )


def derived(name: str, *required: str, **properties: Any) -> dict[str, Any]:
    return {"allOf": [{"$ref": f"#/definitions/{name}"}, thing(*required, **properties)]}


TEXT = {"type": "string"}
ANY = {"type": ["array", "boolean", "integer", "null", "number", "object", "string"]}
ACP: dict[str, Any] = {
    "$defs": {
        "OpenRequest": {
            **thing("path", path={"allOf": [{"$ref": "#/$defs/Path"}], "description": "Which."}),
            "x-method": "shop/open",
            "x-side": "agent",
        },
        "OpenResponse": {**thing(mode=TEXT), "x-method": "shop/open", "x-side": "agent"},
        "AskRequest": {
            "type": "object",
            "x-method": "ask",
            "x-side": "client",
            "properties": {"why": TEXT},
            "oneOf": [
                thing("kind", kind={"const": "form"}),
                {**derived("Url", "kind", kind={"const": "url"}), "title": "Url"},
            ],
        },
        "AskResponse": {"type": "object", "x-method": "ask", "x-side": "client"},
        "StopNotification": {**thing(), "x-method": "stop", "x-side": "protocol"},
        "Path": TEXT,
        "Url": thing("url", url=TEXT),
        "AgentRequest": {"anyOf": [{"$ref": "#/$defs/AskRequest"}]},
        "ErrorCode": {
            "anyOf": [
                {"const": -32700, "title": "Parse error"},
                {"const": -32000, "title": "Sign in", "description": "Needed."},
                {"type": "integer", "title": "Other"},
            ]
        },
    }
}
A2A: dict[str, Any] = {
    "definitions": {
        "SendRequest": envelope("message/send", "SendParams"),
        "SendSuccessResponse": thing("result", result={"$ref": "#/definitions/Task"}),
        "SendResponse": {"anyOf": [{"$ref": "#/definitions/SendSuccessResponse"}]},
        "SendParams": thing(text=TEXT),
        "Task": thing(state={"enum": ["open", "done"]}),
        "AgentCard": thing(name=TEXT),
        "TaskNotFoundError": thing(
            code={"const": -32001},
            message={"type": "string", "default": "Task not found"},
            data={"description": "Any."},
        ),
    }
}
DAP: dict[str, Any] = {
    "definitions": {
        "ProtocolMessage": thing(type=TEXT),
        "Request": derived("ProtocolMessage", command=TEXT, arguments=ANY),
        "Response": derived("ProtocolMessage", body=ANY),
        "Event": derived("ProtocolMessage", event=TEXT, body=ANY),
        "NextRequest": derived(
            "Request", command={"enum": ["next"]}, arguments={"$ref": "#/definitions/NextArguments"}
        ),
        "NextArguments": thing(
            granularity={
                "type": "string",
                "_enum": ["line"],
                "enumDescriptions": ["A whole line."],
            }
        ),
        "NextResponse": {"allOf": [{"$ref": "#/definitions/Response"}, {"type": "object"}]},
        "ThreadsRequest": derived("Request", command={"enum": ["threads"]}),
        "ThreadsResponse": derived("Response", "body", body=thing(threads={"type": "array"})),
        "InitializeRequest": derived("Request", command={"enum": ["initialize"]}),
        "InitializeResponse": derived("Response", body=thing(fast={"type": "boolean"})),
        "RunInTerminalRequest": derived("Request", command={"enum": ["runInTerminal"]}),
        "RunInTerminalResponse": derived("Response", "body", body=thing()),
        "StoppedEvent": derived("Event", "body", event={"enum": ["stopped"]}, body=thing()),
    }
}
OWN = {
    "methods": {
        "add": {
            "kind": "request",
            "from": "client",
            "params": "AddParams",
            "result": "Sum/properties/is",
        },
        "log": {"kind": "notification", "from": "both", "params": "AddParams"},
    }
}
SUMS = {"$defs": {"AddParams": thing(a=TEXT), "Sum": thing(**{"is": {"type": "integer"}})}}

Made = tuple[int, Any, str]


def import_schema(
    schema: Any, table: Any, folder: Path, capsys: pytest.CaptureFixture[str]
) -> Made:
    """Return the exit code, the document, and what is written to stderr."""
    (folder / "schema.json").write_text(json.dumps(schema))
    if not isinstance(table, str):
        (folder / "table.json").write_text(json.dumps(table))
        table = str(folder / "table.json")
    command = ["import", "json-schema", str(folder / "schema.json"), "--methods", table]
    code = main([*command, "--as-version", "1", "--out", str(folder / "out")])
    said = capsys.readouterr()
    made = [*folder.glob("out/1/[!m]*.json")]
    return code, json.loads(made[0].read_text()) if made else None, said.out + said.err


def rows(document: Any) -> dict[str, tuple[Any, ...]]:
    parts = ("kind", "from", "params", "result")
    return {
        name: tuple(str(row.get(part, "-")).removeprefix("#/$defs/") for part in parts)
        for name, row in document["methods"].items()
    }


def test_marked_definitions_are_methods_of_acp(  # C048
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, document, said = import_schema(ACP, "acp", tmp_path, capsys)
    assert code == 0, said
    assert rows(document) == {
        "ask": ("request", "server", "AskRequest", "AskResponse"),
        "shop/open": ("request", "client", "OpenRequest", "OpenResponse"),
        "stop": ("notification", "both", "StopNotification", "-"),
    }
    assert document["errors"] == {
        "SignIn": {"code": -32000, "message": "Sign in", "description": "Needed."}
    }
    path = document["$defs"]["OpenRequest"]["properties"]["path"]
    assert path == {"$ref": "#/$defs/Path", "description": "Which."}
    assert "x-method" not in document["$defs"]["OpenRequest"]
    ask = document["$defs"]["AskRequest"]
    assert ask["discriminator"] == {"propertyName": "kind"}
    assert "AgentRequest into the messages of all methods" in said


def test_requests_with_a_constant_method_are_methods_of_a2a(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, document, said = import_schema(A2A, "a2a", tmp_path, capsys)
    assert code == 0, said
    assert rows(document) == {"message/send": ("request", "client", "SendParams", "Task")}
    assert document["errors"]["TaskNotFound"]["message"] == "Task not found"
    assert "data" not in document["errors"]["TaskNotFound"]
    assert document["records"]["agent-card.json"]["type"] == "#/$defs/AgentCard"
    assert "SendRequest, SendSuccessResponse into message/send" in said


def test_commands_and_events_are_methods_of_dap(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, document, said = import_schema(DAP, "dap", tmp_path, capsys)
    assert code == 0, said
    assert rows(document) == {
        "initialize": ("request", "client", "-", "InitializeResult"),
        "next": ("request", "client", "NextArguments", "NextResult"),
        "runInTerminal": ("request", "server", "-", "RunInTerminalResult"),
        "stopped": ("notification", "server", "StoppedParams", "-"),
        "threads": ("request", "client", "-", "ThreadsResult"),
    }
    types = document["$defs"]
    assert {"type": "null"} in types["InitializeResult"]["anyOf"], "its body may be absent"
    assert types["NextArguments"]["properties"]["granularity"] == {
        "anyOf": [
            {
                "type": "string",
                "enum": ["line"],
                "enumValues": {"line": {"description": "A whole line."}},
            },
            {"type": "string"},
        ]
    }
    assert document["x-envelope"]["event"]["method"] == "event"


def test_a_table_of_ones_own_names_definitions_and_places_in_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, document, said = import_schema(SUMS, OWN, tmp_path, capsys)
    assert code == 0, said
    assert document["records"]["Sum"]["type"] == "#/$defs/Sum", "it is in no message"
    assert rows(document) == {
        "add": ("request", "client", "AddParams", "AddResult"),
        "log": ("notification", "both", "AddParams", "-"),
    }
    assert document["$defs"]["AddResult"]["type"] == "integer"


@each(
    ("schema", "table", "says"),
    [
        (SUMS, "nope", "there is no table or file 'nope'; the tables are a2a, acp, dap."),
        (SUMS, {"method": {}}, "is not a method table: at $, 'method' does not match"),
        (
            SUMS,
            {"methods": {"x": {"kind": "call", "from": "client"}}},
            "at $.methods.x.kind, 'call' is not one of ['request', 'notification', 'either']",
        ),
        (
            SUMS,
            {"methods": {"x": {"kind": "request", "from": "client", "result": "Summ"}}},
            "methods/x/result names 'Summ', which is not a definition of the schema. "
            "Did you mean 'Sum'?",
        ),
        (
            SUMS,
            {"methods": {"x": {"kind": "request", "from": "client", "result": "Sum/a"}}},
            "methods/x/result names 'Sum/a', and there is nothing at that place",
        ),
        *(
            (SUMS, table, "'(' is not a 'regex'")
            for table in (
                {"rules": [{"definitions": "(", "method": "", "kind": "request", "from": "both"}]},
                {"envelopes": ["("]},
            )
        ),
        (SUMS, "acp", "the table finds no method in it"),
        ({"type": "object"}, "acp", "the schema has no definitions under $defs or definitions"),
        (
            {"$defs": {"ARequest": {"x-method": "a", "x-side": "moon"}, "AResponse": {}}},
            "acp",
            "ARequest/x-side is 'moon', and the table knows only agent, client, protocol",
        ),
        ({"$defs": {"ARequest": 5}}, "acp", "the table finds no method in it"),
        ({"$defs": {"ARequest": {"x-method": ["a"]}}}, "acp", "the table finds no method in it"),
    ],
)
def test_a_schema_and_a_table_that_do_not_fit_are_refused(
    schema: Any, table: Any, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, document, said = import_schema(schema, table, tmp_path, capsys)
    assert (code, document) == (2, None)
    assert says in said
    assert "Error" not in said


def test_a_schema_without_a_table_is_refused_with_the_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "schema.json").write_text(json.dumps(SUMS))
    assert main(["import", "json-schema", str(tmp_path / "schema.json")]) == 2
    said = capsys.readouterr().err
    assert "hint: Pass --methods with a table: a2a, acp, dap, or a file." in said


def test_a_request_without_a_result_is_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    marked = {**thing(), "x-method": "lost", "x-side": "agent"}
    schema = {"$defs": ACP["$defs"] | {"LostRequest": marked}}
    code, _, said = import_schema(schema, "acp", tmp_path, capsys)
    assert code == 1
    assert "left out: lost: there is no definition of its result" in said
