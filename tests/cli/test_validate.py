"""`kinwire validate` and `kinwire describe` as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kinwire_cli import main
from tests.cli.validation.test_parts import MIXED
from tests.each import each

CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "add"}}
GONE = {"jsonrpc": "2.0", "id": 1, "result": {}}


def lines(*values: object) -> bytes:
    texts = (value if isinstance(value, bytes) else json.dumps(value).encode() for value in values)
    return b"\n".join(texts) + b"\n"


def run(path: Path, content: bytes, capsys: pytest.CaptureFixture[str], *more: str) -> Any:
    path.write_bytes(content)
    code = main(["validate", str(path), *more])
    printed = capsys.readouterr()
    return code, [json.loads(line) for line in printed.out.splitlines()], printed.err


def test_a_good_recording_ends_with_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = lines(
        {"from": "client", "message": CALL},
        b"",
        {"from": "server", "message": GONE | {"result": {"content": []}}, "at": 0.5},
    )
    code, verdicts, talk = run(tmp_path / "a.jsonl", content, capsys)
    assert (code, talk) == (0, "2 good, 0 bad\n")
    common = {"ok": True, "protocol": "mcp", "method": "tools/call", "errors": []}
    assert verdicts == [
        common | {"line": 1, "kind": "request", "matched": None},
        common | {"line": 3, "kind": "response", "matched": True},
    ]


def test_each_line_is_validated_by_its_protocol(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = lines(*({"from": sender, "message": message} for sender, message, _ in MIXED))
    code, verdicts, _ = run(tmp_path / "a.jsonl", content, capsys)
    assert [verdict["protocol"] for verdict in verdicts] == [protocol for *_, protocol in MIXED]
    assert (code, {verdict["ok"] for verdict in verdicts}) == (0, {True})


def test_a_bad_line_is_reported_and_ends_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, verdicts, talk = run(tmp_path / "a.jsonl", lines(CALL, GONE), capsys)
    assert (code, talk) == (1, "1 good, 1 bad\n")
    missing = {"pointer": "/result/content", "expected": "a value", "got": "nothing"}
    assert verdicts[1]["errors"] == [missing]


BAD = [
    pytest.param(b"{", "", "JSON", id="cut off"),
    pytest.param(b"\xff", "", "JSON", id="not UTF-8"),
    pytest.param(b'{"a": NaN}', "", "JSON", id="NaN"),
    pytest.param(b"[]", "", "one JSON object", id="a batch"),
    pytest.param(b'{"from": "me", "message": {}}', "/from", '"client" or "server"', id="who"),
    pytest.param(b'{"message": 5}', "/message", "one JSON object", id="a number"),
    pytest.param(
        b'{"jsonrpc": "2.0", "id": 1, "id": 2, "method": "ping"}', "", "a message", id="two ids"
    ),
]


@pytest.mark.parametrize(("line", "pointer", "expected"), BAD)
def test_a_line_that_is_not_a_message(
    line: bytes, pointer: str, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ping = {"jsonrpc": "2.0", "id": 7, "method": "ping"}
    code, (bad, good), _ = run(tmp_path / "a.jsonl", lines(line, ping), capsys)
    assert (code, bad["ok"], good["ok"]) == (1, False, True)
    assert [(e["pointer"], e["expected"]) for e in bad["errors"]] == [(pointer, expected)]


@pytest.mark.parametrize(
    ("line", "got"),
    [
        (b"starting up!", "starting up! (expected value at column 1)"),
        (b'{"a": "b"', '{"a": "b" (EOF while parsing an object at column 9)'),
        (b"x" * 100, "x" * 60 + "… (expected value at column 1)"),
    ],
)
def test_invalid_json_is_shown_with_the_reason(
    line: bytes, got: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, (verdict,), _ = run(tmp_path / "a.jsonl", lines(line), capsys)
    assert verdict["errors"] == [{"pointer": "", "expected": "JSON", "got": got}]


def test_as_text_each_bad_message_is_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unnamed = {"jsonrpc": "2.0", "id": 2, "method": "completion/complete", "params": {}}
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines(CALL, b"{\r\x1b", GONE, unnamed))
    assert main(["validate", str(path), "--format", "text"]) == 1
    printed = capsys.readouterr()
    assert printed.out.splitlines() == [
        f"{path}:2: expected JSON, got {{\\r\\u001b (key must be a string at column 3)",
        f"{path}:3: tools/call: /result/content: expected a value, got nothing",
        f"{path}:4: completion/complete: /params/ref: expected a value, got nothing (1 more)",
    ]
    assert printed.err == "1 good, 3 bad\n"


def test_a_line_of_the_report_is_one_also_where_a_recording_was_edited(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines({"from": "client", "unreadable": "a\nb", "because": "c"}))
    assert main(["validate", str(path), "--format", "text"]) == 1
    assert capsys.readouterr().out == f"{path}:1: expected JSON, got a\\nb (c)\n"


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file that fails later on")
def test_a_file_that_cannot_be_read_to_its_end_is_a_slip(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["validate", "/proc/self/mem"]) == 2
    assert capsys.readouterr().err.startswith("error: /proc/self/mem: Input/output error.\nhint: ")


def test_a_recording_cannot_steer_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"jsonrpc": "2.0", "id": 1, "method": "a\u202eb"}\n', encoding="utf-8")
    for form in ("json", "text"):
        assert main(["validate", str(path), "--format", form]) == 1
        assert "\u202e" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "expected one JSON object a line, got no line.\n"),
        (b"\n \n", "expected one JSON object a line, got no line.\n"),
        (
            b"import sys\n" * 20 + lines(CALL),
            "expected one JSON object a line, got 20 lines of something else.\n"
            "hint: Line 1: import sys (expected value at column 1)\n",
        ),
        (b"\n" + lines(*range(25)), "hint: Line 2: 0\n"),
    ],
)
def test_a_file_that_is_not_a_recording_is_a_usage_error(
    content: bytes, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, verdicts, talk = run(tmp_path / "a.jsonl", content, capsys)
    assert (code, verdicts) == (2, [])
    assert talk.endswith(message)


def test_a_recording_may_begin_with_noise(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, verdicts, talk = run(tmp_path / "a.jsonl", b"loading\n" * 19 + lines(CALL), capsys)
    assert (code, len(verdicts), talk) == (1, 20, "1 good, 19 bad\n")
    assert [verdict["line"] for verdict in verdicts] == list(range(1, 21))


@each(
    ("arguments", "hint"),
    [
        (["validate", "no such file"], "Name a file that can be read."),
        (["validate", "-", "--protocols", "mcpp"], "Did you mean 'mcp'?"),
        (["describe", "tools/cal"], "Did you mean 'tools/call'?"),
        (["describe", "mcpl#Tool"], "Did you mean 'Tool'?"),
        (["describe", "mcpe"], "kinwire list mcpe shows its methods."),
    ],
)
def test_a_wrong_command_ends_with_2_and_a_hint(
    arguments: list[str], hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.endswith(f"hint: {hint}\n")


DESCRIBED = [
    (
        "tools/call",
        ["tools/call  request  Model Context Protocol 2024-11-05", "needs    server:tools"],
    ),
    ("mcp#Tool", ["Tool  type  Model Context Protocol", "inputSchema  ToolInputSchema  required"]),
    ("ResourceNotFound", ["ResourceNotFound  error -32002"]),
    ("-32002", ["ResourceNotFound  error -32002  Model Context Protocol"]),
    (
        "ListToolsResult",
        ["nextCursor  Cursor  optional", "tools       Tool[]  required"],
    ),
    ("mcpl#FeatureSetNotEnabled", ["data: FeatureSetErrorData"]),
    (
        "mcp#tools/call",
        ["scope       Scope           by mcpl", "trace_id    TraceId         by mgp"],
    ),
    ("channels/list", ["_meta     RequestMeta  optional"]),
    ("LoggingLevel", ['"debug" | "info" | "notice"']),
    ("ModelPreferences", ["costPriority          number, minimum 0, maximum 1  optional"]),
]


@each(("name", "expected"), DESCRIBED)
def test_describe_shows_what_the_document_says(
    name: str, expected: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["describe", name]) == 0
    printed = capsys.readouterr().out
    assert [text for text in expected if text not in printed] == []


def test_describe_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["describe", "mcp#tools/call", "--format", "json"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)
    assert (entry["protocol"], entry["entry"], entry["kind"]) == ("mcp", "method", "request")
