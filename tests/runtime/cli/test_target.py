"""A server as a verb names it: a file that is served, or a command, and what if it is silent."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from kinwire.cli import patience
from tests.runtime.cli.scripts import Captured, greeting, ran, scripted

GREETER = """
from kinwire import Server
from kinwire_protocols import mcp

server = Server("greeter", "1.0", log_level=None)


@server.on.prompts_list
async def prompts(params: mcp.PaginatedRequestParams) -> mcp.ListPromptsResult:
    return mcp.ListPromptsResult(prompts=[mcp.Prompt(name="greet")])
"""
TWO = """
from kinwire import Server

a = Server("a", "1")
b = Server("b", "1")
"""
SILENT = "import sys; sys.stdin.read()"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, source in (("greeter.py", GREETER), ("two.py", TWO)):
        (tmp_path / name).write_text(source, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
def test_modules_of_the_working_folder_are_not_the_servers(
    capsys: Captured, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = folder / "work"
    work.mkdir()
    (work / "pydantic.py").write_text("raise ValueError", encoding="utf-8")
    monkeypatch.chdir(work)
    code, out, err = ran(capsys, "call", "../greeter.py", "prompts/list")
    assert (code, json.loads(out), err) == (0, {"prompts": [{"name": "greet"}]}, "")


@pytest.mark.usefixtures("folder")
def test_a_file_that_cannot_be_served_is_a_slip_that_says_why(capsys: Captured) -> None:
    assert ran(capsys, "list", "two.py") == (
        2,
        "",
        "error: two.py: expected one Server at the top of the module, got a, b.\n"
        "hint: Name it: two.py:a\n"
        "error: two.py cannot be served, for the reason above.\n",
    )


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["call", "greter.py", "ping"], "'greter.py'.\nhint: Did you mean 'greeter.py'?\n"),
        (["doctor", "greeter"], "'greeter'.\nhint: Did you mean 'greeter.py'?\n"),
        (["inspect", "./zzz.py:a"], "'./zzz.py'.\n"),
    ],
)
def test_a_file_that_is_not_there_may_be_another(
    capsys: Captured, arguments: list[str], message: str
) -> None:
    assert ran(capsys, *arguments) == (2, "", f"error: There is no Python file {message}")


def test_a_server_without_tools_is_no_fault(capsys: Captured) -> None:
    server = scripted(answers={"initialize": greeting({"prompts": {}})})
    note = "note: the server offers no tools; it has: prompts\n"
    assert ran(capsys, "list", *server) == (0, "", note)
    assert ran(capsys, "list", "--format", "json", *server) == (0, "[]\n", note)


def test_a_silent_server_is_waited_for_aloud_and_not_for_ever(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patience, "SILENCE", 0.0)
    command = ["--timeout", "0.2", "--", sys.executable, "-c", SILENT]
    for verb in (["list"], ["call", "ping"]):
        code, out, err = ran(capsys, *verb, *command)
        assert (code, out) == (4, "")
        assert err == (
            "waiting for the server to answer initialize ...\n"
            "error: initialize: no answer within 0.2 s.\n"
            "hint: Does the command speak MCP over its stdin and stdout? "
            "--timeout SECONDS waits longer. "
            "kinwire doctor, with the same server, looks for the cause.\n"
        )
