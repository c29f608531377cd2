"""schema/README.md: its steps, done; and a document that extends what kinwire brings."""

from __future__ import annotations

import asyncio
import importlib
import json
import re
import shutil
from pathlib import Path
from typing import Any

from kinwire_codegen.lint import lint
from kinwire_codegen.load.loading import load_documents
from kinwire_protocols import mcp
from kinwire_protocols.jsonrpc import InvalidParamsError
from kinwire_protocols.peer import Method
from tests.codegen.documents import SCHEMA, documents, load_package, protocol

README = (SCHEMA / "README.md").read_text()


def blocks(language: str) -> list[str]:
    found = re.findall(rf"^( *)```{language}\n(.*?)^ *```$", README, flags=re.S | re.M)
    return [
        "\n".join(line.removeprefix(indent) for line in text.splitlines()) for indent, text in found
    ]


def test_the_steps_to_add_a_method_work(tmp_path: Path) -> None:
    definitions, rows = (json.loads(f"{{{text}}}") for text in blocks("json")[:2])
    schema = tmp_path / "schema"
    schema.mkdir()
    for name in ("meta.schema.json", "jsonrpc.json", "mcp.json"):
        shutil.copy(SCHEMA / name, schema)
    document = json.loads((schema / "mcp.json").read_text())
    document["$defs"] |= definitions
    document["methods"] |= rows
    (schema / "mcp.json").write_text(json.dumps(document))
    with load_package(load_documents(schema), tmp_path, "tried_protocols") as package:
        names: dict[str, Any] = {}
        (program,) = blocks("python")
        exec(program.replace("kinwire_protocols", package.__name__), names)
        wire = importlib.import_module(f"{package.__name__}.base")

        class Loopback:
            async def call(self, method: Any, params: Any) -> Any:
                sent = json.loads(json.dumps(wire.to_wire(params)))
                answer = await names["Echo"]().dispatch(method.name, sent)
                return method.decode_result(answer)

        assert asyncio.run(names["ask"](Loopback())).text == "hi"


def test_the_other_examples_together_are_a_document(tmp_path: Path) -> None:
    def text_of(*names: str) -> dict[str, Any]:
        members = {name: {"type": "string", "description": "Text."} for name in names}
        return {"description": "A type.", "type": "object", "properties": members}

    types = {
        "PinParams": text_of("id"),
        "PinResult": text_of("pinned"),
        "Pinned": {"description": "Ids.", "type": "array", "items": {"type": "string"}},
        "Priority": text_of("name", "color"),
        "NoteState": {"description": "States.", "type": "string", "enum": ["open", "gone"]},
        "Settings": text_of("folder"),
    }
    errors = {"NoSuchNote": {"code": 1, "message": "No such note", "description": "None."}}
    shown: dict[str, Any] = {}
    for text in blocks("json")[2:]:
        shown |= json.loads(f"{{{text}}}")
    types["Priority"]["properties"]["color"] = shown.pop("color")
    types["PinParams"]["properties"]["kind"] = {"$ref": "#/$defs/NoteKind"}
    included = {"$defs": {"NoteKind": shown.pop("NoteKind")}}, {"errors": errors}
    for name, part in zip(shown["include"], included, strict=True):
        (tmp_path / name).write_text(json.dumps(part), encoding="utf-8")
    content = protocol("notes", types, extends=["mcp"]) | shown
    found = documents(tmp_path, content)
    assert lint(found) == []
    out, shared = tmp_path / "out", "kinwire_protocols"
    with load_package(found, out, "notes_bindings", shared=shared) as package:
        notes = importlib.import_module(f"{package.__name__}.notes")
        assert notes.tables.PRIORITIES["low"].color == "grey"
        assert notes.NoteKindValues.PICTURE == 2
        assert notes.tables.NOTE_LIFE.after("open", "delete") == "gone"
        assert notes.tables.MAX_PINS == 10
        call = notes.augments.TOOLS_CALL_PARAMS_PINNED.write({"name": "a"}, ["7"])
        assert call == {"name": "a", "pinned": ["7"]}
        assert list(notes.ServerTools.rows) == ["notes_pin"]


def test_the_table_of_documents_is_complete() -> None:
    files = {path.name for path in SCHEMA.glob("*.json")}
    assert set(re.findall(r"^\| `([a-z.-]+\.json)` \|", README, flags=re.M)) == files


def test_a_document_may_extend_those_that_kinwire_brings(tmp_path: Path) -> None:
    tool = {"$ref": "mcp.json#/$defs/Tool", "description": "A tool of MCP."}
    params = {"description": "P.", "type": "object", "properties": {"tool": tool}}
    row = {"kind": "request", "from": "client", "section": "1", "summary": "Do."}
    row |= {"params": "#/$defs/ToyParams", "result": "mcp.json#/$defs/EmptyResult"}
    content = protocol(extends=["mcp"], methods={"toy/do": row}, types={"ToyParams": params})
    schema = tmp_path / "schema"
    schema.mkdir()
    with load_package(documents(schema, content), tmp_path, "toy_bindings") as package:
        toy = importlib.import_module(f"{package.__name__}.toy")
        own = importlib.import_module(f"{package.__name__}.mcp")
        sent = {"tool": {"name": "a", "inputSchema": {"type": "object"}}}
        assert isinstance(toy.methods.TOY_DO.decode_params(sent).tool, own.Tool)
        assert toy.methods.TOY_DO.result is own.EmptyResult


def test_a_document_that_extends_may_share_what_kinwire_brings(tmp_path: Path) -> None:
    tool = {"$ref": "mcp.json#/$defs/Tool", "description": "A tool of MCP."}
    params = {"description": "P.", "type": "object", "properties": {"tool": tool}}
    row: dict[str, Any] = {"kind": "request", "from": "client", "section": "1", "summary": "Do."}
    row |= {"params": "#/$defs/ToyParams", "result": "mcp.json#/$defs/EmptyResult"}
    row |= {"errors": ["jsonrpc#InvalidParams"]}
    content = protocol(extends=["mcp"], methods={"toy/do": row}, types={"ToyParams": params})
    schema = tmp_path / "schema"
    schema.mkdir()
    (schema / "toy.json").write_text(json.dumps(content))
    found = load_documents(schema)
    with load_package(found, tmp_path, "toy_bindings", shared="kinwire_protocols") as package:
        toy = importlib.import_module(f"{package.__name__}.toy")
        sent = {"tool": {"name": "a", "inputSchema": {"type": "object"}}}
        assert isinstance(toy.methods.TOY_DO, Method)
        assert isinstance(toy.methods.TOY_DO.decode_params(sent).tool, mcp.Tool)
        assert toy.methods.TOY_DO.errors == (InvalidParamsError,)
        made = {path.name for path in (tmp_path / "toy_bindings").iterdir()} - {"__pycache__"}
        assert made == {"__init__.py", "py.typed", "schema.json", "toy"}
