"""A JSON Schema and a table of methods as a document: ACP, A2A, DAP, and others."""

from __future__ import annotations

__all__ = ("read_json_schema", "schema_document")

import re
from pathlib import Path
from typing import Any

from kinwire_codegen.imports.assembling import ProtocolDraft, assembled
from kinwire_codegen.imports.dialects import normalised
from kinwire_codegen.imports.drafts import DraftTypes, definitions_of
from kinwire_codegen.imports.imported import Imported, ImportSource, UselessFileError
from kinwire_codegen.imports.method_table import MethodTable, TableError, table_names, table_of
from kinwire_codegen.imports.reading import read_json
from kinwire_codegen.load.names import class_name

Node = dict[str, Any]

_VERSION = re.compile(r"v?\d[\w.-]*")


def read_json_schema(source: ImportSource) -> Imported:
    """Return the document of a JSON Schema; the option `methods` is a table or its name.

    Raises:
        UselessFileError: there are no definitions, no table, or one that does not fit.
    """
    content = read_json(source.path)
    if "methods" not in source.options:
        text = "a JSON Schema does not say which methods there are."
        known = ", ".join(table_names())
        raise UselessFileError(text, f"Pass --methods with a table: {known}, or a file.")
    table = table_of(source.options["methods"])
    version = source.version or _version(source.path)
    if version is None:
        raise UselessFileError("its version is unknown.", "Pass --as-version.")
    return schema_document(content, table, source, version)


def schema_document(content: Any, table: Node, source: ImportSource, version: str) -> Imported:
    """Return the document of a schema; `source` has what the user chose.

    Raises:
        TableError: the table does not fit the schema.
    """
    definitions = definitions_of(content)
    if not definitions:
        raise TableError("the schema has no definitions under $defs or definitions.")
    applied = MethodTable(table, definitions)
    methods, errors = applied.methods(), applied.errors()
    if not methods:
        raise TableError("the table finds no method in it.")
    title = table.get("title") or str(content.get("title") or "Imported")
    for method in methods.values():
        method.parts = {name: normalised(one) for name, one in method.parts.items()}
    draft = ProtocolDraft(
        name=source.protocol or table.get("protocol", "imported"),
        title=title,
        version=version,
        description=str(
            content.get("description") or f"{title} {version}, imported from its JSON Schema."
        ),
        roles=table.get("roles", {"client": "client", "server": "server"}),
        extra={key: value for key, value in table.items() if key.startswith("x-")},
        methods=methods,
        errors=errors,
        records=applied.records(),
        left_out=applied.left_out,
        became=applied.consumed,
        keeps_unused=True,
    )
    markers = applied.markers()
    types = {name: _plain(one, markers) for name, one in definitions.items()}
    taken = source.taken | {class_name(name) for name in errors}
    return assembled(draft, DraftTypes(types, taken))


def _plain(definition: Any, markers: set[str]) -> Any:
    """Return a definition without the keywords that became rows."""
    found = normalised(definition)
    if isinstance(found, dict):
        return {key: value for key, value in found.items() if key not in markers}
    return found


def _version(path: Path) -> str | None:
    """Return the version that the folder of a schema is named after, or None."""
    name = path.resolve().parent.name
    return name if _VERSION.fullmatch(name) else None
