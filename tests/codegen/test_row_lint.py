"""Bad tools, augments, tables, machines and bindings, and what is said of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kinwire_codegen.lint import lint
from tests.codegen.documents import documents, protocol
from tests.codegen.test_lint import TEXT, row, thing

BASE = protocol(
    "base-line",
    methods={"tools/call": row(kind="request", gate=None)},
    types={"Thing": thing(name=TEXT), "Loose": {"description": "Any."}},
)


def tool(**members: Any) -> dict[str, Any]:
    return {
        "section": "1",
        "summary": "Do.",
        "params": "#/$defs/It",
        "result": "#/$defs/It",
    } | members


def augment(**members: Any) -> dict[str, Any]:
    common = {"to": {"def": "base-line#Thing"}, "member": "m", "schema": {"$ref": "#/$defs/It"}}
    return common | {"from": "client", "section": "1", "summary": "More."} | members


def machine(*steps: tuple[str, str, str], **members: Any) -> dict[str, Any]:
    moves = [dict(zip(("from", "on", "to"), step, strict=True)) for step in steps]
    common = {"section": "1", "summary": "Go.", "states": "#/$defs/State", "initial": "a"}
    return {"M": common | {"transitions": moves} | members}


def table(*rows: dict[str, Any], **members: Any) -> dict[str, Any]:
    common = {"section": "1", "summary": "Rows.", "type": "#/$defs/It"}
    return {"T": common | {"rows": list(rows)} | members}


def grpc(**members: Any) -> dict[str, Any]:
    row = {"section": "1", "summary": "It."}
    call = row | {"method": "go", "request": "Q", "response": "Q"}
    common = {"package": "p", "service": "S", "rpcs": {"Go": call}, "messages": message()}
    return row | common | members


def message(**fields: Any) -> dict[str, Any]:
    return {"Q": {"section": "1", "summary": "It.", "fields": fields}}


STATES = {"description": "States.", "type": "string", "enum": ["a", "b"]}


def sequence(*steps: dict[str, Any]) -> dict[str, Any]:
    return {"S": {"section": "1", "summary": "So.", "steps": [{"message": "go"}, *steps]}}


LIMIT = {"section": "1", "summary": "Most.", "value": 1}
GO = {"go": row(params="#/$defs/It", result="#/$defs/It")}
NOTIFIED = {key: value for key, value in GO["go"].items() if key != "result"} | {
    "kind": "notification"
}

BAD = [
    pytest.param(
        {"extends": [], "tools": {"t": tool()}},
        "/tools: neither this protocol nor one that it extends has a method 'tools/call'."
        " Extend one that has it, such as mcp.",
        id="tools that nothing calls",
    ),
    pytest.param(
        {"tools": {"t": tool(result="base-line.json#/$defs/Loose")}},
        "/tools/t/result: base-line.json#/$defs/Loose is not an object with properties."
        " Name an object type; give it properties.",
        id="a tool whose result is not an object",
    ),
    pytest.param(
        {"tools": {"a/b": tool(), "a_b": tool()}},
        "/tools/a_b: 'a_b' and 'a/b' are both 'a_b' in Python. Rename one of them.",
        id="two tools of one name",
    ),
    pytest.param(
        {"tools": {"a": tool(aliases=["b"]), "b": tool()}},
        "/tools/a/aliases: the alias 'b' is also the name of a tool. Remove it.",
        id="an alias that is a tool",
    ),
    pytest.param(
        {"tools": {"t": tool(errors=["Nope"])}},
        "/tools/t/errors/0: 'Nope' is not an error. Define it under errors.",
        id="an error of a tool that is not there",
    ),
    pytest.param(
        {"augments": [augment(to={"method": "tools/nope", "part": "params"})]},
        "/augments/0/to: its target is not a message of a protocol that this one extends."
        " Give one of def, method with part, or every; name a method of that protocol.",
        id="an augment of no method",
    ),
    pytest.param(
        {"augments": [augment(to={"def": "base-line#Thing", "every": "params"})]},
        "/augments/0/to: its target is not a message of a protocol that this one extends."
        " Give one of def, method with part, or every; name a method of that protocol.",
        id="an augment of two things",
    ),
    pytest.param(
        {"augments": [augment(to={"def": "base-line#Nope"})]},
        "/augments/0/to/def: 'Nope' is not a definition. Define it under $defs.",
        id="an augment of no type",
    ),
    pytest.param(
        {"augments": [augment(to={"def": "toy#It"})]},
        "/augments/0/to: toy#It is of this protocol. Add the member to the type itself.",
        id="an augment of its own type",
    ),
    pytest.param(
        {"augments": [augment(member="name")]},
        "/augments/0/member: 'name' is added to base-line#Thing, which has it by its own type"
        " Thing. Choose another name.",
        id="an augment that is there already",
    ),
    pytest.param(
        {"augments": [augment(), augment()]},
        "/augments/1/member: 'm' is added to base-line#Thing, which has it by toy."
        " Choose another name.",
        id="an augment twice",
    ),
    pytest.param(
        {"tables": table({"a": 1})},
        "/tables/T/rows/0/a: it does not fit the type: 1 is not of type 'string'."
        " Correct the value or the type.",
        id="a row that does not fit",
    ),
    pytest.param(
        {"tables": table({"a": "1"}, {"a": "1"}, key="a")},
        "/tables/T: two rows have the key '1'. Remove one.",
        id="a key twice",
    ),
    pytest.param(
        {"tables": table({"a": "1"}, {}, key="a")},
        "/tables/T/key: a row has no text 'a'. Give each row one that is text, or remove the key.",
        id="a row without its key",
    ),
    pytest.param(
        {"tables": table({"a": "1"}), "limits": {"t": LIMIT}},
        "/limits/t: it is 'T' in Python, as is /tables/T. Rename one of them.",
        id="two data of one name",
    ),
    pytest.param(
        {"limits": {"n": LIMIT | {"error": "Nope"}}},
        "/limits/n/error: 'Nope' is not an error. Define it under errors.",
        id="an error of a limit that is not there",
    ),
    pytest.param(
        {"machines": machine(("a", "x", "b"), states="#/$defs/It")},
        "/machines/M/states: the type is not an enum. Name an enum.",
        id="states that are not an enum",
    ),
    pytest.param(
        {"machines": machine(("a", "x", "b"), ("a", "y", "c"))},
        "/machines/M/transitions/1/to: 'c' is not a state. Name one of a, b.",
        id="no such state",
    ),
    pytest.param(
        {"machines": machine(("a", "x", "b"), ("a", "x", "a"))},
        "/machines/M/transitions: 'x' leads from 'a' to two states."
        " Remove one, or name the events apart.",
        id="an event that leads to two",
    ),
    pytest.param(
        {"machines": machine(("a", "x", "a"))},
        "/machines/M/transitions: 'b' is never reached from 'a'."
        " Add a transition, or remove the state.",
        id="a state that is never reached",
    ),
    pytest.param(
        {"machines": machine(("a", "x", "b"), ("b", "x", "a"), final=["b"])},
        "/machines/M/final: 'b' is final, but a transition leaves it. Remove one of the two.",
        id="a final state that is left",
    ),
    pytest.param(
        {"sequences": sequence({"message": "tools/call"})},
        "/sequences/S/steps/1/message: 'tools/call' is not a method or tool."
        " Name one of this document, or one that it extends as mcp#tools/call.",
        id="a step of no message",
    ),
    pytest.param(
        {"sequences": sequence({"message": "base-line#tools/call", "answer": True})},
        "/sequences/S/steps/1/answer: 'tools/call' is answered before it is sent."
        " Put the message before its answer.",
        id="an answer to nothing",
    ),
    pytest.param(
        {
            "methods": GO | {"notified": NOTIFIED},
            "sequences": sequence({"message": "notified"}, {"message": "notified", "answer": True}),
        },
        "/sequences/S/steps/2/answer: a notification has no answer. Remove the step.",
        id="an answer to a notification",
    ),
    pytest.param(
        {
            "methods": GO | {"both": {**GO["go"], "from": "both"}},
            "sequences": sequence({"message": "both"}),
        },
        "/sequences/S/steps/1: either end may send 'both'. Say with from which one.",
        id="a step that either end may send",
    ),
    pytest.param(
        {"sequences": sequence({"message": "go", "from": "server"})},
        "/sequences/S/steps/1/from: 'go' is sent by the client. Remove it.",
        id="a step of the wrong end",
    ),
    *(
        pytest.param(
            {"sequences": sequence({"message": "go", "answer": True, key: value})},
            f"/sequences/S/steps/1/{key}: an answer comes once, from the end that did not ask."
            " Remove it.",
            id=f"an answer that says {key}",
        )
        for key, value in (("from", "server"), ("repeats", True))
    ),
    pytest.param(
        {"grpc": grpc(rpcs={"Go": {**grpc()["rpcs"]["Go"], "method": "gone"}})},
        "/grpc/rpcs/Go/method: 'gone' is not a method. Name one of this document.",
        id="a call of no method",
    ),
    pytest.param(
        {"grpc": grpc(messages=message(f={"number": 1, "type": "text"}))},
        "/grpc/messages/Q/fields/f/type: 'text' is not a proto3 type, a message or an enum."
        " Correct it, or define it.",
        id="a field of no type",
    ),
    pytest.param(
        {
            "grpc": grpc(
                messages=message(f={"number": 1, "type": "string"}, g={"number": 1, "type": "Q"})
            )
        },
        "/grpc/messages/Q/fields: the number 1 is there twice. Renumber one.",
        id="a number twice",
    ),
    pytest.param(
        {"grpc": grpc(messages={"R": message()["Q"]})},
        "/grpc/rpcs/Go/request: 'Q' is not a message. Define it under messages.",
        id="a call of no message",
    ),
    pytest.param(
        {
            "grpc": grpc(
                enums={"E": {"section": "1", "summary": "E.", "values": {"A": {"number": 1}}}}
            )
        },
        "/grpc/enums/E/values: the first value is not 0."
        " proto3 requires it: change the number to 0.",
        id="an enum that does not begin with 0",
    ),
]


@pytest.mark.parametrize(("members", "expected"), BAD)
def test_a_bad_entry_is_reported_with_its_place_and_hint(
    members: dict[str, Any], expected: str, tmp_path: Path
) -> None:
    content = {"extends": ["base-line"], "methods": GO} | members
    toy = protocol(types={"It": thing(a=TEXT), "State": STATES}, **content)
    found = [str(finding) for finding in lint(documents(tmp_path, BASE, toy))]
    assert f"toy.json#{expected}" in found
