"""A protocol whose names, texts and params are hard for generators of TypeScript."""

from __future__ import annotations

__all__ = ("hard_documents",)

from typing import Any

from kinwire_codegen.load.document import Document, Documents
from kinwire_codegen.load.loading import load_documents
from tests.codegen.documents import protocol

_TEXT = {"type": "string"}
_NUMBER = {"type": "integer"}

_TYPES: dict[str, dict[str, Any]] = {
    "Strange": {
        "description": "Ends */ here, `@type` and @param too.\nA \\ and a second line.",
        "type": "object",
        "properties": {
            **dict.fromkeys(("a-b", 'quo"te', "ünï", "line\nbreak", "2fa", "class"), _TEXT),
            "__proto__": _NUMBER,
            "constructor": {"type": "boolean", "deprecated": True},
            "size": {"type": "integer", "minimum": 1, "default": 2, "x-acme": {"a": "*/"}},
        },
        "required": ["a-b", "__proto__"],
    },
    "Object": {"description": "Like a global.", "type": "object"},
    "Array": {
        "description": "Like a global.",
        "type": "array",
        "items": {"$ref": "#/$defs/String"},
    },
    "String": {"description": "Like a global.", "type": "string"},
    "Words": {"description": "An open set.", "anyOf": [{"enum": ["a", "b"]}, {"type": "string"}]},
    "Level": {
        "description": "Integers with names.",
        "enum": [1, 2],
        "enumValues": {
            "1": {"name": "LOW", "description": "Hardly."},
            "2": {"name": "HIGH", "deprecated": {"reason": "Too loud.", "replacement": "LOW"}},
        },
        "since": "1.1",
    },
    "Tree": {
        "description": "It holds itself.",
        "type": "object",
        "additionalProperties": {"anyOf": [{"$ref": "#/$defs/Tree"}, {"type": "null"}]},
    },
    "Source": {
        "description": "One of two fields.",
        "type": "object",
        "properties": {"data": _TEXT, "uri": _TEXT, "note": _TEXT},
        "anyOf": [{"required": ["data"]}, {"required": ["uri"]}],
    },
    "Range": {
        "description": "By position.",
        "type": "object",
        "properties": {"from": _NUMBER, "to": _NUMBER, "type": {"$ref": "#/$defs/Words"}},
        "required": ["from", "to"],
    },
    "Odd": {
        "description": "By position, with a name that is not an identifier.",
        "type": "object",
        "properties": {"a-b": {"type": ["integer", "null"]}, "in": _NUMBER},
        "required": ["a-b"],
    },
}

_ROW: dict[str, object] = {"kind": "request", "from": "client", "section": "1", "summary": "Ask."}
_METHODS: dict[str, dict[str, object]] = {
    "range/get": _ROW | {"params": "#/$defs/Range", "paramsBy": "position", "aliases": ["r"]},
    "odd": _ROW | {"params": "#/$defs/Odd", "paramsBy": "position"},
    "nothing": _ROW,
    "$/later": _ROW | {"status": "considered"},
}


def hard_documents() -> Documents:
    """Return the documents; `new`, a reserved word, is the name of the protocol."""
    ours = load_documents(None)
    methods = {
        wire: row | {"result": "jsonrpc.json#/$defs/RequestId"} for wire, row in _METHODS.items()
    }
    error: dict[str, object] = {
        "code": -32001,
        "message": 'No "such" \\ thing',
        "description": "It is */ gone.",
    }
    content = protocol(
        "new",
        types=_TYPES,
        methods=methods,
        errors={"NoSuchThing": error | {"data": "#/$defs/Strange"}},
        extends=["jsonrpc"],
    )
    return Documents({"jsonrpc": ours["jsonrpc"], "new": Document(content)}, ours.meta, ("new",))
