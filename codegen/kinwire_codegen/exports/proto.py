"""The gRPC binding of a protocol as a `.proto` file, with the numbers that the document gives."""

from __future__ import annotations

__all__ = ("proto_files",)

from collections.abc import Iterator
from textwrap import wrap
from typing import Any

from kinwire_codegen.emit.descriptor import STRUCT, uses_struct
from kinwire_codegen.emit.package import OWNED
from kinwire_codegen.load.document import Document


def proto_files(document: Document) -> dict[str, str]:
    """Return the file by its path; none if the document has no gRPC binding."""
    grpc = document.content.get("grpc")
    if grpc is None:
        return {}
    return {f"proto/{document.module}.proto": "\n".join(_lines(document, grpc)) + "\n"}


def _lines(document: Document, grpc: dict[str, Any]) -> Iterator[str]:
    content = document.content
    title = " ".join(f"{content['title']} {content['version']}".split())
    yield f"// {title}. Generated from {document.file} {OWNED}."
    yield "//"
    yield from _told(grpc, "")
    yield from ("", 'syntax = "proto3";', "", f"package {grpc['package']};")
    if uses_struct(grpc):
        yield from ("", f'import "{STRUCT}";')
    yield from ("", f"service {grpc['service']} {{")
    for name, rpc in grpc["rpcs"].items():
        yield from _rpc(name, rpc)
    yield "}"
    for name, message in grpc["messages"].items():
        yield ""
        yield from _told(message, "")
        yield f"message {name} {{"
        for field, node in message["fields"].items():
            yield from _told(node, "  ")
            many = "repeated " if node.get("repeated") else ""
            yield f"  {many}{node['type']} {field} = {node['number']};"
        yield "}"
    for name, enum in grpc.get("enums", {}).items():
        yield ""
        yield from _told(enum, "")
        yield f"enum {name} {{"
        for value, node in enum["values"].items():
            yield from _told(node, "  ")
            yield f"  {value} = {node['number']};"
        yield "}"


def _rpc(name: str, rpc: dict[str, Any]) -> Iterator[str]:
    yield from _told(rpc, "  ")
    stream = "stream " if rpc.get("stream") else ""
    line = f"rpc {name}({rpc['request']}) returns ({stream}{rpc['response']});"
    yield f"  // Considered: {line}" if rpc.get("status") == "considered" else f"  {line}"


def _told(node: dict[str, Any], indent: str) -> Iterator[str]:
    """Yield what the document says of an entry as comments."""
    said = [node["summary"]] if "summary" in node else []
    said += [f"Section {node['section']}."] if "section" in node else []
    said += [f"Decision: {node['x-decision']}"] if "x-decision" in node else []
    for line in wrap(" ".join(said), 90):
        yield f"{indent}// {line}"
