"""The metaModel of the Language Server Protocol as a document.

<https://github.com/microsoft/language-server-protocol> has it as `metaModel.json` for each version.
Its types become JSON Schema first (`lsp_types.py`). Documents give the data of an error by its
code. The metaModel gives it by the method, so it is left out.
"""

from __future__ import annotations

__all__ = ("lsp_document", "read_lsp")

import re
from collections.abc import Iterator
from typing import Any

from kinwire_codegen.imports.assembling import PARTS, MethodDraft, ProtocolDraft, assembled
from kinwire_codegen.imports.drafts import DraftTypes
from kinwire_codegen.imports.imported import Imported, ImportSource, UselessFileError
from kinwire_codegen.imports.lsp_types import LspTypes, availability
from kinwire_codegen.imports.names import without_links
from kinwire_codegen.imports.reading import check_names, entry, read_json

Node = dict[str, Any]

_SENDERS = {"clientToServer": "client", "serverToClient": "server", "both": "both"}
_LISTS = ("requests", "notifications", "structures", "enumerations", "typeAliases")
_ERRORS = "ErrorCodes"
_NULL = "NullResult"


def read_lsp(source: ImportSource) -> Imported:
    """Return the document of a metaModel.

    Raises:
        UselessFileError: it is not a metaModel.
    """
    content = read_json(source.path)
    missing = [name for name in _LISTS if not isinstance(_field(content, name), list)]
    if missing:
        text = f"it is not a metaModel of LSP: it has no list {missing[0]!r}."
        raise UselessFileError(text, "Name a metaModel.json.")
    for name in _LISTS:
        key = "method" if name in ("requests", "notifications") else "name"
        check_names(content[name], key, name, source.path)
    return lsp_document(content, source)


def lsp_document(model: Node, source: ImportSource) -> Imported:
    """Return the document of a metaModel; `source` has what the user chose."""
    version = source.version or str(model.get("metaData", {}).get("version") or "3")
    reader = LspTypes(model)
    codes = [one for one in model["enumerations"] if one["name"].endswith(_ERRORS)]
    draft = ProtocolDraft(
        name=source.protocol or "lsp",
        title="Language Server Protocol",
        version=version,
        description=f"LSP {version}, imported from its metaModel.",
        roles={"client": "client", "server": "server"},
        methods={name: _method(name, row, reader) for name, row in _rows(model)},
        errors=dict(_errors(codes)),
        left_out=[
            f"{row['method']} errorData: the metaModel does not say for which code"
            for row in model["requests"]
            if "errorData" in row
        ],
        folded=reader.folded,
        became=reader.became | {one["name"]: "errors" for one in codes},
        keeps_unused=True,
    )
    null = {"description": "Of a request that returns nothing.", "type": "null"}
    return assembled(draft, DraftTypes({**reader.definitions, _NULL: null}, source.taken))


def _field(content: Any, name: str) -> Any:
    return content.get(name) if isinstance(content, dict) else None


def _rows(model: Node) -> Iterator[tuple[str, Node]]:
    for kind in ("request", "notification"):
        for row in model[f"{kind}s"]:
            yield row["method"], {**row, "kind": kind}


def _method(wire: str, row: Node, reader: LspTypes) -> MethodDraft:
    with entry(f"the {row['kind']} {wire!r}"):
        return _draft(wire, row, reader)


def _draft(wire: str, row: Node, reader: LspTypes) -> MethodDraft:
    more = availability(row)
    if row.get("registrationMethod", wire) != wire:
        more["registrationMethod"] = row["registrationMethod"]
    for side in ("client", "server"):
        if f"{side}Capability" in row:
            more[f"x-lsp-{side}-capability"] = row[f"{side}Capability"]
    found = {part: reader.type_of(row[part]) for part in PARTS if part in row}
    if found.get("params") == {}:  # LSPAny, of which JSON-RPC takes these two
        found["params"] = {"anyOf": [{"type": "object"}, {"type": "array"}]}
    if found.get("result") == {"type": "null"}:
        found["result"] = {"$ref": f"#/$defs/{_NULL}"}
    return MethodDraft(
        row["kind"],
        _SENDERS[row["messageDirection"]],
        f"metaModel.json, {wire}",
        without_links(row.get("documentation", "")),
        found,
        more,
    )


def _errors(codes: list[Node]) -> Iterator[tuple[str, Node]]:
    for one in codes:
        for value in one["values"]:
            words = re.findall(r"[A-Z][a-z]*", value["name"])
            message = " ".join(words).capitalize() or value["name"]
            error = {"code": value["value"], "message": message}
            error["description"] = without_links(value.get("documentation", "")) or f"{message}."
            yield value["name"], error | availability(value)
