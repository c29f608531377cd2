"""The command: verbs, exit codes, which stream says what."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kinwire.cli import main
from kinwire.cli.extras import install_command, is_installed, missing_extra
from kinwire.cli.verb import load_verb, verb_names
from kinwire_protocols.mcp.methods import PROTOCOL

DEMO = ("--", sys.executable, "-m", "kinwire", "serve", "demo", "mcp")

Captured = pytest.CaptureFixture[str]


def ended(capsys: Captured, *arguments: str) -> tuple[int, str, str]:
    """Run the command in this process; return exit code, stdout and stderr."""
    try:
        code = main(arguments)
    except SystemExit as end:  # argparse
        code = end.code if isinstance(end.code, int) else 1
    said = capsys.readouterr()
    return code, said.out, said.err


# -- verbs --


@pytest.mark.parametrize("name", verb_names())
def test_every_verb_has_its_name_a_summary_and_help(capsys: Captured, name: str) -> None:
    verb = load_verb(name)
    assert verb.name == name
    assert not verb.summary.endswith(".")
    code, out, err = ended(capsys, name, "--help")
    assert (code, err) == (0, "")
    assert f"kinwire {name}" in out


def test_help_lists_the_verbs_and_no_arguments_is_a_slip(capsys: Captured) -> None:
    code, out, err = ended(capsys, "--help")
    assert (code, err) == (0, "")
    assert all(f"\n  {name} " in out for name in verb_names())
    assert ended(capsys) == (2, "", out)


def test_the_version_is_told(capsys: Captured) -> None:
    code, out, _ = ended(capsys, "--version")
    assert code == 0
    assert out.startswith("kinwire ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["lst"], "There is no verb 'lst'.\nhint: Did you mean 'list'?"),
        (["frobnicate"], "hint: kinwire --help lists the verbs."),
        (["--format", "json", "list"], "unrecognized arguments"),
        (["list", "mcpp"], "There is no protocol 'mcpp'.\nhint: Did you mean 'mcp'?"),
        (["list", "zzz"], "hint: There are: mcp, "),
        (["list", "--form", "json"], "unrecognized arguments"),
        (["list", "--format", "xml"], "invalid choice: 'xml'"),
        (["list", "mcp", "--"], "expected a command after --"),
        (["serve", "demo", "mcp", "--", "x"], "takes no command after --"),
        (["serve", "demo"], "got none.\nhint: kinwire serve demo mcp"),
        (["serve", "demo", "mpc"], "got 'mpc'"),
        (["serve", "nowhere.py"], "There is no Python file 'nowhere.py'."),
        (["serve", "nowhere.py", "mcp"], "'mcp' is one word too many."),
        (["call"], "the following arguments are required: METHOD"),
        (["call", "ping"], "No server is named.\nhint: Name a FILE.py, or end with"),
        (["call", "a.py", "ping", *DEMO], "Two servers are named."),
        (["call", __file__], "No method is named."),
        (["call", "nowhere.py", "ping"], "error: There is no Python file 'nowhere.py'.\n"),
        (["call", "nowhere.py:server", "ping"], "There is no Python file 'nowhere.py'."),
        (["list", "nowhere.py"], "There is no Python file 'nowhere.py'."),
        (["list", "--timeout", "0", *DEMO], "expected seconds, more than 0, got '0'"),
        (["list", "--timeout", "soon", *DEMO], "expected seconds, more than 0, got 'soon'"),
    ],
)
def test_a_slip_in_the_command_line_ends_with_2_and_says_what_to_do(
    capsys: Captured, arguments: list[str], message: str
) -> None:
    code, out, err = ended(capsys, *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("module", "extra"),
    [
        ("jinja2", "codegen"),
        ("datamodel_code_generator.parser", "codegen"),
        ("argcomplete", "cli"),
        ("kinwire_codegen", None),
        ("no_such_module", None),
    ],
)
def test_a_missing_module_is_traced_to_the_extra_that_brings_it(
    module: str, extra: str | None
) -> None:
    assert missing_extra(ModuleNotFoundError(name=module)) == extra


def test_a_verb_without_its_extra_names_the_extra(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jsonschema", None)
    for name in [name for name in sys.modules if name.startswith("kinwire_codegen.")]:
        monkeypatch.delitem(sys.modules, name)
    code, out, err = ended(capsys, "lint")
    assert (code, out) == (2, "")
    assert "kinwire lint needs the extra [codegen], which is not installed." in err
    assert f"hint: {install_command('codegen')}" in err


def test_the_overview_costs_no_runtime() -> None:
    program = (
        "import sys; from kinwire.cli import main\n"
        "try: main(['list', '--help'])\n"
        "except SystemExit: pass\n"
        "print({'anyio', 'pydantic', 'asyncio'} & set(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stderr == "set()\n"


# -- list --


def test_list_shows_a_line_a_method(capsys: Captured) -> None:
    code, out, err = ended(capsys, "list", "mcp")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert len(lines) == len(PROTOCOL.methods) + 1
    (line,) = (line for line in lines if " tools/call " in line)
    assert line.split() == [
        "mcp", "tools/call", "request", "client",
        "CallToolRequestParams", "CallToolResult", "server:tools",
    ]  # fmt: skip


def test_list_as_json_is_one_array_of_rows(capsys: Captured) -> None:
    code, out, _ = ended(capsys, "list", "mcp", "--format", "json")
    rows = {row["method"]: row for row in json.loads(out)}
    assert code == 0
    assert rows["notifications/initialized"] == {
        "protocol": "mcp",
        "method": "notifications/initialized",
        "kind": "notification",
        "from": "client",
        "params": "NotificationParams",
        "result": None,
        "errors": [],
        "gate": None,
        "section": "Lifecycle Specification > Initialized Notification",
        "aliases": [],
        "status": "stable",
    }
    assert set(rows) == set(PROTOCOL.methods)
    assert "InvalidParams" in rows["tools/call"]["errors"]


def test_list_shows_the_tools_that_a_protocol_defines_beside_its_methods(
    capsys: Captured,
) -> None:
    code, out, _ = ended(capsys, "list", "mcpe", "--format", "json")
    kinds = [row["kind"] for row in json.loads(out)]
    assert (code, kinds) == (0, ["notification"] * 3 + ["tool"] * 6)


def test_list_shows_the_tools_of_a_server_as_calls(capsys: Captured) -> None:
    code, out, err = ended(capsys, "list", *DEMO)
    assert (code, err) == (0, "")
    assert "countdown(start: integer = 3, pause: number = 0.05)  Count down" in out
    code, out, _ = ended(capsys, "list", "--format", "json", *DEMO)
    assert [tool["name"] for tool in json.loads(out)] == ["add", "echo", "countdown", "divide"]


# -- call --


def text(value: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": value}]}


@pytest.mark.parametrize(
    ("words", "result"),
    [
        (["add", "a=1", "b=2"], text("3")),
        (["tools/call", "name=add", "arguments.a=1", "arguments.b=2"], text("3")),
        (["tools/call", "name=add", 'arguments:={"a": 1, "b": 2}'], text("3")),
        (["echo", "message=5"], text("5")),
        (["ping"], {}),
        (["ping", "_meta.progressToken=7"], {}),
    ],
)
def test_call_prints_the_result(capsys: Captured, words: list[str], result: dict[str, Any]) -> None:
    code, out, err = ended(capsys, "call", *words, *DEMO)
    assert (code, json.loads(out), err) == (0, result, "")


def test_call_shows_progress_on_stderr(capsys: Captured) -> None:
    code, out, err = ended(capsys, "call", "countdown", "start=2", *DEMO)
    assert (code, json.loads(out)) == (0, text("Lift-off"))
    assert err.splitlines() == ["progress 1/2  2 ...", "progress 2/2  1 ..."]


@pytest.mark.parametrize(
    ("words", "result"),
    [
        (["tools/call", "name=echo", 'arguments:={"message": "5"}'], text("5")),
        (["ping", "vendor=x"], {}),
    ],
)
def test_a_raw_call_prints_what_came(
    capsys: Captured, words: list[str], result: dict[str, Any]
) -> None:
    code, out, err = ended(capsys, "call", "--raw", *words, *DEMO)
    assert (code, json.loads(out), err) == (0, result, "")


def test_a_raw_notification_has_no_result(capsys: Captured) -> None:
    words = ["--raw", "notifications/roots/list_changed"]
    assert ended(capsys, "call", *words, *DEMO) == (0, "", "")


def test_a_notification_has_no_result(capsys: Captured) -> None:
    assert ended(capsys, "call", "notifications/initialized", *DEMO) == (0, "", "")


def test_a_tool_that_fails_prints_its_result_and_ends_with_5(capsys: Captured) -> None:
    code, out, err = ended(capsys, "call", "divide", "a=1", "b=0", *DEMO)
    assert (code, err) == (5, "")
    assert json.loads(out) == {**text("Nothing can be divided by zero."), "isError": True}


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["divid", "a=1"], 2, "The server has no tool 'divid'.\nhint: Did you mean 'divide'?"),
        (["pong"], 2, "Did you mean 'ping'?"),
        (["zzz"], 2, "hint: It has: add, echo, countdown, divide."),
        (["add", "a=one"], 2, "a=one: expected integer."),
        (["tools/call"], 2, "tools/call#/name: expected a value, got nothing"),
        (["tools/call", "name=add", "arguments:={}", "arguments.a=1"], 2, "given twice"),
        (["add", "a=1"], 5, "the peer answered: Tool 'add': /arguments/b: expected a value"),
        (["add"], 5, "\n  /arguments/b: expected a value, got nothing"),
        (["tools/lst"], 5, "is in no table and goes out unchecked. Did you mean 'tools/list'?"),
        (
            ["prompts/list"],
            2,
            "prompts/list: needs server:prompts, but the server did not declare it. "
            "The server declared: logging, tools.\nhint: --raw sends it all the same; ",
        ),
        (["--raw", "prompts/list"], 5, "the peer answered: Method not found: prompts/list"),
        (["--raw", "add", "a=1"], 5, "the peer answered: Method not found: add"),
        (["mgp/health/ping"], 2, "but this side has no extension for mgp."),
        (["mgp/health/png"], 5, "Did you mean 'mgp/health/ping'?"),
        (["mgp/health/ping", "srvr=x"], 2, "there is no member 'srvr'."),
        (["roots/list"], 2, "roots/list is sent by the server, not by the client."),
        (["list"], 2, "hint: Did you mean 'resources/list'"),
    ],
)
def test_a_call_that_fails_says_whose_fault_it_is(
    capsys: Captured, words: list[str], code: int, message: str
) -> None:
    got, out, err = ended(capsys, "call", *words, *DEMO)
    assert (got, out) == (code, "")
    assert message in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["no-such-program"], "error: Cannot start 'no-such-program'"),
        (["-c", "import sys; sys.exit('bye')"], "bye\nerror: The server exited with code 1."),
    ],
)
def test_a_server_that_cannot_be_reached_ends_with_4(
    capsys: Captured, command: list[str], message: str
) -> None:
    interpreter = [sys.executable] if command[0] == "-c" else []
    code, out, err = ended(capsys, "call", "ping", "--", *interpreter, *command)
    assert (code, out) == (4, "")
    assert message in err


def test_a_server_that_breaks_the_schema_ends_with_6(capsys: Captured) -> None:
    program = (
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    message = json.loads(line)\n"
        "    if 'id' in message:\n"
        "        reply = {'jsonrpc': '2.0', 'id': message['id'], 'result': {'capabilities': 5}}\n"
        "        print(json.dumps(reply), flush=True)\n"
    )
    code, out, err = ended(capsys, "call", "ping", "--", sys.executable, "-c", program)
    assert (code, out) == (6, "")
    assert "initialize#" in err
    assert "raw()" not in err


# -- serve --

SERVERS = """
from dataclasses import dataclass

