"""`kinwire diff A B`: what changed in the documents, as a changelog."""

from __future__ import annotations

__all__ = ("DiffCommand",)

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import ClassVar

from kinwire_codegen.commands.common import default_documents
from kinwire_codegen.commands.sides import open_sides

REFERENCE = "generated/reference"


class DiffCommand:
    """Prints what was added, changed, deprecated and removed, with links to the reference."""

    name = "diff"
    summary = "show what changed in the documents, as a changelog"
    group = "protocols and generation"
    exit_codes: ClassVar[dict[int, str]] = {1: "a document is invalid"}
    examples = (
        "kinwire diff HEAD",
        "kinwire diff HEAD schema --format md",
    )

    @staticmethod
    def configure(parser: ArgumentParser) -> None:
        """Add the subcommand's arguments."""
        text = "what it was: a commit, tag or branch, a document, or a folder of documents"
        parser.add_argument("old", metavar="A", help=text)
        text = "what it is, likewise (default: schema here or above)"
        parser.add_argument("new", nargs="?", metavar="B", help=text)
        text = "output format (default: text); md: the part about protocols of a CHANGELOG.md"
        parser.add_argument("--format", choices=("text", "json", "md"), default="text", help=text)
        text = f"where links lead to: the folder or URL of the reference (default: {REFERENCE})"
        parser.add_argument("--reference", default=REFERENCE, metavar="PLACE", help=text)

    @staticmethod
    def run(arguments: Namespace) -> int:
        """Return 0 if it was printed, 1 if documents cannot be used, 2 if a side does not exist."""
        from kinwire_codegen.commands.reports import changelog, verdicts
        from kinwire_codegen.commands.reports.report import Report
        from kinwire_codegen.compare.policy import ChangePolicy, review
        from kinwire_codegen.compare.verdict import Category

        # A commit has no place of its own: it gives the documents of the other side's path.
        given: str | None = arguments.new
        is_path = given is not None and Path(given).exists()
        there = Path(given) if given is not None and is_path else default_documents()
        sides = open_sides(arguments.old, there if given is None else given, location=there)
        if isinstance(sides, int):
            return sides
        comparison = sides.comparison
        if arguments.format == "json":
            found = review(comparison, ChangePolicy())
            print(verdicts.as_json(Report(found, sides.old, sides.new, list(Category))))
        elif arguments.format == "md":
            print(changelog.as_markdown(comparison, arguments.reference))
        else:
            print(changelog.as_plain(comparison))
        return 0
