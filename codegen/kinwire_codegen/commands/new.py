"""`kinwire new protocol NAME`: a document to start from."""

from __future__ import annotations

__all__ = ("NewCommand",)

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import ClassVar

from kinwire_codegen.commands.common import refuse, refuse_protocol_name, usage


class NewCommand:
    """Writes a small document that can be linted and generated immediately."""

    name = "new"
    summary = "start a protocol document of your own"
    group = "protocols and generation"
    exit_codes: ClassVar[dict[int, str]] = {}
    examples = (
        "kinwire new protocol notes",
        "kinwire new protocol notes --out protocols/notes",
    )

    @staticmethod
    def configure(parser: ArgumentParser) -> None:
        """Add the subcommand's arguments."""
        parser.add_argument("what", choices=["protocol"], help="what to start")
        parser.add_argument("protocol", metavar="NAME", help="its name: lower case, digits, dashes")
        text = "folder for it (default: ./NAME)"
        parser.add_argument("--out", type=Path, metavar="DIR", help=text)

    @staticmethod
    def run(arguments: Namespace) -> int:
        """Return 0 if the document was written, 2 if it cannot be."""
        from kinwire_codegen.atomic_files import write_file
        from kinwire_codegen.load.canonical import document_text, meta_schema_text
        from kinwire_codegen.load.findings import DocumentError
        from kinwire_codegen.load.loading import META, load_documents

        name = arguments.protocol
        if code := refuse_protocol_name(name):
            return code
        root = arguments.out or Path(name)
        schema = root / "schema"
        if schema.exists():
            return usage(f"{schema} exists already.", "Choose another folder with --out.")
        try:
            meta = load_documents(None).meta
        except DocumentError as error:
            return refuse(error)
        try:
            schema.mkdir(parents=True)
            write_file(schema / f"{name}.json", document_text(_starter(name), meta))
            write_file(schema / META, meta_schema_text(meta))
        except OSError as error:
            return usage(f"{schema}: {error.strerror}.", "Choose another folder with --out.")
        package = name.replace("-", "_") + "_bindings"
        command = f"kinwire generate --schema {schema} --out {root} --package {package}"
        print(f"wrote {schema / f'{name}.json'} and {schema / META}")
        print(f"next: {command}", file=sys.stderr)
        return 0


def _starter(name: str) -> dict[str, object]:
    def text(description: str) -> dict[str, str]:
        return {"type": "string", "description": description}

    return {
        "$schema": "meta.schema.json",
        "protocol": name,
        "title": name.replace("-", " ").title(),
        "version": "0.1",
        "description": "Say in a sentence what the protocol is for.",
        "roles": {"client": "client", "server": "server"},
        "methods": {
            "notes/add": {
                "kind": "request",
                "from": "client",
                "section": "1",
                "summary": "Keep a note.",
                "params": "#/$defs/AddNoteParams",
                "result": "#/$defs/AddNoteResult",
                "errors": ["NotebookFull"],
            },
            "notes/added": {
                "kind": "notification",
                "from": "server",
                "section": "1",
                "summary": "Tell that there is a new note.",
                "params": "#/$defs/NoteAddedParams",
            },
        },
        "errors": {
            "NotebookFull": {
                "code": 1001,
                "message": "The notebook is full",
                "description": "No note can be kept until one is removed.",
            }
        },
        "$defs": {
            "AddNoteParams": {
                "description": "The note to keep.",
                "type": "object",
                "properties": {
                    "text": text("What the note says."),
                    "tags": {
                        "description": "Words to find it by.",
                        "type": "array",
                        "items": {"type": "string"},
                    },
                },
                "required": ["text"],
                "examples": [{"text": "Buy tea", "tags": ["shopping"]}],
            },
            "AddNoteResult": {
                "description": "The note that was kept.",
                "type": "object",
                "properties": {"noteId": text("How to name the note later.")},
                "required": ["noteId"],
                "examples": [{"noteId": "n1"}],
            },
            "NoteAddedParams": {
                "description": "The new note.",
                "type": "object",
                "properties": {"noteId": text("Its name."), "text": text("What it says.")},
                "required": ["noteId", "text"],
                "examples": [{"noteId": "n1", "text": "Buy tea"}],
            },
        },
    }
