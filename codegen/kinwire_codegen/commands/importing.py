"""`kinwire import`: documents made of what other projects describe their protocols with.

Other packages add kinds of files by the entry-point group `kinwire.importers`: an entry is a class
with a `summary` and `run(files, out)`, which returns the exit code.
"""

from __future__ import annotations

__all__ = ("ImportCommand",)

import json
import re
import sys
from argparse import ArgumentParser, Namespace
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from kinwire_codegen.commands.common import count, refuse, usage
from kinwire_codegen.load.parsing import TooDeepError, parse

if TYPE_CHECKING:
    from kinwire_codegen.imports.drafts import Imported

_GROUP = "kinwire.importers"
_DOCUMENTS = ("mcp-schema", "openrpc")
_OUT = Path("imported")
_VERSION = re.compile(r"\d{4}-\d\d-\d\d|draft")
MALFORMED = (AttributeError, LookupError, TypeError, ValueError, RecursionError)
_PROTOCOL = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


class ImportCommand:
    """Writes a checked document for each FILE, and reports what it cannot represent."""

    name = "import"
    summary = "read an official MCP schema, OpenRPC, or the configuration of another client"
    group = "protocols and generation"
    exit_codes: ClassVar[dict[int, str]] = {1: "a document has problems"}
    examples = (
        "kinwire import mcp-schema 2025-06-18.json",
        "kinwire import openrpc petstore.json --protocol pets --as-version 1.0",
        "kinwire import config claude_desktop_config.json",
    )

    @staticmethod
    def configure(parser: ArgumentParser) -> None:
        """Add the subcommand's arguments."""
        kinds = (*_DOCUMENTS, *sorted(_importers()))
        parser.add_argument("kind", choices=kinds, help="what the files are")
        text = "the schema.json of a version of MCP, an OpenRPC document, or JSON with mcpServers"
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help=text)
        text = (
            "folder of documents, which go to OUT/VERSION (default: ./imported); "
            "config: a file (default: ./mgp.toml)"
        )
        parser.add_argument("--out", type=Path, metavar="PATH", help=text)
        text = "name of the protocol (default: mcp, or the title of the OpenRPC document)"
        parser.add_argument("--protocol", metavar="NAME", help=text)
        text = "its version (default: what the file or its path says)"
        parser.add_argument("--as-version", metavar="VERSION", help=text)

    @staticmethod
    def run(arguments: Namespace) -> int:
        """Return 0 if all was written, 1 if a document has findings, 2 if a file cannot be read."""
        from kinwire_codegen.load.findings import DocumentError

        if arguments.kind not in _DOCUMENTS:
            return _other(arguments)
        if arguments.protocol is not None and not _PROTOCOL.fullmatch(arguments.protocol):
            name = arguments.protocol
            return usage(
                f"{name!r} is not a valid protocol name.", "Use lower case, digits and dashes."
            )
        try:
            for path in arguments.files:
                _one(arguments, path)
        except UselessFileError as error:
            return usage(str(error), error.hint)
        except DocumentError as error:
            return refuse(error)
        except OSError as error:
            return usage(f"{error.filename}: {error.strerror}.", "Choose another --out.")
        return 0


def _importers() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=_GROUP)}


def _other(arguments: Namespace) -> int:
    """Import files that do not become documents."""
    for option in ("protocol", "as_version"):
        if getattr(arguments, option) is not None:
            text = f"--{option.replace('_', '-')} is not an option of import {arguments.kind}."
            return usage(text, "Leave it out.")
    importer = _importers()[arguments.kind].load()
    return int(importer.run(arguments.files, arguments.out))


class UselessFileError(Exception):
    """A file cannot be imported; `hint` says what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


def _one(arguments: Namespace, path: Path) -> None:
    from kinwire_codegen.lint import lint
    from kinwire_codegen.load.findings import DocumentError
    from kinwire_codegen.load.loading import META, load_documents

    imported = _imported(arguments, path)
    content = imported.content
    version = re.sub(r"[^\w.-]", "-", content["version"]).lstrip(".")
    folder = (arguments.out or _OUT) / (version or "version")
    target = folder / f"{content['protocol']}.json"
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    if target.exists() and target.read_text(encoding="utf-8") != text:
        raise UselessFileError(f"{target} exists already.", "Choose another folder with --out.")
    folder.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")
    meta = json.dumps(load_documents(None).meta, indent=2, ensure_ascii=False) + "\n"
    (folder / META).write_text(meta, encoding="utf-8")
    findings = lint(load_documents(folder))
    if findings:
        raise DocumentError(findings, folder)
    methods, types = count(len(content["methods"]), "method"), count(len(content["$defs"]), "type")
    print(f"{target}  {content['version']}  {methods}, {types}")
    if imported.left_out:
        print(f"left out: {'; '.join(imported.left_out)}", file=sys.stderr)


def _imported(arguments: Namespace, path: Path) -> Imported:
    from kinwire_codegen.imports.mcp_schema import NotMcpSchemaError, mcp_document
    from kinwire_codegen.imports.openrpc import NotOpenRpcError, openrpc_document
    from kinwire_codegen.lint import RESERVED

    content, taken = _read(path), frozenset(RESERVED)
    try:
        if arguments.kind == "openrpc":
            return openrpc_document(
                content, protocol=arguments.protocol, version=arguments.as_version, taken=taken
            )
        version = arguments.as_version or _version(path)
        protocol = arguments.protocol or "mcp"
        document = mcp_document(content, protocol=protocol, version=version or "", taken=taken)
    except (NotMcpSchemaError, NotOpenRpcError) as error:
        raise UselessFileError(f"{path}: {error}.", "Name another file or another kind.") from None
    except MALFORMED as error:  # third-party files may be malformed at any place
        what = f"it is not a well-formed file of that kind: {error!r}"
        raise UselessFileError(f"{path}: {what}.", "Fix the file.") from None
    if version is None:  # asked for last: the file may be of another kind
        what = "its version is unknown"
        raise UselessFileError(f"{path}: {what}.", "Pass --as-version.")
    return document


def _read(path: Path) -> Any:
    try:
        return parse(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UselessFileError(f"{path}: {error.strerror}.", "Correct the path.") from None
    except TooDeepError as error:
        raise UselessFileError(f"{path}: {error}.", error.hint) from None
    except ValueError as error:
        raise UselessFileError(f"{path}: it is not valid JSON: {error}.", "Fix the file.") from None


def _version(path: Path) -> str | None:
    """Return the version that a path names, None if it names none."""
    for part in (path.stem, *reversed(path.resolve().parent.parts)):
        if _VERSION.fullmatch(part):
            return part
    return None
