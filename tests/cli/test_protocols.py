"""Protocols of other packages, as the subcommands know them by `--package`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kinwire_cli.command import main
from tests.cli.fixtures_scripts import greeting, scripted

BINDINGS = Path(__file__).parents[1] / "codegen/golden/expected"
Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BINDINGS))


def test_the_methods_of_a_package_are_listed_with_the_others(capsys: Captured) -> None:
    assert main(["list", "--package", "tiny_bindings", "--format", "json"]) == 0
    protocols = {row["protocol"] for row in json.loads(capsys.readouterr().out)}
    assert {"mcp", "tiny"} < protocols
    assert main(["list", "tiny"]) == 2


def test_its_entries_are_described(capsys: Captured) -> None:
    assert main(["describe", "tiny#books/find", "--package", "tiny_bindings"]) == 0
    assert "books/find  request  Tiny" in capsys.readouterr().out


def test_versions_deprecation_and_values_are_described(capsys: Captured) -> None:
    for name, lines in (
        ("books/announce", ["Deprecated since 2.0: Nobody listens. Use `books/lent`."]),
        ("Worn", ["Deprecated. Use `NoSuchBook`."]),
        ("Binding", ["Since 1.0.", "  1   PaperBack  Glued.", "  2   HardBack   Since 1.1."]),
        ("tiny#State", ["Deprecated.", '  "empty"  It has no books.']),
    ):
        assert main(["describe", name, "--package", "tiny_bindings"]) == 0
        assert set(lines) <= {*capsys.readouterr().out.splitlines()}, name
    assert main(["describe", "FindParams", "--package", "tiny_bindings"]) == 0
    assert "Any JSON. Since 1.1. Deprecated: Nobody reads it." in capsys.readouterr().out
    assert main(["describe", "tiny#books/find", "--package", "tiny_bindings"]) == 0
    said = capsys.readouterr().out
    assert "partialResult: FindResult" in said
    assert "registrationOptions: Bag" in said


def test_a_sender_is_called_as_its_protocol_calls_it(capsys: Captured) -> None:
    assert main(["describe", "channels/publish"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("channels/publish  request or notification  MCP Live")
    assert "sent by  the host\n" in said


def test_its_messages_are_judged(tmp_path: Path, capsys: Captured) -> None:
    file = tmp_path / "session.jsonl"
    file.write_text('{"jsonrpc": "2.0", "id": 1, "method": "books/find", "params": {"exact": 5}}\n')
    assert main(["validate", str(file), "--package", "tiny_bindings"]) == 1
    verdict = json.loads(capsys.readouterr().out)
    assert (verdict["protocol"], verdict["errors"][0]["pointer"]) == ("tiny", "/params/exact")


def called(capsys: Captured, *words: str, answer: object) -> tuple[int, str, str]:
    server = scripted(answers={"books/find": answer})
    code = main(["call", "--package", "tiny_bindings", "books/find", *words, *server])
    return code, *capsys.readouterr()


def test_a_call_of_its_method_is_typed_by_its_document(capsys: Captured) -> None:
    assert called(capsys, "exact=true", answer={"items": []}) == (0, '{\n  "items": []\n}\n', "")
    assert called(capsys, "exact=x", answer={"items": []}) == (
        2,
        "",
        "error: exact=x: expected true or null.\n",
    )
    code, _, err = called(capsys, "titel=x", answer={"items": []})
    assert (code, err.splitlines()[0]) == (2, "error: titel=x: unknown parameter 'titel'.")


def test_parameters_by_position_are_called_by_name(capsys: Captured) -> None:
    call = ["call", "--package", "tiny_bindings", "books/rate"]
    server = scripted(answers={"books/rate": {"error": {"code": 1, "message": "rated"}}})
    assert main([*call, "id=b1", *server]) == 5
    assert "the peer answered: rated" in capsys.readouterr().err
    assert main([*call, "stars=3", *server]) == 2
    assert "books/rate#/id: expected a value" in capsys.readouterr().err


def test_a_result_that_breaks_its_document_ends_a_call_with_6(capsys: Captured) -> None:
    message = "error: books/find#/items: expected a value, got nothing.\n"
    assert called(capsys, answer={}) == (6, "", message)


def test_its_errors_are_named_in_a_call(capsys: Captured) -> None:
    error = {"error": {"code": 8, "message": "Lost"}}
    message = "error: the peer answered: Lost (NoSuchBook 8)\n"
    assert called(capsys, answer=error) == (5, "", message)


def test_a_call_suggests_its_methods(capsys: Captured) -> None:
    words = ["call", "--package", "tiny_bindings", "books/fnd", *scripted()]
    assert main(words) == 5
    assert "Did you mean 'books/find'?" in capsys.readouterr().err


def inspected(capsys: Captured, *words: str, capabilities: dict[str, object]) -> dict[str, Any]:
    lent = {"jsonrpc": "2.0", "method": "books/lent", "params": {}}
    server = scripted(answers={"initialize": greeting(capabilities)}, after=[lent])
    main(["inspect", "--format", "json", "--timeout", "60", *words, *server])
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


@pytest.mark.parametrize(
    ("capabilities", "offered"),
    [
        ({}, {"books/find": False, "shelf/open": False}),
        ({"experimental": {"tiny": {}}}, {"books/find": True, "shelf/open": False}),
        ({"tiny": {}, "shelf": {"open": True}}, {"books/find": True, "shelf/open": True}),
    ],
)
def test_inspect_lists_its_methods_and_sends_none_of_them(
    capsys: Captured, capabilities: dict[str, object], offered: dict[str, bool]
) -> None:
    answer = inspected(capsys, "--package", "tiny_bindings", capabilities=capabilities)
    rows = {row["method"]: row for row in answer["methods"] if row["method"] in offered}
    assert {name: row["advertised"] for name, row in rows.items()} == offered
    assert {row["outcome"] for row in rows.values()} == {"skipped"}
    assert "books/lent" not in {row["method"] for row in answer["methods"]}


def test_inspect_validates_what_a_server_sends_of_it(capsys: Captured) -> None:
    known = inspected(capsys, "--package", "tiny_bindings", capabilities={})
    assert "books/lent#/params/id" in {one["where"] for one in known["findings"]}
    (unknown,) = inspected(capsys, capabilities={})["findings"]
    assert (unknown["where"], unknown["text"]) == ("books/lent", "was sent, and is unknown.")


@pytest.mark.parametrize(
    ("package", "message", "hint"),
    [
        ("nowhere", "There is no package 'nowhere'.", "PYTHONPATH"),
        ("nowhere.at.all", "There is no package 'nowhere.at.all'.", "PYTHONPATH"),
        ("json", "'json' holds no bindings.", "kinwire generate"),
        ("textwrap", "'textwrap' holds no bindings.", "kinwire generate"),
    ],
)
@pytest.mark.parametrize(
    "subcommand",
    [
        *("list", "describe ping", "validate none.jsonl"),
        *("call ping -- nothing-that-runs", "inspect -- nothing-that-runs"),
    ],
)
def test_a_package_without_bindings_is_a_usage_error(
    subcommand: str, package: str, message: str, hint: str, capsys: Captured
) -> None:
    name, *words = subcommand.split()
    assert main([name, "--package", package, *words]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert hint in error
