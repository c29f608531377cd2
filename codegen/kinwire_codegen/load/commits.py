"""Documents as a commit of a git repository has them."""

from __future__ import annotations

__all__ = ("SourceError", "checked_out")

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

GIT_SECONDS = 30
OF_ANOTHER = frozenset({"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_PREFIX"})
"""Variables that git sets for hooks: by them it would not look for the repository of a folder."""
LINK = "120000"  # the mode of a symbolic link in a tree


class SourceError(Exception):
    """A side of the comparison does not exist; `hint` says what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


class _RefusedError(Exception):
    """Git has refused a command; the message is what it said."""


@contextmanager
def checked_out(commit: str, location: Path) -> Iterator[Path]:
    """Yield the file or the folder at `location` in a commit, with the other files of its folder.

    A symbolic link leads to where it led in the commit; one that was not there yet to where it
    leads now.

    Raises:
        SourceError: there is no such commit, or nothing in it.
    """
    places: list[tuple[Path, str | None]] = [(location, None)]
    if not location.is_dir():
        places = [(one.parent, one.name) for one in (location, location.resolve())]
    if not places[0][0].is_dir():
        raise SourceError(f"{location}: there is no such file or folder.", "Correct the path.")
    _must_have(commit, places[0][0])
    for home, name in places:
        entries = _entries(commit, home, name)
        if name in entries or (name is None and entries):
            with TemporaryDirectory() as folder:
                _write(commit, home, entries, Path(folder))
                yield Path(folder, name) if name else Path(folder)
            return
    where = f"no documents lie at {location}" if location.is_dir() else f"{location} is not"
    raise SourceError(f"{commit}: {where} there.", "Name a later commit.")


def _must_have(commit: str, home: Path) -> None:
    """Refuse a commit that the repository of a folder does not have."""
    try:
        inside = _git(home, "rev-parse", "--is-inside-work-tree")
    except _RefusedError as error:
        hint = "Name a file or a folder that is there, or put the documents into one."
        if "not a git repository" in str(error):
            raise SourceError(f"{commit}: {home} is not in a git repository.", hint) from None
        raise SourceError(f"{commit}: git cannot read it: {error}", "Try git by hand.") from None
    if inside.strip() != b"true":
        hint = "Clone it, and name the folder of the documents in the clone."
        raise SourceError(f"{commit}: {home} is part of a bare repository.", hint)
    try:
        _git(home, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^{{commit}}")
    except _RefusedError:
        what = f"{commit}: no path or commit has that name."
        raise SourceError(what, _hint(home)) from None


def _hint(home: Path) -> str:
    """Return what to do where a commit is missing, by what kind of clone it is."""
    if _git(home, "rev-parse", "--is-shallow-repository").strip() == b"true":
        return "The clone is shallow: git fetch --unshallow --tags fetches the commits."
    if _git(home, "rev-parse", "--show-superproject-working-tree").strip():
        return f"{home} lies in a submodule: name a commit of the submodule."
    return "Name a file, a folder, or a commit, tag or branch of the repository."


def _entries(commit: str, home: Path, wanted: str | None) -> dict[str, tuple[str, str]]:
    """Return mode and id of the documents in a folder of a commit, and of the file `wanted`."""
    try:
        listed = _git(home, "ls-tree", "-z", commit, "./")
    except _RefusedError:  # another repository, if a link leads there
        return {}
    found = {}
    for entry in filter(None, listed.split(b"\0")):
        fields, _, path = entry.partition(b"\t")
        mode, kind, identity = fields.decode().split()
        name = os.fsdecode(path.rpartition(b"/")[2])  # any bytes: names need not be UTF-8
        if kind == "blob" and (name == wanted or name.endswith(".json")):
            found[name] = mode, identity
    return found


def _write(commit: str, home: Path, entries: dict[str, tuple[str, str]], folder: Path) -> None:
    for name, (mode, identity) in entries.items():
        try:
            content = _followed(commit, home, name) if mode == LINK else _blob(home, identity)
        except _RefusedError as error:
            what = f"{commit}: git cannot read {name} in it: {error}"
            raise SourceError(what, "Fetch the commit whole.") from None
        if content is not None:
            Path(folder, name).write_bytes(content)


def _blob(home: Path, identity: str) -> bytes:
    return _git(home, "cat-file", "blob", identity)


def _followed(commit: str, home: Path, name: str) -> bytes | None:
    """Return what a link leads to in the commit, None if that is not a file of the commit."""
    asked = os.fsencode(f"{commit}:./{name}\n")
    said = _git(home, "cat-file", "--batch", "--follow-symlinks", asked=asked)
    first, _, rest = said.partition(b"\n")
    words = first.split()
    if len(words) != 3 or words[1] != b"blob":
        return None
    return rest[: int(words[2])]


def _git(folder: Path, *arguments: str, asked: bytes = b"") -> bytes:
    """Return what git says, or raise `_RefusedError` with the first line of its refusal."""
    command = ["git", "-C", str(folder), *arguments]
    kept = {name: value for name, value in os.environ.items() if name not in OF_ANOTHER}
    try:
        done = subprocess.run(
            command,
            input=asked,
            capture_output=True,
            timeout=GIT_SECONDS,
            check=False,
            env={**kept, "LC_ALL": "C"},
        )
    except FileNotFoundError:
        what = "git is not installed, so commits cannot be read."
        raise SourceError(what, "Install it.") from None
    except subprocess.TimeoutExpired:
        raise SourceError(f"git has not answered for {GIT_SECONDS} s.", "Try it by hand.") from None
    if done.returncode:
        raise _RefusedError(done.stderr.decode(errors="replace").strip().partition("\n")[0])
    return done.stdout
