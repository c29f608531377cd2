"""The command: subcommands, exit codes, which stream says what."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import kinwire_cli
from kinwire_cli.extras import install_command, is_installed, missing_extra
from kinwire_cli.subcommand import load_subcommand, subcommand_names
from kinwire_protocols.mcp.methods import PROTOCOL
from tests.cli.fixtures_scripts import DEMO, Captured, greeting, ran, scripted
from tests.each import each
from tests.specified import OURS

# -- subcommands --


@each("name", subcommand_names())
def test_every_verb_has_its_name_a_summary_and_help(capsys: Captured, name: str) -> None:
    subcommand = load_subcommand(name)
    assert subcommand.name == name
    assert not subcommand.summary.endswith(".")
    code, out, err = ran(capsys, name, "--help")
    assert (code, err) == (0, "")
    assert f"kinwire {name}" in out


def test_help_lists_the_verbs_and_no_arguments_is_a_slip(capsys: Captured) -> None:
    code, out, err = ran(capsys, "--help")
    assert (code, err) == (0, "")
    assert all(f"\n  {name} " in out for name in subcommand_names())
    assert ran(capsys) == (2, "", out)


def test_the_version_is_shown(capsys: Captured) -> None:
    code, out, _ = ran(capsys, "--version")
    assert code == 0
    assert out.startswith("kinwire ")


def test_only_a_process_of_its_own_ends_without_a_search_for_garbage(
    monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    frozen: list[bool] = []
    monkeypatch.setattr("gc.freeze", lambda: frozen.append(True))
    monkeypatch.setattr(sys, "argv", ["kinwire"])
    assert (kinwire_cli.main(), frozen) == (2, [])
    assert (kinwire_cli.program(), frozen) == (2, [True])
    assert capsys.readouterr().out == ""


@each(
    ("arguments", "message"),
    [
        (["lst"], "There is no subcommand 'lst'.\nhint: Did you mean 'list'?"),
        (["frobnicate"], "hint: kinwire --help lists the subcommands."),
        (["--format", "json", "list"], "unrecognized arguments"),
        (["list", "mpc"], "There is no protocol 'mpc'.\nhint: Did you mean 'mcp'?"),
        (["list", "mcpp"], "There is no protocol 'mcpp'.\nhint: Did you mean 'mcp'?"),
        (["list", "zzz"], "hint: There are: mcp, "),
        (["list", "--form", "json"], "unrecognized arguments"),
        (["list", "--fromat", "json"], "There is no option --fromat. Did you mean '--format'?\n"),
        (["validate", "--fromat=json"], "There is no option --fromat. Did you mean '--format'?\n"),
        (["--verison"], "hint: There is no option --verison. Did you mean '--version'?\n"),
        (["validate"], "hint: See kinwire validate --help.\n"),
        (["gateway", "mgp.toml"], "hint: The configuration is named as in -c mgp.toml.\n"),
        (["up", "a b.toml"], "hint: See kinwire up --help.\n"),
        (["demo", "mcp", "x.toml"], "hint: See kinwire demo --help.\n"),
        (["list", "--package", "../x"], "'../x' is not a package name.\nhint: Write it as import"),
        (["list", "--package", ".."], "'..' is not a package name."),
        (["list", "--package", ".x"], "'.x' is not a package name."),
        (["list", "--package", "a..b"], "'a..b' is not a package name."),
        (["list", "--package", "a b"], "'a b' is not a package name."),
        (["describe", "Tool", "--package", ""], "'' is not a package name."),
        (["list", "ftp://x/"], "reached by ftp.\nhint: A server's URL begins with http, https, ws"),
        (["call", "FILE:///etc/passwd", "ping"], "No server is reached by FILE.\nhint: A server's"),
        (["doctor", "htp://x/"], "No server is reached by htp.\nhint: Did you mean 'http'?"),
        (["list", "localhost:80/mcp"], "hint: A server's URL begins with http://, https://"),
        (["list", "--format", "xml"], "invalid choice: 'xml'"),
        (["list", "--format", "xml"], "hint: See kinwire list --help."),
        (["access", "grnt", "a", "b", "--store", "x"], "hint: Did you mean 'grant'?"),
        (["permissions", "aprove", "a", "--store", "x"], "hint: Did you mean 'approve'?"),
        (["access", "grant", "a", "b", "--store", "x", "--expires-in", "-5"], "more than 0, got"),
        (["permissions", "list", "--store", "x", "--timeout", "0"], "more than 0, got '0'"),
        (["audit", "tail", "--timeout", "inf"], "less than 1.8e308"),
        (["store", "check", "memory:", "--timeout", "nan"], "more than 0, got 'nan'"),
        (["list", "mcp", "--"], "expected a command after --"),
        (["serve", "demo", "mcp", "--", "x"], "takes no command after --"),
        (["serve", "demo"], "got none.\nhint: kinwire serve demo mcp"),
        (["serve", "demo", "mpc"], "got 'mpc'.\nhint: Did you mean 'mcp'?"),
        (["serve", "demo", "mcpl", "memry"], "no server 'memry'.\nhint: Did you mean 'memory'?"),
        (["serve", "demo", "mcpl", "x"], "hint: There are: memory, redaction, notes, chat."),
        (["serve", "demo", "mcp", "x"], "has no server 'x'.\nhint: kinwire serve demo mcp\n"),
        (["serve", "demo", "mcpl", "--port", "1"], "stdio has no address to listen on."),
        (["demo", "mcpll"], "There is no demo of 'mcpll'.\nhint: Did you mean 'mcpl'?"),
        (["demo", "zzz"], "hint: There are: mcp, mcpl, mgp, mcpe, mcp-lite."),
        (["serve", "nowhere.py"], "There is no Python file 'nowhere.py'."),
        (["serve", "nowhere.py", "mcp"], "'mcp' is one word too many."),
        (["call"], "the following arguments are required: METHOD"),
        (["config"], "the following arguments are required: check\n"),
        (["store"], "the following arguments are required: check|export|import, URL\n"),
        (["call", "ping"], "No server is named.\nhint: Name a FILE.py or a URL, or end"),
        (["call", "a.py", "ping", *DEMO], "Two servers are named."),
        (["call", __file__], "No method is named."),
        (["call", "nowhere.py", "ping"], "error: There is no Python file 'nowhere.py'.\n"),
        (["call", "nowhere.py:server", "ping"], "There is no Python file 'nowhere.py'."),
        (["list", "nowhere.py"], "There is no Python file 'nowhere.py'."),
        (["list", "--timeout", "1e400", *DEMO], "expected seconds, less than 1.8e308, got '1e400'"),
        (["list", "--timeout", "0", *DEMO], "expected seconds, more than 0, got '0'"),
        (["list", "--timeout", "soon", *DEMO], "expected seconds, more than 0, got 'soon'"),
    ],
)
def test_a_slip_in_the_command_line_ends_with_2_and_says_what_to_do(
    capsys: Captured, arguments: list[str], message: str
) -> None:
    code, out, err = ran(capsys, *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


@each(
    ("module", "extra"),
    [
        ("jinja2", "codegen"),
        ("datamodel_code_generator.parser", "codegen"),
        ("jsonschema.validators", "codegen"),
        ("argcomplete", "cli"),
        ("grpc", "grpc"),
        ("google.protobuf", "grpc"),
        ("grpc_reflection.v1alpha", "grpc"),
        ("nats.js", "nats"),
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
    monkeypatch.setitem(sys.modules, "jsonschema_rs", None)
    for name in [name for name in sys.modules if name.startswith("kinwire_codegen.")]:
        package, _, module = name.rpartition(".")
        # What is imported here is not left in its package.
        monkeypatch.setattr(sys.modules[package], module, sys.modules[name], raising=False)
    for name in [name for name in sys.modules if name.startswith("kinwire_codegen.")]:
        monkeypatch.delitem(sys.modules, name)
    code, out, err = ran(capsys, "lint")
    assert (code, out) == (2, "")
    assert "kinwire lint needs the extra [codegen], which is not installed." in err
    assert f"hint: {install_command('codegen')}" in err


@pytest.mark.parametrize(
    ("url", "module", "extra"),
    [
        ("http://127.0.0.1:1/mcp", "httptools", "http"),
        ("ws://127.0.0.1:1/mcp", "websockets", "ws"),
    ],
)
@pytest.mark.parametrize("name", ["list", "call", "inspect", "doctor"])
def test_a_url_without_its_library_names_the_extra(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, name: str, url: str, module: str, extra: str
) -> None:
    for one in [one for one in sys.modules if one.partition(".")[0] == module]:
        monkeypatch.delitem(sys.modules, one)
    monkeypatch.setitem(sys.modules, module, None)
    code, out, err = ran(capsys, name, url, *["ping"] * (name == "call"))
    assert (code, out) == (2, "")
    assert f"kinwire {name} needs the extra [{extra}], which is not installed." in err
    assert f"hint: {install_command(extra)}" in err


@pytest.mark.parametrize("module", ["grpc.aio", "google.protobuf.message", "google.rpc.status_pb2"])
@pytest.mark.parametrize(
    "words",
    [
        ["list", "grpc://127.0.0.1:1"],
        ["lite", "--transport", "grpc", "--", "no-such-program"],
        ["serve", "demo", "mcp-lite", "--transport", "grpc"],
    ],
)
def test_grpc_without_its_libraries_names_the_extra_before_anything_is_started(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, words: list[str], module: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    code, out, err = ran(capsys, *words)
    assert (code, out) == (2, "")
    assert f"kinwire {words[0]} needs the extra [grpc], which is not installed." in err


def test_the_overview_costs_no_runtime() -> None:
    program = (
        "import sys; from kinwire_cli import main\n"
        "try: main(['list', '--help'])\n"
        "except SystemExit: pass\n"
        "print({'anyio', 'pydantic', 'asyncio'} & set(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stderr == "set()\n"


# -- list --


def test_list_shows_a_line_a_method(capsys: Captured) -> None:
    code, out, err = ran(capsys, "list", "mcp")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert len(lines) == len(PROTOCOL.methods) + 1
    (line,) = (line for line in lines if " tools/call " in line)
    assert line.split() == [
        "mcp", "tools/call", "request", "client",
        "CallToolRequestParams", "CallToolResult", "server:tools",
    ]  # fmt: skip


def test_list_as_json_is_one_array_of_rows(capsys: Captured) -> None:
    code, out, _ = ran(capsys, "list", "mcp", "--format", "json")
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


def test_list_shows_the_tools_and_the_methods_of_a_protocol(
    capsys: Captured,
) -> None:
    code, out, _ = ran(capsys, "list", "mcpe", "--format", "json")
    kinds = [row["kind"] for row in json.loads(out) if row["section"] != OURS]
    assert (code, kinds) == (0, ["notification"] * 3 + ["tool"] * 6)


def test_list_shows_the_tools_of_a_server_as_calls(capsys: Captured) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    tool = {"name": "add", "description": "Add.", "inputSchema": schema}
    answers = {"initialize": greeting({"tools": {}}), "tools/list": {"tools": [tool]}}
    server = scripted(answers=answers)
    assert ran(capsys, "list", *server) == (0, "add(a: integer)  Add.\n", "")
    code, out, err = ran(capsys, "list", "--format", "json", *server)
    assert (code, json.loads(out), err) == (0, [tool], "")


# -- call: `test_request.py` has what is asked and said, here is what becomes of it --


def text(value: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": value}]}


def test_call_prints_the_result_and_shows_progress_on_stderr(capsys: Captured) -> None:
    code, out, err = ran(capsys, "call", "countdown", "start=2", *DEMO)
    assert (code, json.loads(out)) == (0, text("Lift-off"))
    assert err.splitlines() == ["progress 1/2  2 ...", "progress 2/2  1 ..."]


@each(
    ("words", "answers", "code", "out", "err"),
    [
        (["--raw", "x/y"], {"x/y": {"a": [1]}}, 0, '{\n  "a": [\n    1\n  ]\n}\n', ""),
        (["notifications/initialized"], {}, 0, "", ""),
        (["pong"], {}, 2, "", "Did you mean 'ping'?\n"),
        (["prompts/list"], {}, 2, "", "error: prompts/list: needs server:prompts, but "),
        (["--raw", "prompts/list"], {}, 5, "", "error: the peer answered: Method not found"),
        (["ping"], {"initialize": {"capabilities": 5}}, 6, "", "error: initialize#"),
    ],
)
def test_what_comes_of_a_call_gives_the_exit_code(
    capsys: Captured, words: list[str], answers: dict[str, Any], code: int, out: str, err: str
) -> None:
    got, answer, said = ran(capsys, "call", *words, *scripted(answers=answers))
    assert (got, answer) == (code, out)
    assert err in said
    assert "raw()" not in said  # advice for programs, not for a command line


@each(
    ("result", "code", "out", "err"),
    [
        (text("a\tb\nc"), 0, "a\tb\nc\n", ""),
        ({**text("No."), "isError": True}, 5, "No.\n", ""),
        (
            {"content": [*text("a")["content"], {"type": "image", "data": "", "mimeType": "a/b"}]},
            0,
            "a\n",
            "",
        ),
        ({"contents": [{"uri": "a:b", "text": "kept"}]}, 0, "kept\n", ""),
        ({"a": 1}, 0, '{\n  "a": 1\n}\n', "note: --text is for results of tools and resources"),
    ],
)
def test_call_prints_the_text_of_a_result(
    capsys: Captured, result: dict[str, Any], code: int, out: str, err: str
) -> None:
    server = scripted(answers={"initialize": greeting({"tools": {}}), "x/y": result})
    got, printed, said = ran(capsys, "call", "--text", "--raw", "x/y", *server)
    assert (got, printed) == (code, out)
    assert said.startswith(err)


def test_text_of_a_result_steers_no_terminal(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("NO_COLOR", "1")
    server = scripted(answers={"initialize": greeting({"tools": {}}), "x/y": text("a\t\x1b[2J")})
    _, printed, _ = ran(capsys, "call", "--text", "--raw", "x/y", *server)
    assert printed == "a\t\\u001b[2J\n"


def test_a_tool_that_fails_prints_its_result_and_ends_with_5(capsys: Captured) -> None:
    result = {**text("No."), "isError": True}
    server = scripted(answers={"initialize": greeting({"tools": {}}), "tools/call": result})
    code, out, err = ran(capsys, "call", "tools/call", "name=x", *server)
    assert (code, json.loads(out), err) == (5, result, "")


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
    code, out, err = ran(capsys, "call", "ping", "--", *interpreter, *command)
    assert (code, out) == (4, "")
    assert message in err


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
    code, out, err = ran(capsys, "call", f"{file}:second", "double", 'pair:={"a": 4}')
    assert (code, json.loads(out), err) == (0, text("8"), "")


GROUP = """import anyio
async def fail():
    {}
