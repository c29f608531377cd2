"""The parts of a metaModel of LSP, as functions."""

from __future__ import annotations

__all__ = ("base", "one_of", "prop", "structure", "to")

from typing import Any


def base(name: str) -> dict[str, Any]:
    return {"kind": "base", "name": name}


def to(name: str) -> dict[str, Any]:
    return {"kind": "reference", "name": name}


def one_of(*items: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "or", "items": list(items)}


def structure(name: str, *properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": name, "properties": list(properties), **more}


def prop(name: str, type_: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": name, "type": type_, **more}
