"""Subcommands report what they read leniently, against a server that is written by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

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
        "integral-number",
        "/result/completion/total",
    ),
]


@pytest.mark.parametrize("form", ["json", "text"])
def test_validate_accepts_and_lists_lenient_readings(
    tmp_path: Path, capsys: Captured, form: str
) -> None:
    file = tmp_path / "session.jsonl"
    file.write_text("".join(line + "\n" for line, _, _ in RECORDED))
    code, out, err = ran(capsys, "validate", str(file), "--format", form)
    assert (code, err) == (0, "6 good, 0 bad\n")
    if form == "text":
        assert "session.jsonl:1: /params: expected an object, got null" in out
        assert len(out.splitlines()) == 6
        return
    for text, (_, name, place) in zip(out.splitlines(), RECORDED, strict=True):
        report = json.loads(text)
        found = [(one["reading"], one["pointer"]) for one in report.get("lenient", [])][:1]
        assert (report["ok"], found) == (True, [(name, place)] if name else [])
