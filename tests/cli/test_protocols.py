"""Protocols of other packages, as `list`, `describe` and `validate` know them by `--package`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kinwire_cli.command import main

BINDINGS = Path(__file__).parents[1] / "codegen/golden/expected"
Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BINDINGS))


def test_the_methods_of_a_package_are_listed_beside_the_others(capsys: Captured) -> None:
    assert main(["list", "--package", "tiny_bindings", "--format", "json"]) == 0
    protocols = {row["protocol"] for row in json.loads(capsys.readouterr().out)}
    assert {"mcp", "tiny"} < protocols
    assert main(["list", "tiny"]) == 2


def test_its_entries_are_described(capsys: Captured) -> None:
    assert main(["describe", "tiny#books/find", "--package", "tiny_bindings"]) == 0
    assert "books/find  request  Tiny" in capsys.readouterr().out


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


@pytest.mark.parametrize(
    ("package", "told", "hint"),
    [
        ("nowhere", "There is no package 'nowhere'.", "PYTHONPATH"),
        ("nowhere.at.all", "There is no package 'nowhere.at.all'.", "PYTHONPATH"),
        ("json", "'json' holds no bindings.", "kinwire generate"),
        ("textwrap", "'textwrap' holds no bindings.", "kinwire generate"),
    ],
)
@pytest.mark.parametrize("subcommand", ["list", "describe ping", "validate none.jsonl"])
def test_what_is_no_package_of_bindings_is_a_slip(
    subcommand: str, package: str, told: str, hint: str, capsys: Captured
) -> None:
    assert main([*subcommand.split(), "--package", package]) == 2
    error = capsys.readouterr().err
    assert told in error
    assert hint in error
