"""`kinwire lint`: check the documents."""

from __future__ import annotations

__all__ = ("LintCommand",)

from argparse import ArgumentParser, Namespace
from typing import ClassVar

from kinwire_codegen.commands.common import add_schema, count, project_of, refuse

COUNTED = {"methods": "method", "errors": "error", "$defs": "type"}


class LintCommand:
    """Prints every finding, or one line for each document if there are no findings."""

    name = "lint"
    summary = "check protocol documents"
    group = "protocols and generation"
    exit_codes: ClassVar[dict[int, str]] = {1: "problems were found"}
    examples = (
        "kinwire lint",
        "kinwire lint --schema notes/schema",
    )

    @staticmethod
    def configure(parser: ArgumentParser) -> None:
        """Add the subcommand's arguments."""
        add_schema(parser)

    @staticmethod
    def run(arguments: Namespace) -> int:
        """Return 0 if the documents are free of findings, else 1."""
        from kinwire_codegen.lint import lint
        from kinwire_codegen.load.findings import DocumentError
        from kinwire_codegen.load.loading import load_documents

        folder = project_of(arguments).schema
        try:
            documents = load_documents(folder)
            findings = lint(documents)
        except DocumentError as error:
            return refuse(error)
        if findings:
            return refuse(DocumentError(findings, folder))
        for name in documents.chosen:
            content = documents[name].content
            counted = ", ".join(count(len(content[key]), word) for key, word in COUNTED.items())
            file = documents[name].file if folder is None else folder / documents[name].file
            print(f"{file}  {content['version']}  {counted}")
        return 0