from kinwire import Server

@dataclass
class Pair:
    a: int

first = alias = Server("first", "1")
second = Server("second", "1")

@second.tool
def double(pair: Pair) -> int:
    return pair.a * 2
"""


def test_a_file_is_served_by_the_name_of_its_server(capsys: Captured, tmp_path: Path) -> None:
    file = tmp_path / "servers.py"
    file.write_text(SERVERS, encoding="utf-8")
    code, out, err = ended(capsys, "call", f"{file}:second", "double", 'pair:={"a": 4}')
    assert (code, json.loads(out), err) == (0, text("8"), "")


@pytest.mark.parametrize(
    ("source", "name", "message"),
    [
        (SERVERS, "", "expected one Server at the top of the module, got first, second."),
        (
            SERVERS,
            ":third",
            "expected one Server called 'third' at the top",
        ),
        ("x = 1", "", "got none"),
        ("import sys\n\nraise ValueError('no')", "", "servers.py:3: ValueError: no"),
        ("import no_such_module", "", "servers.py:1: ModuleNotFoundError"),
        ("import json\njson.loads('')", "", "servers.py:2: JSONDecodeError"),
        ("x = 1\n\ndef f(:", "", "servers.py:3: SyntaxError"),
    ],
)
def test_a_file_that_holds_no_one_server_is_refused(
    capsys: Captured, tmp_path: Path, source: str, name: str, message: str
) -> None:
    file = tmp_path / "servers.py"
    file.write_text(source, encoding="utf-8")
    code, out, err = ended(capsys, "serve", f"{file}{name}")
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


# -- as a process --


def test_the_module_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "kinwire", "list", "mcp"], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "tools/call" in done.stdout


def test_a_reader_that_leaves_early_is_no_fault() -> None:
    done = subprocess.run(
        f"{sys.executable} -m kinwire list mcp --format json | true",
        shell=True,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not is_installed("cli"), reason="completion needs the extra [cli]")
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("kinwire li", {"lint", "list"}),
        ("kinwire list --for", {"--format"}),
        ("kinwire list --format ", {"text", "json"}),
    ],
)
def test_the_shell_completes_verbs_and_options(tmp_path: Path, line: str, words: set[str]) -> None:
    answer = tmp_path / "answer"
    asked = {
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(answer),
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
        "COMP_TYPE": "9",
    }
    command = [sys.executable, "-m", "kinwire"]
    subprocess.run(command, env={**os.environ, **asked}, timeout=30, check=True)
    assert {word.strip() for word in answer.read_text().split("\v")} == words
