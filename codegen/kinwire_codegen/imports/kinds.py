"""The kinds of descriptions that `kinwire import` makes documents of.

To add a kind, write a function that reads an `ImportSource`, and add it to `KINDS`.
"""

from __future__ import annotations

__all__ = ("KINDS", "ImportKind", "ImportOption")

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from kinwire_codegen.imports.imported import Imported, ImportSource


class ImportOption(NamedTuple):
    """An option that only some kinds have: `--NAME VALUE`."""

    name: str
    help: str
    metavar: str | None = None
    choices: tuple[str, ...] | None = None
    """The values that it may have; None for any text."""


@dataclass(frozen=True, slots=True)
class ImportKind:
    """A kind of description."""

    name: str
    """The word after `kinwire import`."""
    files: str
    """What FILE is, for the help."""
    read: Callable[[ImportSource], Imported]
    """Returns the document; raises UselessFileError. It imports what it needs when it is called."""
    options: tuple[ImportOption, ...] = ()
    joins_files: bool = False
    """Whether all files make one document, instead of one each."""


def _mcp_schema(source: ImportSource) -> Imported:
    from kinwire_codegen.imports.mcp_schema import read_mcp_schema

    return read_mcp_schema(source)


def _openrpc(source: ImportSource) -> Imported:
    from kinwire_codegen.imports.openrpc import read_openrpc

    return read_openrpc(source)


def _json_schema(source: ImportSource) -> Imported:
    from kinwire_codegen.imports.json_schema import read_json_schema

    return read_json_schema(source)


def _lsp(source: ImportSource) -> Imported:
    from kinwire_codegen.imports.lsp import read_lsp

    return read_lsp(source)


def _cdp(source: ImportSource) -> Imported:
    from kinwire_codegen.imports.cdp import read_cdp

    return read_cdp(source)


_METHODS = ImportOption(
    "methods", "which definitions are methods: acp, a2a, dap, or a file with a table", "TABLE"
)
_ROOT = ImportOption(
    "root", "references may lead to files in it (default: the file's folder)", "DIR"
)
_PARAMS_BY = ImportOption(
    "params-by",
    "how params are sent if both are allowed (default: name)",
    choices=("name", "position"),
)

KINDS = {
    kind.name: kind
    for kind in (
        ImportKind("mcp-schema", "the schema.json of a version of MCP", _mcp_schema),
        ImportKind(
            "openrpc",
            "an OpenRPC document or a folder of its parts",
            _openrpc,
            (_ROOT, _PARAMS_BY),
        ),
        ImportKind("json-schema", "a JSON Schema of messages", _json_schema, (_METHODS,)),
        ImportKind("lsp", "a metaModel.json of LSP", _lsp),
        ImportKind("cdp", "the protocol files of Chrome DevTools", _cdp, joins_files=True),
    )
}
