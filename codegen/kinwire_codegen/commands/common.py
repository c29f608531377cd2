"""What the generator's subcommands share: the documents' folder, and how they talk."""

from __future__ import annotations

__all__ = (
    "SCHEMA",
    "Project",
    "add_schema",
    "count",
    "default_documents",
    "find_project",
    "print_difference",
    "print_documents",
    "project_of",
    "refuse",
    "refuse_protocol_name",
    "text_width",
    "usage",
)

import os
import re
import sys
from argparse import ArgumentParser, Namespace
from difflib import unified_diff
from keyword import iskeyword
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from kinwire_codegen.load.findings import DocumentError

SCHEMA = Path("schema")
_META = "meta.schema.json"
_RED, _CYAN = "31", "36"
_HEAD, _TAIL = 1500, 500  # characters; what is quoted may be longer than anyone reads


class Project(NamedTuple):
    """The documents that a subcommand works on, and where its output goes by default."""

    schema: Path | None
    """The folder of the documents; None for those of the installed package."""
    root: Path | None
    """The folder that `generated` and `site` go into; None if the documents are elsewhere."""


def add_schema(parser: ArgumentParser) -> None:
    """Add --schema, the folder of the documents."""
    default = "schema in this folder or the nearest one above it, else the installed package's"
    text = f"folder with the documents (default: {default})"
    parser.add_argument("--schema", type=Path, metavar="DIR", help=text)
    parser.set_defaults(found=None)


def project_of(arguments: Namespace) -> Project:
    """Return what --schema names, else what is found; say once which documents were found."""
    named: Path | None = arguments.schema
    if named is not None:
        return Project(named, Path() if named == SCHEMA else None)
    if arguments.found is None:
        arguments.found = find_project() or Project(None, None)
        print_documents(arguments.found.schema)
    found: Project = arguments.found
    return found


def find_project() -> Project | None:
    """Return the project that the current folder lies in; None if there are no documents."""
    for level in range(len(Path.cwd().parts)):
        folder = Path(*[".."] * level)
        if _has_documents(folder / SCHEMA):
            return Project(folder / SCHEMA, folder)
        if os.path.isfile(folder / _META):
            return Project(folder, folder / "..")
    return None


def default_documents() -> Path:
    """Return the folder of the documents where no path is given, and say which it is."""
    found = find_project()
    if found is None or found.schema is None:
        return SCHEMA  # which the caller refuses, as it is not there
    print_documents(found.schema)
    return found.schema


def _has_documents(folder: Path) -> bool:
    """Return whether protocol documents are in a folder, also ones that cannot be read as JSON."""
    if os.path.isfile(folder / _META):
        return True
    files = [path for path in folder.glob("*.json") if os.path.isfile(path)]
    return any(b'"protocol"' in path.read_bytes() for path in files if os.access(path, os.R_OK))


def print_documents(folder: Path | None) -> None:
    """Print which documents were found, to stderr."""
    which = "those of the installed package" if folder is None else _one_line(str(folder))
    print(f"documents: {which}", file=sys.stderr)


def print_difference(path: Path | str, old: str, new: str) -> None:
    """Print how the text of a file differs, as a unified diff."""
    before, after = (text.splitlines(keepends=True) for text in (old, new))
    for line in unified_diff(before, after, f"a/{path}", f"b/{path}", n=2):
        end = "" if line.endswith("\n") else "\n\\ No newline at end of file\n"
        sys.stdout.write(line + end)


def refuse(error: DocumentError) -> int:
    """Print every finding; return the exit code."""
    from kinwire_codegen.load.finding_lines import finding_lines

    for line in finding_lines(error):
        print(line)
    print(count(len(error.findings), "finding"), file=sys.stderr)
    return 1


def refuse_protocol_name(name: str) -> int:
    """Print why no protocol can have a name; return the exit code, 0 if it is a valid name."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        hint = "Use lower case, digits and dashes."
        return usage(f"{name!r} is not a valid protocol name.", hint)
    if iskeyword(name.replace("-", "")):
        return usage(f"{name!r} is a Python keyword.", "Choose another name.")
    return 0


def usage(message: str, hint: str) -> int:
    """Print what is wrong with the command and what to do; return the exit code."""
    print(f"{_coloured('error:', _RED)} {_one_line(message)}", file=sys.stderr)
    print(f"{_coloured('hint:', _CYAN)} {_one_line(hint)}", file=sys.stderr)
    return 2


def _coloured(label: str, code: str) -> str:
    """Return a label for stderr, in colour as the runtime's subcommands write theirs."""
    if os.environ.get("NO_COLOR"):
        return label
    terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    return f"\x1b[{code}m{label}\x1b[0m" if terminal or os.environ.get("FORCE_COLOR") else label


def _one_line(text: str) -> str:
    """Return `text` without what would end its line or steer a terminal; of a long one the ends."""
    if len(text) > _HEAD + _TAIL:
        text = f"{text[:_HEAD]} … {text[-_TAIL:]}"
    return "".join(sign if sign.isprintable() else " " for sign in text)


def text_width(default: int) -> int:
    """Return how wide text is: `default`, or less on a narrower terminal."""
    return min(default, get_terminal_size().columns) if sys.stdout.isatty() else default


def count(number: int, word: str) -> str:
    """Return `number` and the word in its number."""
    return f"{number} {word}{'' if number == 1 else 's'}"
