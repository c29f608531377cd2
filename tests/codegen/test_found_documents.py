"""Which documents a subcommand works on where none are named, and that it says so."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.codegen.documents import SCHEMA, protocol
from tests.codegen.test_commands import Done, kinwire

BROKEN: dict[str, Any] = protocol(types={"Thing": {"description": "A type.", "$ref": "#/$defs/No"}})
THING: dict[str, Any] = {"Thing": {"description": "A type.", "type": "string"}}
PLACES = [(".", "schema"), ("docs", "../schema"), ("schema", "."), ("docs/a/b", "../../../schema")]
"""Where the command is run, and how the folder of the documents is called there."""


def write(folder: Path, content: object, *, meta: bool = True) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "toy.json").write_text(json.dumps(content, indent=2), encoding="utf-8")
    if meta:
        (folder / "meta.schema.json").write_bytes((SCHEMA / "meta.schema.json").read_bytes())


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with documents and guides."""
    folder = tmp_path / "project"
    (folder / "docs/a/b").mkdir(parents=True)
    (folder / "docs/guide.md").write_text("# A guide\n\nText.\n", encoding="utf-8")
    write(folder / "schema", protocol(types=THING))
    return folder


def shown(done: Done) -> list[str]:
    return [line for line in done.stderr.splitlines() if line.startswith("documents: ")]


@pytest.mark.parametrize(("here", "found"), PLACES)
@pytest.mark.parametrize(
    "command",
    ["lint", "generate --package toys", "docs check", "docs build", "breaking --against {old}"],
)
def test_a_broken_document_of_the_project_is_found_from_any_folder_of_it(
    command: str, here: str, found: str, project: Path, tmp_path: Path
) -> None:
    write(tmp_path / "old", protocol(types={}))
    write(project / "schema", BROKEN | {"surprise": 1})
    words = command.format(old=tmp_path / "old").split()
    done = kinwire(*words, cwd=project / here)
    place = "toy.json" if found == "." else f"{found}/toy.json"
    assert (done.returncode, shown(done)) == (1, [f"documents: {found}"])
    assert done.stdout.startswith(f"{place}:")


@pytest.mark.parametrize(("here", "found"), PLACES)
def test_what_is_generated_goes_next_to_the_documents(here: str, found: str, project: Path) -> None:
    done = kinwire("generate", "--package", "toys", cwd=project / here)
    assert (done.returncode, shown(done)) == (0, [f"documents: {found}"])
    assert (project / "generated/toys/toy/models.py").is_file()
    assert sorted(path.name for path in project.iterdir()) == ["docs", "generated", "schema"]


@pytest.mark.parametrize(("here", "found"), [PLACES[0], PLACES[2]])
def test_a_site_goes_next_to_the_documents_and_has_the_guides(
    here: str, found: str, project: Path
) -> None:
    done = kinwire("docs", "build", cwd=project / here)
    assert (done.returncode, shown(done)) == (0, [f"documents: {found}"])
    assert list((project / "site").rglob("guide.html"))
    assert sorted(path.name for path in project.iterdir()) == ["docs", "schema", "site"]


@pytest.mark.parametrize(("here", "found"), PLACES)
def test_a_commit_is_compared_with_the_documents_of_the_project(
    here: str, found: str, project: Path
) -> None:
    identity = ["-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    for words in (["init", "-q"], ["add", "."], [*identity, "commit", "-q", "-m", "before"]):
        subprocess.run(["git", *words], cwd=project, check=True)
    full = {"Full": {"code": 1, "message": "Full", "description": "It is full."}}
    write(project / "schema", protocol(types=THING, errors=full))
    for words in (["breaking", "--category", "bindings", "--against", "HEAD"], ["diff", "HEAD"]):
        done = kinwire(*words, cwd=project / here)
        assert (done.returncode, shown(done)) == (0, [f"documents: {found}"])
    assert "error Full is new" in done.stdout


def test_documents_that_are_named_are_not_looked_for(project: Path, tmp_path: Path) -> None:
    write(tmp_path / "other", protocol(types={}))
    done = kinwire("lint", "--schema", "../other", cwd=project)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("../other/toy.json  ")


def test_documents_without_the_meta_schema_are_found(project: Path) -> None:
    (project / "schema/meta.schema.json").unlink()
    write(project / "schema", BROKEN, meta=False)
    done = kinwire("lint", cwd=project / "docs")
    assert (done.returncode, shown(done)) == (1, ["documents: ../schema"])


def test_a_document_that_is_no_json_is_found(project: Path) -> None:
    (project / "schema/meta.schema.json").unlink()
    (project / "schema/toy.json").write_text('{"protocol": "toy",', encoding="utf-8")
    done = kinwire("lint", cwd=project)
    assert (done.returncode, shown(done)) == (1, ["documents: schema"])


def test_outside_of_a_project_they_are_those_of_the_installed_package(tmp_path: Path) -> None:
    (tmp_path / "schema").mkdir()
    (tmp_path / "schema/users.json").write_text('{"type": "object"}', encoding="utf-8")
    done = kinwire("lint", cwd=tmp_path)
    assert done.stderr == "documents: those of the installed package\n"
    assert "\nmcp.json  " in done.stdout


@pytest.mark.parametrize("words", [["breaking", "--against", "HEAD"], ["diff", "HEAD"]])
def test_a_comparison_outside_of_a_project_is_refused(words: list[str], tmp_path: Path) -> None:
    done = kinwire(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: schema: ")
