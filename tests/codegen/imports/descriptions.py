"""Small OpenRPC descriptions, and what lint says of imported documents."""

from __future__ import annotations

__all__ = ("findings", "rpc")

from typing import Any

from kinwire_codegen.lint import lint
from kinwire_codegen.load.document import Document, Documents
from kinwire_codegen.load.loading import load_documents


def findings(content: dict[str, Any]) -> list[str]:
    """Return what is wrong with a document that extends nothing but JSON-RPC."""
    ours = load_documents(None)
    own = {"jsonrpc": ours["jsonrpc"], content["protocol"]: Document(content)}
    return [str(one) for one in lint(Documents(own, ours.meta, (content["protocol"],)))]


def rpc(schema: Any, **more: Any) -> dict[str, Any]:
    """Return a description with one method, whose param `b` has that schema."""
    return {"methods": [{"name": "ask", "params": [{"name": "b", "schema": schema}], **more}]}
