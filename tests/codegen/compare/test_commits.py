"""A commit as one side: odd names, links, and clones of every kind."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from kinwire_cli.command import main
from tests.codegen.compare.documents import edited, toy
from tests.codegen.compare.test_commands import git, stricter, write

BREAKS = "B305 wire breaking: AskParams.b is required now"


class Said(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def breaking(capsys: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    def run(against: str, path: Path) -> Said:
        code = main(["breaking", "--against", against, str(path)])
        said = capsys.readouterr()
        return Said(code, said.out, said.err)

    return run


def commit(folder: Path, tag: str) -> None:
    git(folder, "add", "--all", ".")
    git(folder, "commit", "-q", "-m", tag)
    git(folder, "tag", tag)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository that had the document in `v1` and asks more of old senders since."""
    home = tmp_path / "home"
    path = write(home / "spec" / "toy.json", toy())
    git(home, "init", "-q", "-b", "main")
    commit(home, "v1")
    write(path, edited(toy(), stricter))
    commit(home, "v2")
    return home


def test_a_file_name_that_is_not_utf8_is_ignored(
    repository: Path, breaking: Callable[..., Said]
) -> None:
    for name in (b"caf\xe9.txt", b"caf\xe9"):
        Path(os.fsdecode(os.fsencode(repository / "spec") + b"/" + name)).write_text("menu")
    commit(repository, "v3")
    assert breaking("v1", repository / "spec").out.count(BREAKS) == 1
    assert breaking("v3", repository / "spec").code == 0


def test_a_document_with_a_name_of_other_bytes_is_a_finding(
    repository: Path, breaking: Callable[..., Said]
) -> None:
    odd = Path(os.fsdecode(os.fsencode(repository / "spec") + b"/caf\xe9.json"))
    odd.write_text("{")
    commit(repository, "v3")
    odd.unlink()
    said = breaking("v3", repository / "spec")
    assert (said.code, said.out[:45]) == (1, r"caf\xe9.json#: cannot be read as JSON: Expect")


@pytest.mark.parametrize("name", ["now.json", "now"])
def test_a_link_that_is_new_leads_to_what_the_commit_had_there(
    name: str, repository: Path, breaking: Callable[..., Said]
) -> None:
    link = repository / name
    link.symlink_to("spec/toy.json")
    said = breaking("v1", link)
    assert (said.code, said.out.count(BREAKS)) == (1, 1)


def test_a_link_leads_to_where_it_led_in_the_commit(
    repository: Path, breaking: Callable[..., Said]
) -> None:
    write(repository / "spec" / "first.json", toy())
    link = repository / "now.json"
    link.symlink_to("spec/first.json")
    commit(repository, "v3")
    link.unlink()
    link.symlink_to("spec/toy.json")
    said = breaking("v3", link)
    assert (said.code, said.out.count(BREAKS)) == (1, 1)


def test_a_folder_of_links_is_read_through_them(
    repository: Path, breaking: Callable[..., Said]
) -> None:
    (repository / "linked").mkdir()
    (repository / "linked" / "toy.json").symlink_to("../spec/toy.json")
    write(repository / "spec" / "toy.json", toy())
    commit(repository, "v3")
    write(repository / "spec" / "toy.json", edited(toy(), stricter))
    assert breaking("v3", repository / "linked").out.count(BREAKS) == 1
    (repository / "spec_too").symlink_to("spec")
    assert breaking("v1", repository / "spec_too").out.count(BREAKS) == 1


@pytest.mark.parametrize("target", ["nowhere.json", "now.json", "../../outside.json", "spec"])
def test_a_link_without_a_document_in_the_commit_is_reported(
    target: str, repository: Path, breaking: Callable[..., Said]
) -> None:
    link = repository / "now.json"
    link.symlink_to(target)
    commit(repository, "v3")
    link.unlink()
    write(link, toy())
    said = breaking("v3", link)
    assert (said.code, said.err.splitlines()[0]) == (2, "error: v3: now.json is not there.")


def test_a_folder_named_like_a_document_is_not_a_document(
    repository: Path, breaking: Callable[..., Said]
) -> None:
    write(repository / "spec" / "old.json" / "toy.json", toy())
    commit(repository, "v3")
    (repository / "spec" / "old.json" / "toy.json").unlink()
    (repository / "spec" / "old.json").rmdir()
    assert breaking("v3", repository / "spec").code == 0


def test_files_that_a_commit_lacks_are_reported(
    repository: Path, breaking: Callable[..., Said]
) -> None:
    later = write(repository / "later" / "toy.json", toy())
    assert breaking("v1", later).err.startswith(f"error: v1: {later} is not there.")
    assert "v1: no documents lie at" in breaking("v1", later.parent).err


def test_a_shallow_clone_says_how_the_commit_comes(
    repository: Path, tmp_path: Path, breaking: Callable[..., Said]
) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repository}", str(clone))
    assert breaking("HEAD", clone / "spec").code == 0
    for missing in ("HEAD~1", "v1"):
        said = breaking(missing, clone / "spec")
        assert (said.code, "git fetch --unshallow" in said.err) == (2, True)


def test_a_worktree_has_the_commits_of_its_repository(
    repository: Path, tmp_path: Path, breaking: Callable[..., Said]
) -> None:
    git(repository, "worktree", "add", "-q", str(tmp_path / "tree"), "v2")
    assert breaking("v1", tmp_path / "tree" / "spec" / "toy.json").out.count(BREAKS) == 1


def test_a_hook_of_git_reads_the_repository_of_the_folder(
    repository: Path, breaking: Callable[..., Said], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(repository / ".git"))
    assert breaking("v1", repository / "spec").out.count(BREAKS) == 1
    monkeypatch.setenv("GIT_DIR", "elsewhere")
    assert breaking("v1", repository / "spec" / "toy.json").out.count(BREAKS) == 1


def test_a_submodule_has_commits_of_its_own(
    repository: Path, tmp_path: Path, breaking: Callable[..., Said]
) -> None:
    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init", "-q")
    allowed = ("-c", "protocol.file.allow=always")
    git(outer, *allowed, "submodule", "add", "-q", str(repository), "inner")
    git(outer, "commit", "-q", "-m", "inner")
    git(outer, "tag", "outer-1")
    assert breaking("v1", outer / "inner" / "spec").out.count(BREAKS) == 1
    said = breaking("outer-1", outer / "inner" / "spec")
    assert (said.code, "lies in a submodule" in said.err) == (2, True)


def test_a_folder_inside_a_bare_repository_is_refused(
    repository: Path, tmp_path: Path, breaking: Callable[..., Said]
) -> None:
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "-q", "--bare", str(repository), str(bare))
    said = breaking("v1", write(bare / "spec" / "toy.json", toy()))
    assert (said.code, "is part of a bare repository" in said.err) == (2, True)


def test_a_commit_that_was_fetched_in_part_is_reported(
    repository: Path, breaking: Callable[..., Said]
) -> None:
    asked = ("git", "-C", str(repository), "rev-parse", "v1:spec/toy.json")
    identity = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()
    (repository / ".git" / "objects" / identity[:2] / identity[2:]).unlink()
    said = breaking("v1", repository / "spec")
    assert said.code == 2
    assert said.err.startswith("error: v1: git cannot read toy.json in it: ")
