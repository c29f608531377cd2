"""What pages are made of, before it is known whether they become Markdown or HTML.

Texts are inline Markdown: code, emphasis and links. Links are for pages two folders down.
"""

from __future__ import annotations

__all__ = (
    "Badges",
    "Block",
    "Cell",
    "Code",
    "Decision",
    "Described",
    "Drawing",
    "Examples",
    "Heading",
    "Items",
    "Page",
    "Prose",
    "Tab",
    "TableBlock",
    "TableRow",
    "Text",
)

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from kinwire_codegen.document import Document


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading below the page's title."""

    text: str
    level: int = 2
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True, slots=True)
class Badges:
    """The few words that say what the page is about: kind, sender, section."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Decision:
    """What the document has decided of what the specification leaves open."""

    text: str


class Described(NamedTuple):
    """A text in a table, and what was decided of the entry that it is about."""

    text: str
    decision: str = ""


Cell = str | Described


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table."""

    cells: tuple[Cell, ...]
    anchor: str = ""
    column: int = 0
    """Which cell has the anchor, where only a cell can have one."""


@dataclass(frozen=True, slots=True)
class TableBlock:
    """A table with a row of headings."""

    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    members: bool = False
    """Whether the rows are members of a type: what they are called, type, required, meaning."""

    @classmethod
    def of(cls, columns: Iterable[str], rows: Iterable[Iterable[Cell] | TableRow]) -> TableBlock:
        """Return a table of rows, or of their cells where they have no anchor."""
        made = (row if isinstance(row, TableRow) else TableRow(tuple(row)) for row in rows)
        return cls(tuple(columns), tuple(made))


@dataclass(frozen=True, slots=True)
class Items:
    """A list of short texts."""

    items: tuple[str, ...]
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class Code:
    """A block of code."""

    language: str
    text: str


class Tab(NamedTuple):
    """One way to look at an example."""

    title: str
    codes: tuple[Code, ...]


@dataclass(frozen=True, slots=True)
class Examples:
    """The same example in several languages."""

    tabs: tuple[Tab, ...]


@dataclass(frozen=True, slots=True)
class Prose:
    """Markdown of any length, with headings of its own if it is a guide."""

    text: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """What a page of HTML shows as a picture; Markdown has the same facts in words."""

    kind: Literal["sequence", "machine"]
    facts: Any


Block = Heading | Text | Badges | Decision | TableBlock | Items | Code | Examples | Prose | Drawing


@dataclass(frozen=True)
class Page:
    """One page of the reference."""

    path: str
    """Its place below the reference's top, without the ending."""
    title: str
    kind: str
    summary: str
    document: Document | None
    """The one that it is about; None for pages of all of them."""
    blocks: tuple[Block, ...]

    @property
    def name(self) -> str:
        """The title without what marks it as code."""
        return self.title.strip("`")
