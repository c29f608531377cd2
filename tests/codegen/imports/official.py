"""The official schemas of MCP, the documents that are imported of them, and types made of those."""

from __future__ import annotations

__all__ = ("FOLDER", "VERSIONS", "Bindings", "bindings", "document", "official", "sampled")

import importlib.util
import json
import sys
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import TypeAdapter

from kinwire_codegen.emit.models import make_models
from kinwire_codegen.emit.package import Package
from kinwire_codegen.imports.imported import ImportSource
from kinwire_codegen.imports.mcp_schema import mcp_document
from kinwire_codegen.lint import RESERVED
from kinwire_codegen.load.document import Document, Documents
from kinwire_codegen.load.loading import load_documents
from kinwire_protocols.base import Message, from_wire, to_wire
from tests.absent import SHARED, shared

Node = dict[str, Any]

FOLDER = SHARED / "corpora" / "mcp-schema"
VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")


@cache
def official(version: str) -> Node:
    """Return the official schema. Without it tests are skipped, except in CI, where they fail."""
    text = shared(f"corpora/mcp-schema/{version}.json").read_text(encoding="utf-8")
    found: Node = json.loads(text)
    return found


@cache
def document(version: str) -> Documents:
    """Return the imported document, together with jsonrpc."""
    source = ImportSource((FOLDER / f"{version}.json",), frozenset(RESERVED))
    imported = mcp_document(official(version), source)
    ours = load_documents(None)
    own = {"jsonrpc": ours["jsonrpc"], "mcp": Document(imported.content)}
    return Documents(own, ours.meta, ("mcp",))


@dataclass(frozen=True)
class Bindings:
    """The types that are made of an imported document, and how official names lead to them."""

    module: ModuleType
    content: Node

    def target(self, name: str) -> str | None:
        """Return the type that stands for an official definition, None if none does.

        An answer, or params, that are a union stand as one merged object.
        """
        types = self.content["$defs"]
        if name in types:
            return name
        merged = MERGED.get(name, f"{name.removesuffix('Result')}Answer")
        return merged if merged in types and name.endswith(("Result", "FormParams")) else None

    def row(self, name: str) -> tuple[str, Node] | None:
        """Return the row that an official request or notification has become."""
        rows = self.content["methods"].items()
        return next(((w, r) for w, r in rows if r["section"] == f"schema.json, {name}"), None)

    def round_trip(self, name: str, value: Any) -> Any:
        """Return `value` as it goes out again after it came in as that type.

        Raises:
            pydantic.ValidationError: it does not fit.
        """
        kind = getattr(self.module, name)
        if isinstance(kind, type) and issubclass(kind, Message):
            return to_wire(from_wire(kind, value))
        adapter: TypeAdapter[Any] = TypeAdapter(kind)
        found = adapter.validate_python(value, strict=True, by_alias=True, by_name=False)
        return adapter.dump_python(found, by_alias=True)


MERGED = {
    "CreateTaskResult": "CallToolAnswer",
    "InputRequiredResult": "CallToolAnswer",
    "ElicitRequestFormParams": "ElicitRequestParams",
}


@cache
def bindings(version: str) -> Bindings:
    """Return the types of a version; only they are made, which takes a fraction of a package."""
    documents = document(version)
    name = f"imported_{version.replace('-', '_')}"
    package = Package(name, "kinwire_protocols", frozenset({"mcp"}))
    sources = {**make_models(documents, package)["mcp"].sources}
    whole: Any = _module(name, sources.pop("mcp/models.py", ""))
    # What several modules use comes first.
    for path in sorted(sources, key=lambda path: path != "mcp/models/common.py"):
        part = _module(f"{name}.{Path(path).stem}", sources[path])
        vars(whole).update({key: kept for key, kept in vars(part).items() if key[0].isupper()})
    return Bindings(whole, documents["mcp"].content)


def _module(name: str, source: str) -> Any:
    spec = importlib.util.spec_from_loader(name, loader=None)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # pydantic looks for names of annotations there
    exec(compile(source, f"<{name}>", "exec"), module.__dict__)
    return module


def sampled(version: str) -> Node:
    """Return the official schema as the sampler takes it: one dialect, objects without `allOf`.

    JSON values are any value: the official schema leaves fractions and null out of them.
    """
    schema = deepcopy(official(version))
    definitions: Node = schema.get("$defs") or schema["definitions"]
    anything = {
        "JSONValue": {},
        "JSONObject": {"type": "object", "additionalProperties": {}},
        "JSONArray": {"type": "array", "items": {}},
    }
    definitions |= {name: node for name, node in anything.items() if name in definitions}
    text = json.dumps(definitions).replace("#/$defs/", "#/definitions/")
    definitions = json.loads(text)
    return {"definitions": {n: _plain(definitions, node) for n, node in definitions.items()}}


def _plain(definitions: Node, node: Any, *, named: bool = False) -> Any:
    if isinstance(node, list):
        return [_plain(definitions, inner) for inner in node]
    if not isinstance(node, dict):
        return node
    found = {
        key: _plain(definitions, value, named=key == "properties" and not named)
        for key, value in node.items()
        if named or key not in ("allOf", "maxItems")
    }
    if named:
        return found
    for branch in node.get("allOf", ()):
        whole = definitions[branch["$ref"].rpartition("/")[2]] if "$ref" in branch else branch
        part = _plain(definitions, whole)
        found["type"] = "object"
        found["properties"] = found.get("properties", {}) | part.get("properties", {})
        found["required"] = [*found.get("required", ()), *part.get("required", ())]
    return found
