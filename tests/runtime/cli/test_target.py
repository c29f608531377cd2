"""A server as a verb names it: a file that is served, or a command, and what if it is silent."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from kinwire.cli import main, patience

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
DEAF = """
import sys
from kinwire import Server
from kinwire_protocols import mcp

server = Server("deaf", "1")


@server.tool
async def hang() -> None:
    import anyio
    await anyio.sleep(60)
"""

Captured = pytest.CaptureFixture[str]


def ran(capsys: Captured, *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, source in (("greeter.py", GREETER), ("two.py", TWO), ("deaf.py", DEAF)):
        (tmp_path / name).write_text(source, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_a_file_needs_no_last_line_that_runs_its_server(capsys: Captured) -> None:
    code, out, err = ran(capsys, "call", "greeter.py", "prompts/list")
    assert (code, json.loads(out), err) == (0, {"prompts": [{"name": "greet"}]}, "")


def test_modules_of_the_working_folder_are_not_the_servers(
    capsys: Captured, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = folder / "work"
    work.mkdir()
    (work / "pydantic.py").write_text("raise ValueError", encoding="utf-8")
    monkeypatch.chdir(work)
    code, _, err = ran(capsys, "call", "../greeter.py", "prompts/list")
    assert (code, err) == (0, "")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["list", "two.py"], "two.py: expected one Server at the top of the module, got a, b.\n"),
        (["call", "two.py", "ping"], "hint: Name it: two.py:a\n"),
        (["call", "two.py:c", "ping"], "expected one Server called 'c' at the top"),
    ],
)
def test_a_file_that_cannot_be_served_is_a_slip_that_says_why(
    capsys: Captured, arguments: list[str], message: str
) -> None:
    code, out, err = ran(capsys, *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.endswith("cannot be served, for the reason above.\n")


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


@pytest.mark.usefixtures("folder")
def test_a_server_without_tools_is_no_fault(capsys: Captured) -> None:
    note = "note: the server offers no tools; it has: prompts\n"
    assert ran(capsys, "list", "greeter.py") == (0, "", note)
    assert ran(capsys, "list", "greeter.py", "--format", "json") == (0, "[]\n", note)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("get", "Did you mean 'prompts/get'?"),
        ("zzz", "Methods have a slash, as in prompts/list."),
    ],
)
def test_what_is_no_tool_may_be_a_method(capsys: Captured, name: str, hint: str) -> None:
    code, out, err = ran(capsys, "call", "greeter.py", name)
    assert (code, out) == (2, "")
    assert err == (
        f"error: The server offers no tools, so none is called '{name}'.\nhint: {hint}\n"
    )


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


@pytest.mark.usefixtures("folder")
def test_a_tool_that_does_not_answer_is_waited_for_aloud_too(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patience, "SILENCE", 0.0)
    code, out, err = ran(capsys, "call", "--timeout", "5", "deaf.py", "hang")
    assert (code, out) == (4, "")
    assert "waiting for the server to answer tools/call ...\n" in err
    assert err.endswith(
        "error: tools/call: no answer within 5 s.\nhint: --timeout SECONDS waits longer.\n"
    )


def test_a_server_that_answers_is_not_announced(capsys: Captured) -> None:
    code, _, err = ran(
        capsys, "list", "--", sys.executable, "-m", "kinwire", "serve", "demo", "mcp"
    )
    assert (code, err) == (0, "")
