"""`kinwire import`: documents made of what other projects describe their protocols with.

`imports/kinds.py` has the kinds that become documents. Other packages add kinds of files by the
entry-point group `kinwire.importers`: an entry is a class with a `summary` and `run(files, out)`,
which returns the exit code.
"""

from __future__ import annotations

__all__ = ("ImportCommand",)

import sys
from argparse import ArgumentParser, Namespace
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from kinwire_codegen.commands.common import count, refuse_protocol_name, usage
from kinwire_codegen.imports.imported import Imported, ImportSource, UselessFileError
from kinwire_codegen.imports.kinds import KINDS, ImportKind, ImportOption
from kinwire_codegen.imports.reading import MALFORMED
from kinwire_codegen.imports.well_formed import MalformedSchemaError

if TYPE_CHECKING:
    from kinwire_codegen.imports.writing import MadeFile

_GROUP = "kinwire.importers"
_OUT = Path("imported")


class ImportCommand:
    """Writes a checked document for each FILE, and reports what it cannot represent."""

    name = "import"
    summary = "read OpenRPC, JSON Schema, LSP and others, or the configuration of another client"
    group = "protocols and generation"
    exit_codes: ClassVar[dict[int, str]] = {
        1: "a document would lose something, or have problems; nothing was written"
    }
    examples = (
        "kinwire import mcp-schema 2025-06-18.json",
        "kinwire import openrpc petstore.json --protocol pets --as-version 1.0",
        "kinwire import config claude_desktop_config.json",
    )

    @staticmethod
    def configure(parser: ArgumentParser) -> None:
        """Add the subcommand's arguments."""
        kinds = (*KINDS, *sorted(_importers()))
        parser.add_argument("kind", choices=kinds, help="what the files are")
        text = f"{', '.join(kind.files for kind in KINDS.values())}, or JSON with mcpServers"
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help=text)
        text = (
            "folder of documents, which go to OUT/VERSION (default: ./imported); "
            "config: a file (default: ./mgp.toml)"
        )
        parser.add_argument("--out", type=Path, metavar="PATH", help=text)
        text = "name of the protocol (default: mcp, or the title that the file has)"
        parser.add_argument("--protocol", metavar="NAME", help=text)
        text = "its version (default: what the file or its path says)"
        parser.add_argument("--as-version", metavar="VERSION", help=text)
        text = "write the document although something is left out of it or widened"
        parser.add_argument("--partial", action="store_true", help=text)
        for option, names in _options().items():
            text = f"{', '.join(names)}: {option.help}"
            parser.add_argument(
                f"--{option.name}", metavar=option.metavar, choices=option.choices, help=text
            )

    @staticmethod
    def run(arguments: Namespace) -> int:
        """Return 0 if all was written, 1 if something would be lost, 2 if a file is of no use."""
        if (refused := _wrong_option(arguments)) is not None:
            return usage(refused, "Leave it out.")
        if arguments.kind not in KINDS:
            importer = _importers()[arguments.kind].load()
            return int(importer.run(arguments.files, arguments.out))
        if arguments.protocol and (code := refuse_protocol_name(arguments.protocol)):
            return code
        try:
            return _import(arguments, KINDS[arguments.kind])
        except UselessFileError as error:
            return usage(f"{error.path}: {error}", error.hint)
        except OSError as error:
            return usage(f"{error.filename}: {error.strerror}.", "Choose another --out.")


def _importers() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=_GROUP)}


def _options() -> dict[ImportOption, list[str]]:
    """Return the options that only some kinds have, each with the names of these kinds."""
    found: dict[ImportOption, list[str]] = {}
    for kind in KINDS.values():
        for option in kind.options:
            found.setdefault(option, []).append(kind.name)
    return found


def _wrong_option(arguments: Namespace) -> str | None:
    """Return what is wrong with an option that the kind does not have; None if none is given."""
    kind = KINDS.get(arguments.kind)
    own = {option.name for option in kind.options} if kind else set[str]()
    known = {option.name for one in KINDS.values() for option in one.options}
    for name in sorted(known - own) + ([] if kind else ["protocol", "as-version", "partial"]):
        if getattr(arguments, name.replace("-", "_")):
            return f"--{name} is not an option of import {arguments.kind}."
    return None


def _import(arguments: Namespace, kind: ImportKind) -> int:
    """Read all files, then write all documents, or none."""
    from kinwire_codegen.imports.writing import made_file, write_files

    files: list[MadeFile] = []
    losses = 0
    groups = [tuple(arguments.files)] if kind.joins_files else [(path,) for path in arguments.files]
    for paths in groups:
        imported = _read(arguments, kind, paths)
        made = made_file(imported.content, arguments.out or _OUT)
        findings = made.findings()
        if findings:
            return _refuse(paths[0], findings)
        _print_differences(imported)
        losses += imported.losses
        files.append(made)
    if losses and not arguments.partial:
        print(
            f"nothing was written: {count(losses, 'thing')} of the source would be lost; "
            "with --partial the document is written without them",
            file=sys.stderr,
        )
        return 1
    write_files(files)
    for made in files:
        content = made.content
        counted = ", ".join(
            (count(len(content["methods"]), "method"), count(len(content["$defs"]), "type"))
        )
        print(f"{made.target}  {content['version']}  {counted}")
    return 0


def _read(arguments: Namespace, kind: ImportKind, paths: tuple[Path, ...]) -> Imported:
    from kinwire_codegen.lint import RESERVED

    values = {
        option.name: getattr(arguments, option.name.replace("-", "_")) for option in kind.options
    }
    source = ImportSource(
        paths,
        frozenset(RESERVED),
        arguments.protocol,
        arguments.as_version,
        {name: value for name, value in values.items() if value is not None},
    )
    try:
        return kind.read(source)
    except MalformedSchemaError as error:
        raise UselessFileError(f"{error}.", "Fix the file.", source.path) from None
    except UselessFileError as error:
        raise UselessFileError(str(error), error.hint, error.path or source.path) from None
    except MALFORMED:  # third-party files may be malformed in any place
        what = f"it is not a well-formed file of the kind {kind.name}."
        hint = "Fix the file, or name another kind."
        raise UselessFileError(what, hint, source.path) from None


def _refuse(path: Path, findings: list[str]) -> int:
    """Print why no valid document can be made of a file; return the exit code."""
    for line in findings:
        print(line)
    print(
        f"{path}: the document made of it has {count(len(findings), 'finding')}, so nothing was "
        "written. The importer or the file is at fault.",
        file=sys.stderr,
    )
    return 1


def _print_differences(imported: Imported) -> None:
    lists = {  # losses come last, next to the result
        "folded": imported.folded,
        "without effect": imported.without_effect,
        "left out": imported.left_out,
        "widened": imported.widened,
    }
    for word, texts in lists.items():
        for text in texts:
            print(f"{word}: {text}", file=sys.stderr)
