"""The page of files for other tools: JSON Schema, OpenRPC and .proto of each protocol."""

from __future__ import annotations

__all__ = ("downloads",)

import json

from kinwire_codegen.docs.reference.blocks import Block, Heading, Page, TableBlock, Text
from kinwire_codegen.docs.reference.links import Links
from kinwire_codegen.exports.jsonschema import jsonschema_files
from kinwire_codegen.exports.openrpc import REST, openrpc_files
from kinwire_codegen.exports.proto import proto_files
from kinwire_codegen.load.document import Document

KINDS = {
    "document": ("Protocol document", "the source of everything here"),
    "json-schema": ("JSON Schema 2020-12", "the types and messages, and a table of methods"),
    "openrpc": ("OpenRPC 1.3", "the methods that one side answers"),
    "proto": ("Protocol Buffers", "the gRPC binding"),
}


def downloads(links: Links) -> tuple[Page, dict[str, str]]:
    """Return the page, and the files that it leads to."""
    summary = "The protocols as JSON Schema, OpenRPC and Protocol Buffers, for other tools."
    blocks: list[Block] = [Text(summary)]
    files: dict[str, str] = {}
    for document in links.chosen:
        found = _files(links, document)
        rows = []
        for path, text in found.items():
            what, why = KINDS[path.split("/")[0]]
            name = path.rpartition("/")[2]
            size = f"{max(len(text.encode()) // 1024, 1)} kB"
            rows.append((f"[{name}](../../exports/{path})", what, why, size))
        blocks += [Heading(document.content["title"], anchor=document.name)]
        blocks.append(TableBlock.of(("file", "format", "content", "size"), rows))
        files |= {f"exports/{path}": text for path, text in found.items()}
    return Page("exports/README", "Downloads", "reference", summary, None, tuple(blocks)), files


def _files(links: Links, document: Document) -> dict[str, str]:
    made = jsonschema_files(links.documents, document) | openrpc_files(links.documents, document)
    found = {f"document/{document.file}": _compact(document.content)}
    for path, written in made.items():
        content = json.loads(written)
        content.pop(REST, None)  # the document itself is next to it
        found[path] = _compact(content)
    return found | proto_files(document)


def _compact(value: object) -> str:
    """Return JSON without spaces: programs read these files."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False) + "\n"
