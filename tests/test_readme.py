"""The documents for users: every block in them runs and shows what the document says it shows.

A `python NAME` or `toml NAME` block is a file, a `console` block a session in the folder with these
files; `sh` blocks are the set-up, which CI runs.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from pkgutil import iter_modules
from typing import NamedTuple

import pytest

import kinwire
from kinwire_cli.protocols import protocol_tables
from kinwire_cli.subcommand import subcommand_names
from tests.bench.picture import PAGE, SHORT_PICTURE, short_picture
from tests.each import each
from tests.protocol_table import GUIDE, PLAYERS, table_in, table_now
from tests.tracked import ROOT, tracked_files

MARKDOWN = [path.relative_to(ROOT).as_posix() for path in tracked_files() if path.suffix == ".md"]

# Documents for those who change kinwire, or that need other programs, and what runs their blocks.
RUN_ELSEWHERE = {
    "CONTRIBUTING.md": "tests/packaging/test_commands.py",
    "docs/language-server.md": "tests/interop/test_imports.py",
    "docs/other-languages.md": "tests/interop/test_typescript.py",
    "schema/README.md": "tests/codegen/test_writing_a_document.py",
}
GUIDES = [name for name in MARKDOWN if re.fullmatch(r"docs/[^/]+", name)]
DOCUMENTS = ["README.md", *(name for name in GUIDES if name not in RUN_ELSEWHERE)]


FILES = {"python", "toml"}


class Block(NamedTuple):
    kind: str
    name: str
    text: str


def blocks_of(document: str) -> list[Block]:
    text = (ROOT / document).read_text(encoding="utf-8")
    found = re.findall(r"^```(\w*) ?(\S*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [Block(*block) for block in found]


def steps_of(session: str) -> Iterator[tuple[str, str]]:
    """Yield each command of a console block with the output that is shown below it."""
    for step in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
        command, _, output = step.partition("\n")
        yield command, output


def run(command: str, folder: Path) -> str:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return re.sub(r" in \d+\.\d+s", "", done.stdout) + done.stderr  # how long pytest took goes


@each("document", DOCUMENTS)
def test_every_block_is_of_a_kind_that_is_run(document: str) -> None:
    blocks = blocks_of(document)
    assert {block.kind for block in blocks} <= {*FILES, "console", "sh"}
    assert all(block.name for block in blocks if block.kind in FILES)


@each("document", DOCUMENTS)
def test_no_block_is_written_so_that_it_escapes(document: str) -> None:
    blocks = blocks_of(document)
    text = (ROOT / document).read_text(encoding="utf-8")
    assert len(re.findall(r"^\s*(?:```|~~~)", text, re.MULTILINE)) == 2 * len(blocks)
    assert all(block.text.startswith("$ ") for block in blocks if block.kind == "console")


def test_the_lines_for_a_shell_are_those_that_ci_takes_from_the_readme() -> None:
    lines = [
        (document, line)
        for document in DOCUMENTS
        for block in blocks_of(document)
        if block.kind == "sh"
        for line in block.text.splitlines()
    ]
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    begins = re.findall(r"readme_line '\^?(.*?)'", script)
    assert {document for document, _ in lines} == {"README.md"}
    assert len(lines) == len(begins)
    assert all(re.match(begin, line) for begin, (_, line) in zip(begins, lines, strict=True))


def test_every_document_with_blocks_is_run_somewhere() -> None:
    found = {
        name
        for name in MARKDOWN
        if not name.startswith(("generated/", "tests/codegen/golden/"))
        and re.search(r"^\s*(?:```|~~~)", (ROOT / name).read_text("utf-8"), re.MULTILINE)
    }
    assert found - {*DOCUMENTS} == {*RUN_ELSEWHERE}
    assert [test for test in RUN_ELSEWHERE.values() if not (ROOT / test).is_file()] == []


@pytest.mark.slow
@pytest.mark.parametrize("document", DOCUMENTS)
def test_what_a_document_shows_is_what_happens(document: str, tmp_path: Path) -> None:
    blocks = blocks_of(document)
    for block in blocks:
        if block.kind in FILES:
            (tmp_path / block.name).write_text(block.text, encoding="utf-8")
    sessions = [block.text for block in blocks if block.kind == "console"]
    assert sessions or not blocks
    for session in sessions:
        for command, output in steps_of(session):
            assert run(command, tmp_path) == output, command


FIRST_PROGRAMS = [("notes.py", 13), ("client.py", 9), ("test_notes.py", 10)]


def test_the_client_of_a_language_server_stays_short() -> None:
    programs = {block.name: block.text for block in blocks_of("docs/language-server.md")}
    assert len([line for line in programs["hover.py"].splitlines() if line]) < 30


@each(("name", "limit"), FIRST_PROGRAMS)
def test_the_first_programs_stay_short(name: str, limit: int) -> None:
    (text,) = (block.text for block in blocks_of("README.md") if block.name == name)
    assert len(text.splitlines()) <= limit


def test_the_readme_stays_short() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.split()) <= 800
    assert len(text.encode()) <= 6000


def test_the_guide_of_the_command_names_every_subcommand_once() -> None:
    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `kinwire (\w+)", text, re.MULTILINE)
    assert sorted(rows) == subcommand_names()


def test_the_table_of_protocols_is_what_documents_and_code_give() -> None:
    assert table_in(GUIDE.read_text(encoding="utf-8")) == table_now(), "Run `nox -s generate`."


def test_the_picture_of_the_readme_shows_the_figures_of_the_table() -> None:
    drawn = short_picture(PAGE.read_text(encoding="utf-8"))
    assert SHORT_PICTURE.read_text(encoding="utf-8") == drawn


def test_a_protocol_that_the_runtime_has_a_part_for_has_more_than_bindings() -> None:
    parts = {part.name for part in iter_modules(kinwire.__path__) if part.ispkg}
    spoken = {name for name in protocol_tables() if name.replace("-", "") in parts}
    assert spoken == set(PLAYERS)


# The paths of docs/architecture.md are shorter: tests/test_architecture.py looks at them.
@each("document", [one for one in DOCUMENTS if "architecture" not in one])
def test_every_path_that_is_named_exists(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    named = re.findall(r"`((?:\w[\w-]*/)+[\w.-]*|[A-Z]+\.md)`", text)
    methods = {name for table in protocol_tables().values() for name in table.methods}
    missing = [path for path in named if path not in methods and not (ROOT / path).exists()]
    assert missing == []


@each("document", DOCUMENTS)
def test_every_link_leads_to_a_file(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#\s]+)", text)
    folder = (ROOT / document).parent
    files = [link for link in links if not link.startswith("https://")]
    assert [link for link in files if not (folder / link).exists()] == []


def test_the_readme_links_every_guide_once() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    guides = text.partition("## Guides")[2]
    named = re.findall(r"^- \[[^]]+\]\(([^)]+)\)", guides, re.MULTILINE)
    elsewhere = [name for name in GUIDES if name not in named and f"]({name})" in text]
    assert sorted([*named, *elsewhere]) == sorted([*GUIDES, "schema/README.md"])
