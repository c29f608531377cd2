"""What a document says of its entries, as TSDoc comments."""

from __future__ import annotations

__all__ = ("comment", "header")

import json
import re
from collections.abc import Iterator
from textwrap import wrap
from typing import Any

from kinwire_codegen.emit.package import OWNED
from kinwire_codegen.load.bounds import BOUNDS
from kinwire_codegen.load.document import Document
from kinwire_codegen.load.notes import deprecation, vendor_entries

_WIDTH = 96
_TAG = re.compile(r"(?<![\w`\\@])@(?=[A-Za-z])")


def header(document: Document, what: str) -> str:
    """Return the first lines of a generated file."""
    content = document.content
    title = " ".join(f"{content['title']} {content['version']}".split())
    lines = [f"{what} of {title}.", f"Generated from {document.file} {OWNED}."]
    lines += [f"{key}: {_json(value)}" for key, value in vendor_entries(content).items()]
    return "".join(f"// {' '.join(line.splitlines())}\n" for line in lines)


def comment(node: dict[str, Any], indent: str = "", *, text: str | None = None) -> str:
    """Return the comment of an entry, with its line end; empty if the document says nothing.

    `text` replaces the description.
    """
    lines = [
        line
        for paragraph in _paragraphs(node, node.get("description") if text is None else text)
        for line in wrap(_escaped(paragraph), _WIDTH - len(indent), break_on_hyphens=False)
    ]
    if not lines:
        return ""
    if len(lines) == 1:
        return f"{indent}/** {lines[0]} */\n"
    inner = "".join(f"{indent} * {line}\n" for line in lines)
    return f"{indent}/**\n{inner}{indent} */\n"


def _paragraphs(node: dict[str, Any], text: str | None) -> Iterator[str]:
    if text:
        yield text
    said = [f"{key} {_json(node[key])}" for key in (*BOUNDS, "format") if key in node]
    if said:
        yield f"Constraints: {', '.join(said)}."
    for key, value in vendor_entries(node).items():
        yield f"{key}: {_json(value)}"
    if "default" in node:
        yield f"\0defaultValue `{_json(node['default'])}`"
    if "since" in node:
        yield f"\0since {node['since']}"
    why = deprecation(node)
    if why is not None:
        yield f"\0deprecated {why.removeprefix('Deprecated').lstrip(' :.')}".strip()


def _escaped(text: str) -> str:
    """Return text that neither ends the comment nor begins a tag; `\\0` begins a tag of ours."""
    safe = _TAG.sub(r"\\@", " ".join(text.split())).replace("*/", "*\\/")
    return safe.replace("\0", "@")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