async def main():
    async with anyio.create_task_group() as outer, anyio.create_task_group():
        outer.start_soon(fail)
anyio.run(main)
"""


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
        ("x = 1\n\0", "", "servers.py: SyntaxError: source code string cannot contain null bytes"),
        ("# coding: none", "", "servers.py: SyntaxError"),
        ("import sys\nsys.exit(3)", "", "servers.py:2: ended the program by sys.exit(3) while it"),
        ("raise SystemExit", "", "servers.py:1: ended the program by sys.exit() while it was"),
        ("exit('bye')", "", "servers.py:1: ended the program by sys.exit('bye') while it was"),
        ("raise KeyboardInterrupt", "", "servers.py:1: KeyboardInterrupt.\n"),
        ("raise BaseException('no')", "", "servers.py:1: BaseException: no\n"),
        (GROUP.format("raise ValueError('no')"), "", "servers.py:3: ValueError: no\n"),
        ("raise ExceptionGroup('no', [ValueError('a')] * 2)", "", "servers.py:1: ExceptionGroup: "),
    ],
)
def test_a_file_that_holds_no_one_server_is_refused(
    capsys: Captured, tmp_path: Path, source: str, name: str, message: str
) -> None:
    file = tmp_path / "servers.py"
    file.write_text(source, encoding="utf-8")
    code, out, err = ran(capsys, "serve", f"{file}{name}")
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


def test_a_file_that_hides_a_standard_module_is_reported(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])  # what serving adds must not stay
    monkeypatch.setitem(sys.modules, "this", sys)
    file = tmp_path / "this.py"
    file.write_text("x = 1", encoding="utf-8")
    code, _, err = ran(capsys, "serve", str(file))
    assert code == 2
    assert err.startswith(f"note: {file} stands in for Python's own module 'this'. Rename it.\n")


def test_a_file_that_ends_itself_is_reported(capsys: Captured, tmp_path: Path) -> None:
    file = tmp_path / "ends.py"
    file.write_text("import sys\nsys.exit(0)", encoding="utf-8")
    code, out, err = ran(capsys, "list", str(file))
    assert (code, out) == (2, "")
    assert err == (
        f"error: {file}:2: ended the program by sys.exit(0) while it was imported.\n"
        'hint: Put what runs the program under: if __name__ == "__main__":\n'
        f"error: {file} cannot be served, for the reason above.\n"
    )


# -- as a process --


@pytest.mark.slow
def test_a_closed_pipe_is_not_an_error() -> None:
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
        pytest.param("kinwire li", {"lint", "list", "lite"}, marks=pytest.mark.slow),
        pytest.param("kinwire list --for", {"--format"}, marks=pytest.mark.slow),
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
    subprocess.run(command, env={**os.environ, **asked}, timeout=60, check=True)
    assert {word.strip() for word in answer.read_text().split("\v")} == words
