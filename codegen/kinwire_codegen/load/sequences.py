"""Sequences of messages in a document: which row each step names, and who sends it."""

from __future__ import annotations

__all__ = ("Named", "Step", "named_row", "steps_of")

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from kinwire_codegen.load.document import Document, Documents

Role = Literal["client", "server"]
Node = dict[str, Any]


class Named(NamedTuple):
    """A row by its document, its table and its name on the wire."""

    home: Document
    table: str
    wire: str

    @property
    def row(self) -> Node:
        return self.home.table(self.table)[self.wire]

    @property
    def sender(self) -> Role | Literal["both"]:
        """Who sends it: a tool is called by the client."""
        sender: Role | Literal["both"] = self.row.get("from", "client")
        return sender


class Step(NamedTuple):
    """One message of a sequence."""

    named: Named
    sender: Role
    answers: bool
    """Whether it is the answer to the message."""
    content: Node
    """What the document says of it."""


def named_row(document: Document, documents: Documents, text: str) -> Named | None:
    """Return the row that `text` names: of `document`, or of one that it extends as `mcp#ping`."""
    protocol, _, wire = text.rpartition("#")
    for home in (document, *documents.extended(document)):
        for table in ("methods", "tools"):
            if home.name == (protocol or document.name) and wire in home.table(table):
                return Named(home, table, wire)
    return None


def steps_of(document: Document, documents: Documents, name: str) -> Iterator[Step]:
    """Yield the steps of a sequence; lint has seen that each names a row."""
    senders: dict[str, Role] = {}
    for content in document.table("sequences")[name]["steps"]:
        text, answers = content["message"], "answer" in content
        named = named_row(document, documents, text)
        if named is None:
            raise ValueError(f"lint lets no such message pass: {text}")
        if not answers:
            senders[text] = content.get("from", named.sender)
        asked = senders[text]
        sender: Role = ("server" if asked == "client" else "client") if answers else asked
        yield Step(named, sender, answers, content)
