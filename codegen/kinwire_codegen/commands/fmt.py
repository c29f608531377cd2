"""`kinwire fmt`: write documents in the canonical layout, or check that they have it."""

from __future__ import annotations

__all__ = ("FmtCommand",)

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from kinwire_codegen.commands.common import (
    count,
    default_documents,
    print_difference,
    refuse,
    usage,
)


class FormattedFile(NamedTuple):
    """A file with its text as it is, and in the canonical layout."""

    path: Path
    old: str
    new: str


class FmtCommand:
    """Writes files whose layout is not the canonical one, or shows the difference (--check)."""

    name = "fmt"
    summary = "write protocol documents in the canonical layout"
    group = "protocols and generation"
    exit_codes: ClassVar[dict[int, str]] = {
        1: "a file is not valid JSON, or has another layout (--check)"
    }
    examples = (
        "kinwire fmt",
        "kinwire fmt --check",
        "kinwire fmt notes/schema/notes.json",
    )

    @staticmethod
    def configure(parser: ArgumentParser) -> None:
        """Add the subcommand's arguments."""
        text = "documents, files that they include, or folders of both (default: ./schema)"
        parser.add_argument("paths", nargs="*", type=Path, metavar="PATH", help=text)
        text = "write nothing; list the files that differ, show how, and exit with 1"
        parser.add_argument("--check", action="store_true", help=text)

    @staticmethod
    def run(arguments: Namespace) -> int:
        """Return 0 if all files have the layout now, 1 on findings or differences, 2 on misuse."""
        from kinwire_codegen.atomic_files import write_file
        from kinwire_codegen.load.findings import DocumentError

        paths: list[Path] = arguments.paths or [default_documents()]
        for path in paths:
            if not path.exists():
                return usage(f"{path}: there is no such file or folder.", "Correct the path.")
        try:
            found = [file for path in paths for file in _files(path)]
        except DocumentError as error:
            return refuse(error)
        except NoDocumentError as error:
            return usage(str(error), "Name a protocol document, or a folder of them.")
        differing = [file for file in found if file.old != file.new]
        if arguments.check:
            return _show(differing, len(found))
        for file in differing:
            write_file(file.path, file.new)
            print(f"{file.path}  formatted")
        print(f"{count(len(differing), 'file')} formatted, {len(found) - len(differing)} unchanged")
        return 0


class NoDocumentError(Exception):
    """A path does not lead to protocol documents."""


def _files(path: Path) -> list[FormattedFile]:
    """Return the documents of a folder with the files that they include, or the one file.

    Raises:
        NoDocumentError: there is no document.
        DocumentError: files cannot be read as JSON.
    """
    from kinwire_codegen.load.canonical import canonical
    from kinwire_codegen.load.including import included_names
    from kinwire_codegen.load.loading import META
    from kinwire_codegen.load.parsing import parse

    texts = _texts(path)
    meta = _meta(path if path.is_dir() else path.parent)
    contents = {file: parse(text) for file, text in texts.items() if file.name != META}
    included = {name for content in contents.values() for name in included_names(content)}
    tables = meta.get("$defs", {}).get("included", {}).get("properties", {}).keys()
    found = []
    for file, content in contents.items():
        keys = content.keys() if isinstance(content, dict) else {"": None}.keys()
        is_part = keys <= tables and (file.name in included or not path.is_dir())
        if is_part or "protocol" in keys:
            new = canonical(texts[file], meta, part=is_part)
            found.append(FormattedFile(file, texts[file], new))
    if not found:
        raise NoDocumentError(f"{path}: it is not a protocol document, and no folder of them.")
    return found


def _meta(folder: Path) -> dict[str, Any]:
    """Return the meta-schema of a folder, that of the installed package if it has none.

    Raises:
        DocumentError: it cannot be used.
    """
    from kinwire_codegen.load.findings import DocumentError
    from kinwire_codegen.load.loading import META, load_documents
    from kinwire_codegen.load.meta_schema import meta_problems
    from kinwire_codegen.load.parsing import parse

    if not (folder / META).is_file():
        return load_documents(None).meta
    found = parse(_texts(folder / META)[folder / META])
    problems = meta_problems(found)
    if problems:
        raise DocumentError(problems, folder)
    return dict(found)


def _texts(path: Path) -> dict[Path, str]:
    """Return the texts of the JSON files of a folder, or of the one file.

    Raises:
        DocumentError: some cannot be read as JSON.
    """
    from kinwire_codegen.load.findings import DocumentError, Finding
    from kinwire_codegen.load.parsing import parse, read_text

    found: dict[Path, str] = {}
    findings: list[Finding] = []
    for file in sorted(path.glob("*.json")) if path.is_dir() else [path]:
        try:
            found[file] = read_text(file)
            parse(found[file])
        except ValueError as error:
            what = f"cannot be read as JSON: {error}"
            findings.append(Finding(file.name, "", what, "Fix the file."))
    if findings:
        raise DocumentError(findings, path)
    return found


def _show(differing: list[FormattedFile], total: int) -> int:
    if not differing:
        print(f"{count(total, 'file')} in the canonical layout")
        return 0
    verb = "has" if len(differing) == 1 else "have"
    print(f"{count(len(differing), 'file')} {verb} another layout. Run kinwire fmt.")
    for file in differing:
        print(f"  {file.path}")
    print()
    for file in differing:
        print_difference(file.path, file.old, file.new)
    return 1
