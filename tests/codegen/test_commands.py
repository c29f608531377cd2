"""The generator's subcommands as a user runs them: output, exit codes, and a way back."""

from __future__ import annotations

import gc
import json
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from threading import Timer
from typing import NamedTuple

import pytest

from kinwire_cli import main
from kinwire_codegen.commands.generate import without_collection

SCHEMA = Path(__file__).parents[2] / "schema"


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def kinwire(*arguments: str | Path, cwd: Path) -> Done:
    """Run the command in this process: a new one would load the generator again each time."""
    out, err = StringIO(), StringIO()
    with chdir(cwd), redirect_stdout(out), redirect_stderr(err):
        code = main(list(map(str, arguments)))
    return Done(code, out.getvalue(), err.getvalue())


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A protocol of one's own, started and generated."""
    folder = tmp_path_factory.mktemp("made")
    assert kinwire("new", "protocol", "my-notes", cwd=folder).returncode == 0
    done = kinwire(*GENERATE, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


GENERATE = ["generate", "--schema", "my-notes/schema", "--out", "my-notes", "--package", "mine"]


@pytest.mark.slow
def test_a_started_protocol_lints_generates_and_round_trips(made: Path) -> None:
    done = kinwire("lint", "--schema", "my-notes/schema", cwd=made)
    assert (done.returncode, done.stderr) == (0, "")
    expected = "my-notes/schema/my-notes.json  0.1  2 methods, 1 error, 3 types\n"
    assert done.stdout == expected
    script = """
        import json, pathlib
        from mine import mynotes
        from kinwire_protocols.base import from_wire, to_wire
        document = json.loads(pathlib.Path("schema/my-notes.json").read_text())
        for name, node in document["$defs"].items():
            for example in node["examples"]:
                assert to_wire(from_wire(getattr(mynotes, name), example)) == example
        print("ok")
    """
    lines = "\n".join(line.removeprefix("        ") for line in script.splitlines())
    command = [sys.executable, "-W", "error", "-c", lines]
    ran = subprocess.run(
        command, cwd=made / "my-notes", capture_output=True, text=True, check=False
    )
    assert (ran.stdout, ran.stderr) == ("ok\n", "")


def test_a_protocol_is_not_started_twice(made: Path) -> None:
    done = kinwire("new", "protocol", "my-notes", cwd=made)
    assert done.returncode == 2
    expected = "error: my-notes/schema exists already.\nhint: Choose another folder with --out.\n"
    assert done.stderr == expected


@pytest.mark.parametrize("name", ["My-Notes", "../x", "", "a--b", "1a"])
def test_an_invalid_name_is_refused(name: str, tmp_path: Path) -> None:
    done = kinwire("new", "protocol", name, cwd=tmp_path)
    assert done.returncode == 2
    assert "is not a valid protocol name.\nhint: Use lower case, digits and dashes." in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_word_of_python_is_refused_as_a_name(tmp_path: Path) -> None:
    done = kinwire("new", "protocol", "im-port", cwd=tmp_path)
    expected = "error: 'im-port' is a Python keyword.\nhint: Choose another name.\n"
    assert (done.returncode, done.stderr) == (2, expected)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_check_shows_what_differs_and_writes_nothing(made: Path) -> None:
    package = made / "my-notes/mine/mynotes"
    edited = package / "errors.py"
    before = edited.read_text()
    edited.write_text(before.replace("1001", "1002"))
    (package / "stubs.py").rename(package / "old.py")
    done = kinwire(*GENERATE, "--check", cwd=made)
    assert (done.returncode, done.stderr) == (1, "")
    summary, _, diff = done.stdout.partition("\n\n")
    assert summary.splitlines() == [
        "3 files out of date. Run the same command without --check.",
        "  change  mine/mynotes/errors.py",
        "  remove  mine/mynotes/old.py",
        "  add     mine/mynotes/stubs.py",
    ]
    assert diff.startswith("--- a/mine/mynotes/errors.py\n+++ b/mine/mynotes/errors.py\n")
    assert "-    default_code = 1002\n+    default_code = 1001\n" in diff
    assert edited.read_text() != before
    assert kinwire(*GENERATE, cwd=made).returncode == 0
    done = kinwire(*GENERATE, "--check", cwd=made)
    assert (done.returncode, done.stdout) == (0, "up to date\n")


def test_findings_are_printed_and_nothing_is_written(tmp_path: Path) -> None:
    schema = tmp_path / "schema"
    shutil.copytree(SCHEMA, schema)
    document = json.loads((schema / "mcp.json").read_text())
    document["methods"]["ping"]["params"] = "#/$defs/Pign"
    (schema / "mcp.json").write_text(json.dumps(document))
    done = kinwire("generate", cwd=tmp_path)
    assert done.returncode == 1
    (line,) = done.stdout.splitlines()
    what = "/methods/ping/params: 'Pign' is not a definition. Define it under $defs."
    assert re.fullmatch(rf"schema/mcp\.json:1:\d+: {re.escape(what)}", line)
    assert done.stderr == "documents: schema\n1 finding\n"
    assert not (tmp_path / "generated").exists()


WRONG = [
    pytest.param(["generate"], "Name a folder with --out.", id="no place to write to"),
    pytest.param(
        ["generate", "--out", "x", "--package", "a-b"], "Correct --package.", id="no Python name"
    ),
    pytest.param(
        ["generate", "--out", "x", "--package", "x", "--watch"],
        "Name one with --schema.",
        id="nothing to watch",
    ),
    pytest.param(
        ["generate", "--out", "file", "--package", "x"],
        "Choose another --out.",
        id="a file where a folder belongs",
    ),
]


@pytest.mark.parametrize(("arguments", "hint"), WRONG)
@pytest.mark.slow
def test_a_wrong_command_is_refused_with_a_hint(
    arguments: list[str], hint: str, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    done = kinwire(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    *_, error, advice = done.stderr.splitlines()
    assert (error[:7], advice) == ("error: ", f"hint: {hint}")
    assert "Traceback" not in done.stderr


def test_a_package_is_not_written_among_the_documents(made: Path) -> None:
    schema = made / "my-notes" / "schema"
    before = sorted(schema.iterdir())
    for out, package in (("schema", "mine"), (".", "schema"), ("./schema/..", "schema")):
        words = ("--schema", "schema", "--out", out, "--package", package)
        done = kinwire("generate", *words, cwd=made / "my-notes")
        assert (done.returncode, "among the documents" in done.stderr) == (2, True), done
    assert sorted(schema.iterdir()) == before


def test_without_methods_types_and_errors_there_is_nothing_to_do(tmp_path: Path) -> None:
    document = {
        "$schema": "meta.schema.json",
        "protocol": "empty",
        "title": "Empty",
        "version": "1.0.0",
        "description": "A protocol that says nothing.",
        "roles": {"client": "client", "server": "server"},
        "methods": {},
        "errors": {},
        "$defs": {},
    }
    (tmp_path / "empty.json").write_text(json.dumps(document), encoding="utf-8")
    words = ("--schema", ".", "--out", "out", "--package", "mine")
    done = kinwire("generate", *words, cwd=tmp_path)
    assert (done.returncode, "nothing to do" in done.stdout) == (0, True), done
    assert not (tmp_path / "out").exists()


def test_another_protocol_does_not_land_in_a_package_of_our_name(made: Path) -> None:
    done = kinwire("generate", "--schema", "my-notes/schema", "--out", "out", cwd=made)
    assert done.returncode == 2
    expected = "error: the package has no name.\nhint: Give it one with --package.\n"
    assert done.stderr == expected


@contextmanager
def watching(folder: Path) -> Iterator[Callable[[], str]]:
    """Watch `folder`; yield a function that returns the next line, less its time."""
    arguments = ["generate", "--watch", "--out", ".", "--package", "mine"]
    process = subprocess.Popen(
        [sys.executable, "-m", "kinwire", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    limit = Timer(60, process.kill)
    limit.start()

    def said() -> str:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, "the watch ended"
        return line.partition(" ")[2].strip()

    try:
        yield said
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    finally:
        limit.cancel()
        process.kill()
        process.communicate()


ON_THE_RUNTIME = """
import asyncio
from kinwire import Server, pair
from mine import mynotes

server = Server("notes", "1")

@server.on(mynotes.methods.NOTES_ADD)
async def add(params: mynotes.AddNoteParams) -> mynotes.AddNoteResult:
    if params.text == "too much":
        raise mynotes.NotebookFullError
    return mynotes.AddNoteResult(note_id=params.text)

async def main() -> None:
    async with pair(server) as connection:
        notes = mynotes.ServerStub(connection)
        print(await notes.notes_add(text="tea"))
        try:
            await notes.notes_add(text="too much")
        except mynotes.NotebookFullError as error:
            print(error)

asyncio.run(main())
"""


def test_the_bindings_of_ones_own_protocol_work_on_the_runtime(made: Path) -> None:
    command = [sys.executable, "-W", "error", "-c", ON_THE_RUNTIME]
    ran = subprocess.run(
        command, cwd=made / "my-notes", capture_output=True, text=True, check=False
    )
    expected = "note_id='tea'\nThe notebook is full (NotebookFull 1001)\n"
    assert (ran.stdout, ran.stderr) == (expected, "")


@pytest.mark.slow
def test_standalone_bindings_bring_their_own_base(made: Path) -> None:
    done = kinwire(*GENERATE[:3], "--out", "alone", "--package", "alone", "--standalone", cwd=made)
    assert done.returncode == 0, done.stdout + done.stderr
    texts = [path.read_text() for path in (made / "alone/alone").rglob("*.py")]
    assert [text for text in texts if "kinwire_protocols" in text] == []


@pytest.mark.slow
def test_watch_says_what_changed_on_each_save(tmp_path: Path) -> None:
    assert kinwire("new", "protocol", "toy", "--out", ".", cwd=tmp_path).returncode == 0
    path = tmp_path / "schema" / "toy.json"
    document = json.loads(path.read_text())
    with watching(tmp_path) as said:
        assert said() == "20 files written"
        document["errors"]["NotebookFull"]["code"] = 1002
        path.write_text(json.dumps(document))
        assert said() == "toy.json errors NotebookFull: changed"
        assert said() == (
            "toy.json B203 breaking: error NotebookFull had the code 1001 and has 1002."
            " Breaks old receivers (server), old senders (client)"
        )
        assert said() == "7 files written"
        path.write_text("{")
        assert said().startswith("schema/toy.json:1:2: cannot be read as JSON")
        assert said() == "nothing written; waiting for the next save"
        document["methods"]["notes/clear"] = document["methods"]["notes/add"]
        path.write_text(json.dumps(document))
        assert said() == "toy.json methods notes/clear: added"
        assert said().endswith(" files written")
    assert "1002" in (tmp_path / "mine/toy/errors.py").read_text()


def test_what_a_run_has_made_is_not_searched_for_garbage_as_it_ends() -> None:
    begun: list[dict[str, int]] = []

    def note(phase: str, info: dict[str, int]) -> None:
        begun.append(info)

    gc.callbacks.append(note)
    try:
        with without_collection():
            made: list[list[int]] = [[] for _ in range(100_000)]
        made.extend([] for _ in range(100))
    finally:
        gc.callbacks.remove(note)
    assert (gc.isenabled(), begun) == (True, [])
