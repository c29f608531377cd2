"""`kinwire breaking`: who breaks when documents become what they are now."""

from __future__ import annotations

__all__ = ("BreakingCommand",)

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import ClassVar

from kinwire_codegen.commands.common import default_documents
from kinwire_codegen.commands.sides import open_sides

CATEGORIES = ("wire", "bindings", "docs")


class BreakingCommand:
    """Prints who breaks; exit code 1 for breaking changes if the version did not rise."""

    name = "breaking"
    summary = "say who breaks by what changed in the documents"
    group = "protocols and generation"
    exit_codes: ClassVar[dict[int, str]] = {
        1: "a change breaks someone and the version did not rise"
    }
    examples = (
        "kinwire breaking --against HEAD",
        "kinwire breaking --against v0.1 --format github schema/notes.json",
    )

    @staticmethod
    def configure(parser: ArgumentParser) -> None:
        """Add the subcommand's arguments."""
        text = "what it was: a commit, tag or branch, a document, or a folder of documents"
        parser.add_argument("--against", required=True, metavar="REF|FILE|DIR", help=text)
        text = "what it is: a document or a folder of documents (default: schema here or above)"
        parser.add_argument("path", nargs="?", type=Path, metavar="PATH", help=text)
        text = "what is looked at, once for each (default: wire)"
        parser.add_argument("--category", action="append", choices=CATEGORIES, help=text)
        text = "output format (default: text); github: annotations of a pull request"
        parser.add_argument(
            "--format", choices=("text", "json", "github"), default="text", help=text
        )

    @staticmethod
    def run(arguments: Namespace) -> int:
        """Return 0, 1 for unannounced breaking changes, or 2 if a side does not exist."""
        from kinwire_codegen.commands.reports import verdicts
        from kinwire_codegen.compare.verdict import Category

        path = arguments.path or default_documents()
        sides = open_sides(arguments.against, path, location=path)
        if isinstance(sides, int):
            return sides
        old, new, comparison = sides
        categories = [Category[name.upper()] for name in arguments.category or ["wire"]]
        tell = {
            "text": verdicts.as_text,
            "json": verdicts.as_json,
            "github": verdicts.as_github,
        }[arguments.format]
        print(tell(comparison, old, new, categories))
        return 1 if comparison.unannounced(*categories) else 0
