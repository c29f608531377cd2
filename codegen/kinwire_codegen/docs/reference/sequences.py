"""Sequences of messages as pictures and in words."""

from __future__ import annotations

__all__ = ("Arrow", "Messages", "row_drawing", "sequence_drawing", "sequence_table")

from collections.abc import Iterator
from typing import Literal, NamedTuple

from kinwire_codegen.docs.reference.blocks import Drawing, TableBlock
from kinwire_codegen.docs.reference.links import Links
from kinwire_codegen.docs.reference.parts import meaning
from kinwire_codegen.load.document import TOOLS_CALL, Document, resolve
from kinwire_codegen.load.sequences import Named, Step, steps_of


class Arrow(NamedTuple):
    """A message from one end to the other."""

    label: str
    to_server: bool
    kind: Literal["call", "back", "fail"]
    repeats: bool = False


class Messages(NamedTuple):
    """What a picture of messages shows."""

    words: str
    """All of it in a sentence."""
    ends: tuple[str, str]
    """What client and server are called."""
    arrows: tuple[Arrow, ...]


def row_drawing(named: Named) -> Drawing:
    """Return the picture of one message: what goes out and what comes back."""
    messages = Messages(_words_of(named), _ends(named.home), tuple(_arrows(named)))
    return Drawing("sequence", messages)


def _arrows(named: Named) -> Iterator[Arrow]:
    row, label, to_server = named.row, _sent_label(named), named.sender != "server"
    yield Arrow(label, to_server, "call")
    if named.sender == "both":
        yield Arrow(f"{label} (the other way round)", False, "call")
    if "result" in row:
        asked = " (if it was a request)" if row.get("kind") == "either" else ""
        yield Arrow(f"{_result(named)}{asked}", not to_server, "back")
    if row.get("errors") and row.get("kind") != "notification":
        yield Arrow("or an error", not to_server, "fail")


def _words_of(named: Named) -> str:
    ends, name = _ends(named.home), named.wire
    here, there = ends if named.sender != "server" else ends[::-1]
    either = named.sender == "both"
    words = f"either end sends {name}" if either else f"{here} sends {name} to {there}"
    return words + (f", which answers with {_result(named)}" if "result" in named.row else "")


def sequence_drawing(links: Links, document: Document, name: str) -> Drawing:
    """Return the picture of a sequence of the document."""
    steps = list(steps_of(document, links.documents, name))
    arrows = tuple(map(_arrow, steps))
    words = "; ".join(f"{document.content['roles'][step.sender]}: {_words(step)}" for step in steps)
    return Drawing("sequence", Messages(f"{name}: {words}", _ends(document), arrows))


def _arrow(step: Step) -> Arrow:
    kind: Literal["call", "back"] = "back" if step.answers else "call"
    return Arrow(_label(step), step.sender == "client", kind, "repeats" in step.content)


def _label(step: Step) -> str:
    return _result(step.named) if step.answers else _sent_label(step.named)


def _sent_label(named: Named) -> str:
    return f"{TOOLS_CALL} {named.wire}" if named.table == "tools" else named.wire


def _words(step: Step) -> str:
    answer = f"answer to {step.named.wire}, " if step.answers else ""
    return f"{answer}{_label(step)}{_often(step)}"


def _often(step: Step) -> str:
    return ", any number of times" if "repeats" in step.content else ""


def sequence_table(links: Links, document: Document, name: str) -> TableBlock:
    """Return the steps of a sequence in words."""
    return TableBlock.of(
        ("sent by", "message", "meaning"),
        (
            (
                document.content["roles"][step.sender],
                _message(links, step),
                meaning(step.content, "summary"),
            )
            for step in steps_of(document, links.documents, name)
        ),
    )


def _message(links: Links, step: Step) -> str:
    home, table, wire = step.named
    link = links.row(home.name, table, wire)
    if step.answers:
        return f"answer to {link}: {links.named(step.named.row['result'], home.name)}"
    return f"{link}{_often(step)}"


def _ends(document: Document) -> tuple[str, str]:
    roles = document.content["roles"]
    return roles["client"], roles["server"]


def _result(named: Named) -> str:
    return resolve(named.row["result"], named.home.name).name
