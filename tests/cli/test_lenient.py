"""Subcommands report what they read leniently, against a server that is written by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kinwire_cli.validation.validator import MessageValidator
from kinwire_protocols import mcpl
from tests.cli.fixtures_scripts import Captured, greeting, ran, scripted

TOOL = {"name": "t", "inputSchema": {"type": "object", "properties": []}}
UNKNOWN = {"type": "resource_link", "uri": "file:///a"}
ANSWERS = {
    "initialize": greeting({"tools": [], "experimental": []}),
    "tools/list": {"tools": [TOOL]},
    "tools/call": {"content": [{"type": "text", "text": "known"}, UNKNOWN]},
}


def test_inspect_reports_lenient_readings_as_warnings(capsys: Captured) -> None:
    code, out, _ = ran(capsys, "inspect", "--format", "json", *scripted(answers=ANSWERS))
    found = [one for one in json.loads(out)["findings"] if "kinwire reads it as" in one["hint"]]
    assert [(one["severity"], one["where"]) for one in found] == [
        ("warning", "initialize#/capabilities/experimental"),
        ("warning", "tools/call#/content/1/type"),
    ]
    assert found[0]["text"] == "expected an object, got an array."
    assert code in (0, 1)


def test_inspect_reports_null_where_a_field_may_be_absent(capsys: Captured) -> None:
    tool: dict[str, object] = {"name": "t", "description": None, "inputSchema": {}}
    answers = {**ANSWERS, "tools/list": {"tools": [tool], "nextCursor": None}}
    _, out, _ = ran(capsys, "inspect", "--format", "json", *scripted(answers=answers))
    found = {one["where"]: one["text"] for one in json.loads(out)["findings"]}
    for pointer in ("nextCursor", "tools/0/description"):
        assert found[f"tools/list#/{pointer}"] == "expected a value, or no field, got null."
    assert found["tools/list#/tools/0/inputSchema/type"] == "expected a value, got nothing."


def test_doctor_reports_lenient_readings_as_a_warning(capsys: Captured) -> None:
    _, out, _ = ran(capsys, "doctor", *scripted(answers=ANSWERS))
    assert "reading" in out
    assert "initialize#/capabilities/experimental: expected an object, got an array" in out


def test_call_prints_unknown_blocks(capsys: Captured) -> None:  # C013
    code, out, _ = ran(capsys, "call", "tools/call", "name=t", *scripted(answers=ANSWERS))
    assert (code, json.loads(out)["content"][1]) == (0, UNKNOWN)


RECORDED = [
    ('{"jsonrpc":"2.0","id":1,"method":"ping","params":null}', "absent-params", "/params"),
    ('{"jsonrpc":"2.0","id":1,"result":{},"error":null}', "null-error", "/error"),
    ('{"jsonrpc":"2.0","id":2,"method":"tools/list"}', None, None),
    (
        '{"jsonrpc":"2.0","id":2,"result":null,"error":{"code":-32000,"message":"m"}}',
        "null-result",
        "/result",
    ),
    (
        '{"jsonrpc":"2.0","id":3,"method":"completion/complete","params":{"ref":{"type":"ref/x"},'
        '"argument":{"name":"a","value":"b"}}}',
        "unknown-variant",
        "/params/ref/type",
    ),
    (
        '{"jsonrpc":"2.0","id":3,"result":{"completion":{"values":[],"total":5.0},"_meta":[]}}',
        "empty-array",
        "/result/_meta",
    ),
    ('{"jsonrpc":"2.0","id":4,"method":"tools/list","params":{}}', None, None),
    (
        '{"jsonrpc":"2.0","id":4,"result":{"nextCursor":null,"tools":[{"name":"a",'
        '"inputSchema":{}}]}}',
        "missing-constant",
        "/result/tools/0/inputSchema/type",
    ),
    ('{"jsonrpc":"2.0","id":5,"method":"tools/list"}', None, None),
    (
        '{"jsonrpc":"2.0","id":5,"result":{"tools":[],"nextCursor":null}}',
        "null-field",
        "/result/nextCursor",
    ),
    ('{"jsonrpc":"2.0","id":6,"method":"logging/setLevel","params":{"level":"info"}}', None, None),
    ('{"jsonrpc":"2.0","id":6,"result":{"_meta":{"total":null}}}', None, None),
    (
        '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,'
        '"progress":100.0}}',
        None,
        None,
    ),
]


@pytest.mark.parametrize("form", ["json", "text"])
def test_validate_accepts_and_lists_lenient_readings(
    tmp_path: Path, capsys: Captured, form: str
) -> None:
    file = tmp_path / "session.jsonl"
    file.write_text("".join(line + "\n" for line, _, _ in RECORDED))
    code, out, err = ran(capsys, "validate", "--lenient", str(file), "--format", form)
    assert (code, err) == (0, f"{len(RECORDED)} good, 0 bad\n")
    if form == "text":
        assert "session.jsonl:1: /params: expected an object, got null" in out
        assert len(out.splitlines()) == 8  # one line has two
        return
    for text, (_, name, place) in zip(out.splitlines(), RECORDED, strict=True):
        report = json.loads(text)
        found = [(one["reading"], one["pointer"]) for one in report.get("lenient", [])][:1]
        assert (report["ok"], found) == (True, [(name, place)] if name else [])


def test_validate_judges_by_the_document(tmp_path: Path, capsys: Captured) -> None:
    file = tmp_path / "session.jsonl"
    file.write_text("".join(line + "\n" for line, _, _ in RECORDED))
    code, out, err = ran(capsys, "validate", str(file))
    bad = [place for _, _, place in RECORDED if place]
    assert (code, err) == (1, f"{len(RECORDED) - len(bad)} good, {len(bad)} bad\n")
    reports = [json.loads(text) for text in out.splitlines()]
    places = [one["errors"][0]["pointer"] for one in reports if not one["ok"]]
    assert places == bad
    assert not any("lenient" in one for one in reports)
    last = reports[9]["errors"][0]
    assert last == {"pointer": bad[-1], "expected": "a value, or no field", "got": "null"}


def test_a_block_that_lacks_what_its_document_asks_for_is_reported() -> None:
    push = {"jsonrpc": "2.0", "id": 1, "method": "push/event"}
    payload = {"content": [{"type": "image", "mimeType": "image/png"}]}
    params = {"featureSet": "a", "eventId": "e", "timestamp": "t", "payload": payload}
    found = MessageValidator([mcpl.PROTOCOL]).validate({**push, "params": params}, "server")
    said = {one.pointer: one.expected for one in found.problems}
    expected = "an object with 'data' and 'mimeType' or 'uri'"
    assert said["/params/payload/content/0"] == expected
