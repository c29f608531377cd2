"""What type checkers say to users: all that is right passes, and each mistake gets its message."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import groupby
from operator import attrgetter
from pathlib import Path

import pytest

from tests.test_readme import DOCUMENTS, blocks_of
from tests.typing.messages import MISTAKES, ROOT, Finding, expected, findings

# Newer Pythons are tested without them.
pytest.importorskip("mypy")
pytest.importorskip("pyright")

RIGHT_USES = ROOT / "tests" / "typing" / "right_uses.py"

Said = dict[Path, list[Finding]]


def said_of_all(folder: Path) -> Said:
    for document in DOCUMENTS:
        write_programs(document, folder)
    programs = sorted(folder.iterdir())
    write_bindings(folder)
    return findings([*MISTAKES, RIGHT_USES, *programs], search=folder)


def write_bindings(folder: Path) -> None:
    """Generate what programs of `docs/bindings.md` import, by the commands of that guide."""
    python(folder, "bindings_eth_document.py")
    kinwire(folder, "generate", "--schema", "eth", "--out", ".", "--package", "eth_bindings")
    kinwire(folder, "new", "protocol", "my-notes")
    notes = ("--schema", "my-notes/schema", "--out", ".", "--package", "my_notes_bindings")
    kinwire(folder, "generate", *notes)


def kinwire(folder: Path, *arguments: str) -> None:
    python(folder, "-m", "kinwire", *arguments)


def python(folder: Path, *arguments: str) -> None:
    subprocess.run([sys.executable, *arguments], cwd=folder, check=True, capture_output=True)


def write_programs(document: str, folder: Path) -> None:
    """Write the blocks of a document as modules whose names no other document has."""
    prefix = re.sub(r"\W", "_", Path(document).stem.lower())
    blocks = [block for block in blocks_of(document) if block.kind == "python"]
    names = "|".join(Path(block.name).stem for block in blocks)
    for block in blocks:
        text = re.sub(rf"^(from|import) ({names})\b", rf"\1 {prefix}_\2", block.text, flags=re.M)
        (folder / f"{prefix}_{block.name}").write_text(text, encoding="utf-8")


@pytest.mark.parametrize("file", MISTAKES, ids=lambda file: file.stem)
def test_both_checkers_see_each_mistake(file: Path) -> None:
    found = expected(file.read_text("utf-8"))
    lines = {line: list(those) for line, those in groupby(found, attrgetter("line"))}
    assert len(lines) > 30
    for line, those in lines.items():
        assert {one.checker for one in those} == {"mypy", "pyright"}, line


@pytest.mark.slow
def test_mistakes_get_their_messages_and_right_uses_and_documents_none(tmp_path: Path) -> None:
    said = said_of_all(tmp_path)  # one test, for the checkers take long to start
    for file in MISTAKES:
        assert said[file] == expected(file.read_text("utf-8"))
    wrong = {file.name: found for file, found in said.items() if found and file not in MISTAKES}
    assert len(said) > len(MISTAKES) + len(DOCUMENTS)
    assert wrong == {}
