"""A server as a subcommand names it: a file or a command; and a server that is silent."""

from __future__ import annotations

import json
import socket
import sys
from pathlib import Path

import pytest

from kinwire_cli import running
from tests.cli.fixtures_scripts import Captured, greeting, ran, scripted
from tests.each import each

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
        (["inspect", "./zzz.py:a"], "'./zzz.py'.\nhint: There are: greeter.py, two.py.\n"),
        (["list", "no/a.py"], "'no/a.py'.\nhint: Look at the path: no Python file is there.\n"),
    ],
)
def test_a_file_that_is_not_there_may_be_another(
    capsys: Captured, arguments: list[str], message: str
) -> None:
    assert ran(capsys, *arguments) == (2, "", f"error: There is no Python file {message}")


def test_a_server_without_tools_is_not_an_error(capsys: Captured) -> None:
    server = scripted(answers={"initialize": greeting({"prompts": {}})})
    note = "note: the server offers no tools; it has: prompts\n"
    assert ran(capsys, "list", *server) == (0, "", note)
    assert ran(capsys, "list", "--format", "json", *server) == (0, "[]\n", note)


def test_a_silent_server_is_waited_for_aloud_and_not_for_ever(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "SILENCE", 0.0)
    command = ["--timeout", "0.2", "--", sys.executable, "-c", SILENT]
    for subcommand in (["list"], ["call", "ping"]):
        code, out, err = ran(capsys, *subcommand, *command)
        assert (code, out) == (4, "")
        assert err == (
            "waiting for the server to answer initialize ...\n"
            "error: initialize: no answer within 0.2 s.\n"
            "hint: Does the command speak MCP over its stdin and stdout? "
            "--timeout SECONDS waits longer. "
            "kinwire doctor, with the same server, looks for the cause.\n"
        )


WAITS = (
    "--timeout SECONDS waits longer. kinwire doctor, with the same server, looks for the cause.\n"
)


@pytest.mark.parametrize("scheme", ["http", "ws"])
def test_a_silent_server_behind_a_url_is_asked_after_there(capsys: Captured, scheme: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"{scheme}://127.0.0.1:{listener.getsockname()[1]}/mcp"
        code, out, err = ran(capsys, "list", "--timeout", "0.2", url)
    assert (code, out) == (4, "")
    question = "Is a server of MCP at that URL? Most listen at /mcp or /sse."
    assert err == f"error: initialize: no answer within 0.2 s.\nhint: {question} {WAITS}"


def test_a_file_that_is_long_to_import_is_asked_after_that(capsys: Captured, folder: Path) -> None:
    source = f"{SILENT}\nimport os\nos._exit(0)"
    (folder / "slow.py").write_text(source, encoding="utf-8")
    code, out, err = ran(capsys, "list", "--timeout", "0.2", "slow.py")
    assert (code, out) == (4, "")
    question = "Does the file wait for something, or load much, while it is imported?"
    assert err == f"error: initialize: no answer within 0.2 s.\nhint: {question} {WAITS}"


@pytest.mark.parametrize(
    ("text", "shown"), [("a\nerror: b", "a error: b"), ("\x1b[2J", "\\u001b[2J")]
)
def test_what_a_server_logs_stays_on_its_line(capsys: Captured, text: str, shown: str) -> None:
    log = {"method": "notifications/message", "params": {"level": "info", "data": text}}
    server = scripted(greeting=[json.dumps({"jsonrpc": "2.0", **log})])
    _, _, err = ran(capsys, "call", "ping", *server)
    assert err == f"info: {shown}\n"


LARGE = """
from kinwire import Server

server = Server("large", "1.0")


@server.tool
def text(size: int) -> str:
    return "x" * size


if __name__ == "__main__":
    server.run()
"""


def test_a_longer_message_is_read_if_the_command_line_says_so(
    capsys: Captured, tmp_path: Path
) -> None:
    file = tmp_path / "large.py"
    file.write_text(LARGE, encoding="utf-8")
    command = ("call", str(file), "text", "size=3000")
    code, out, err = ran(capsys, *command, "--frame-size", "2K")
    assert (code, out) == (6, "")
    assert "frame longer than 2048 bytes; Limits(frame_size=...)" in err
    assert "hint: --frame-size BYTES reads longer messages" in err
    code, out, _ = ran(capsys, *command, "--frame-size", "4096", "--text")
    assert (code, out) == (0, "x" * 3000 + "\n")


@each("subcommand", ["call", "doctor", "inspect", "list", "replay"])
@each("size", ["0", "x", "2g", "-1", "2T", "1.5M", "2G"])
def test_a_frame_size_is_a_number_of_bytes(capsys: Captured, subcommand: str, size: str) -> None:
    code, _, err = ran(capsys, subcommand, "x", "--frame-size", size)
    assert (code, "expected bytes from 1 to 1G" in err) == (2, True)
