"""What docs/language-server.md uses of the metaModel of LSP 3.17, written for its test."""

from __future__ import annotations

__all__ = ("META_MODEL",)

from typing import Any

from tests.codegen.imports.meta_model import base, one_of, prop, structure, to

_URI, _TEXT, _NUMBER, _NULL = base("DocumentUri"), base("string"), base("uinteger"), base("null")


def _request(method: str, params: str | None, result: dict[str, Any]) -> dict[str, Any]:
    given = {} if params is None else {"params": to(params)}
    return {"method": method, "messageDirection": "clientToServer", "result": result, **given}


def _notification(method: str, params: str | None, sender: str = "client") -> dict[str, Any]:
    direction = "clientToServer" if sender == "client" else "serverToClient"
    given = {} if params is None else {"params": to(params)}
    return {"method": method, "messageDirection": direction, **given}


META_MODEL: dict[str, Any] = {
    "metaData": {"version": "3.17.0"},
    "requests": [
        _request("initialize", "InitializeParams", to("InitializeResult")),
        _request("shutdown", None, _NULL),
        _request("textDocument/hover", "HoverParams", one_of(to("Hover"), _NULL)),
    ],
    "notifications": [
        _notification("initialized", "InitializedParams"),
        _notification("exit", None),
        _notification("textDocument/didOpen", "DidOpenTextDocumentParams"),
        _notification("textDocument/publishDiagnostics", "PublishDiagnosticsParams", "server"),
    ],
    "structures": [
        structure(
            "InitializeParams",
            prop("processId", one_of(base("integer"), _NULL)),
            prop("rootUri", one_of(_URI, _NULL)),
            prop("capabilities", to("ClientCapabilities")),
        ),
        structure("ClientCapabilities", prop("experimental", to("LSPAny"), optional=True)),
        structure("InitializeResult", prop("capabilities", to("ServerCapabilities"))),
        structure("ServerCapabilities", prop("hoverProvider", to("LSPAny"), optional=True)),
        structure("InitializedParams"),
        structure("DidOpenTextDocumentParams", prop("textDocument", to("TextDocumentItem"))),
        structure(
            "TextDocumentItem",
            prop("uri", _URI),
            prop("languageId", _TEXT),
            prop("version", base("integer")),
            prop("text", _TEXT),
        ),
        structure("TextDocumentIdentifier", prop("uri", _URI)),
        structure("Position", prop("line", _NUMBER), prop("character", _NUMBER)),
        structure("Range", prop("start", to("Position")), prop("end", to("Position"))),
        structure(
            "HoverParams",
            prop("textDocument", to("TextDocumentIdentifier")),
            prop("position", to("Position")),
        ),
        structure("Hover", prop("contents", one_of(to("MarkupContent"), _TEXT))),
        structure("MarkupContent", prop("kind", to("MarkupKind")), prop("value", _TEXT)),
        structure("Diagnostic", prop("range", to("Range")), prop("message", _TEXT)),
        structure(
            "PublishDiagnosticsParams",
            prop("uri", _URI),
            prop("diagnostics", {"kind": "array", "element": to("Diagnostic")}),
        ),
    ],
    "enumerations": [
        {
            "name": "MarkupKind",
            "type": _TEXT,
            "values": [
                {"name": "PlainText", "value": "plaintext"},
                {"name": "Markdown", "value": "markdown"},
            ],
        }
    ],
    "typeAliases": [{"name": "LSPAny", "type": one_of(_TEXT, base("boolean"))}],
}
