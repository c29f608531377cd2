"""What the shell offers, without starting or importing anything of the user's."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

import pytest

from kinwire_cli.call import CallCommand
from kinwire_cli.completion import complete_call, complete_described, complete_listed
from kinwire_cli.extras import is_installed
from kinwire_cli.serve import ServeCommand
from kinwire_cli.subcommand import Subcommand, load_subcommand
from tests.each import each

pytestmark = pytest.mark.skipif(not is_installed("cli"), reason="needs the extra [cli]")

TRIPS = """
raise RuntimeError("nobody imports this")

@server.tool
def book(name: str, context: Context, *, steps: int = 1): ...

@server.tool(title="x")
async def cancel(context: 'kinwire.Context'): ...

def helper(): ...
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "trips.py").write_text(TRIPS, encoding="utf-8")
    (tmp_path / "broken.py").write_text("def (", encoding="utf-8")
    (tmp_path / "notes.txt").touch()
    monkeypatch.chdir(tmp_path)


def offered(*words: str, raw: bool = False) -> list[str]:
    return list(complete_call("", Namespace(words=list(words), raw=raw)))


def test_methods_and_files_are_offered_first() -> None:
    first = offered()
    assert {"tools/call", "ping", "trips.py", "broken.py"} <= set(first)
    assert not {"roots/list", "notes.txt"} & set(first)


def test_methods_that_no_server_can_have_negotiated_are_offered_raw_alone() -> None:
    others = {"state/rollback", "mgp/health/ping"}
    assert not others & set(offered())
    assert others <= set(offered(raw=True))
    assert not {"push/event", "roots/list"} & set(offered(raw=True))


@pytest.mark.parametrize("file", ["trips.py", "trips.py:server"])
def test_the_tools_of_a_file_are_offered_behind_it(file: str) -> None:
    assert offered(file)[:2] == ["book", "cancel"]
    assert "trips.py" not in offered(file)


def test_methods_are_offered_behind_a_url() -> None:
    behind = offered("http://127.0.0.1:8000/mcp")
    assert "tools/call" in behind
    assert "trips.py" not in behind


@pytest.mark.parametrize(
    ("subcommand", "typed", "options"),
    [
        (ServeCommand, "--", {"--transport", "--host", "--port", "--allow-host", "--insecure"}),
        (CallCommand, "--", {"--header", "--insecure", "--proxy", "--timeout"}),
    ],
)
def test_the_options_of_a_subcommand_are_offered(
    subcommand: type[Subcommand], typed: str, options: set[str]
) -> None:
    argcomplete = pytest.importorskip("argcomplete")
    parser = ArgumentParser()
    subcommand.configure(parser)
    finder = argcomplete.CompletionFinder(parser)
    assert options <= {word.strip() for word in finder._get_completions([], typed, "", None)}


@each(
    ("words", "members"),
    [
        (["trips.py", "book"], ["name=", "steps="]),
        (["trips.py", "book", "name=x"], ["steps="]),
        (["tools/call"], ["name=", "arguments=", "_meta="]),
        (["trips.py", "helper"], []),
        (["vendor/thing"], []),
    ],
)
def test_the_members_of_what_is_called_are_offered(words: list[str], members: list[str]) -> None:
    assert sorted(offered(*words)) == sorted(members)


@pytest.mark.parametrize("file", ["broken.py", "none.py"])
def test_a_file_that_cannot_be_read_has_no_tools(file: str) -> None:
    assert "ping" in offered(file)


@each(
    ("words", "typed", "offered"),
    [
        ("serve ", "", {"demo", "lite", "trips.py"}),
        ("serve demo ", "", {"mcp", "mcpl", "mgp", "mcpe", "mcp-lite"}),
        ("serve demo mcpl ", "", {"memory", "redaction", "notes", "chat"}),
        ("serve demo mcp ", "", set()),
        ("serve trips.py ", "", set()),
        ("demo ", "", {"mcp", "mcpl", "mgp", "mcpe", "mcp-lite"}),
        ("permissions approve files ", "she", {"shell.execute"}),
        ("audit search --type ", "TOOL_B", {"TOOL_BLOCKED"}),
        ("audit search --result ", "", {"SUCCESS", "FAILURE", "BLOCKED"}),
        ("audit search --agent ", "", set()),
    ],
)
def test_what_an_argument_takes_is_offered(words: str, typed: str, offered: set[str]) -> None:
    argcomplete = pytest.importorskip("argcomplete")
    subcommand, *rest = words.split()
    parser = ArgumentParser()
    load_subcommand(subcommand).configure(parser)
    finder = argcomplete.CompletionFinder(parser)
    found = {word.strip() for word in finder._get_completions([subcommand, *rest], typed, "", None)}
    options = {word for word in found if word.startswith("-")}
    assert (found - options) >= offered
    assert offered or not (found - options)


def test_protocols_and_entries_are_offered() -> None:
    assert {"mcp", "trips.py"} <= set(complete_listed(""))
    assert {"tools/call", "Tool", "ResourceNotFound", "mgp.access.query"} <= set(
        complete_described()
    )
