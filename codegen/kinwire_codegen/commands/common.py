"""What the generator's subcommands share: the documents' folder, and how they talk."""

from __future__ import annotations

__all__ = ("SCHEMA", "add_schema", "count", "refuse", "schema_folder", "usage")

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kinwire_codegen.findings import DocumentError

SCHEMA = Path("schema")
_HEAD, _TAIL = 1500, 500  # characters; what is quoted may be longer than anyone reads


def add_schema(parser: ArgumentParser) -> None:
    """Add --schema, the folder of the documents."""
    default = "./schema if it holds meta.schema.json, else what the installed package brings"
    text = f"folder with the documents (default: {default})"
    parser.add_argument("--schema", type=Path, metavar="DIR", help=text)


def schema_folder(arguments: Namespace) -> Path | None:
    """Return the folder of the documents, None for those that the installed package brings."""
    folder: Path | None = arguments.schema
    if folder is None and (SCHEMA / "meta.schema.json").is_file():
        return SCHEMA
    return folder


def refuse(error: DocumentError) -> int:
    """Print every finding; return the exit code."""
    for finding in error.findings:
        print(finding)
    print(count(len(error.findings), "finding"), file=sys.stderr)
    return 1


def usage(message: str, hint: str) -> int:
    """Print what is wrong with the command and what to do; return the exit code."""
    for line in (f"error: {message}", f"hint: {hint}"):
        print(_one_line(line), file=sys.stderr)
    return 2


def _one_line(text: str) -> str:
    """Return `text` without what would end its line or steer a terminal; of a long one the ends."""
    if len(text) > _HEAD + _TAIL:
        text = f"{text[:_HEAD]} … {text[-_TAIL:]}"
    return "".join(sign if sign.isprintable() else " " for sign in text)


def count(number: int, word: str) -> str:
    """Return `number` and the word in its number."""
    return f"{number} {word}{'' if number == 1 else 's'}"
