"""The blocks that pages are made of; `markdown.py` and the site render them.

Texts are inline Markdown: code, emphasis and links. Links are for pages two folders down.
"""

from __future__ import annotations

__all__ = (
    "Badges",
    "Block",
    "Cell",
    "Code",
    "Decision",
    "Drawing",
    "Examples",
    "FieldRow",
    "Fields",
    "Folded",
    "Heading",
    "Items",
    "Meaning",
    "Page",
    "PageEntry",
    "PageList",
    "Prose",
    "ProtocolCards",
    "Tab",
    "TableBlock",
    "TableRow",
    "Text",
)

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from kinwire_codegen.load.document import Document, Reference


class Heading(NamedTuple):
    """A heading below the page's title."""

    text: str
    level: int = 2
    anchor: str = ""


class Text(NamedTuple):
    """A paragraph."""

    text: str


class Badges(NamedTuple):
    """Short facts about a page: kind, sender, section."""

    items: tuple[str, ...]


class Decision(NamedTuple):
    """How the document decides a question that the specification leaves open."""

    text: str


class Meaning(NamedTuple):
    """What an entry of a table means, and the decision that the document made about it."""

    text: str
    decision: str = ""


Cell = str | Meaning


class TableRow(NamedTuple):
    """A row of a table."""

    cells: tuple[Cell, ...]
    anchor: str = ""
    column: int = 0
    """The cell that has the anchor, where a row cannot have one."""


class TableBlock(NamedTuple):
    """A table with a row of headings."""

    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]

    @classmethod
    def of(cls, columns: Iterable[str], rows: Iterable[Iterable[Cell] | TableRow]) -> TableBlock:
        """Return a table of rows; a row without an anchor may be given as its cells."""
        made = (row if isinstance(row, TableRow) else TableRow(tuple(row)) for row in rows)
        return cls(tuple(columns), tuple(made))


class FieldRow(NamedTuple):
    """A field of an object, or one that another protocol adds to it."""

    name: str
    type: str
    required: bool
    limits: tuple[str, ...]
    """Its bounds and its default, each in a few words."""
    meaning: Meaning
    anchor: str = ""
    added_by: str = ""
    """A link to the protocol that adds the field; empty if the object has it by itself."""
    kinds: tuple[Reference, ...] = ()
    """The types with fields that its value may have."""


class Fields(NamedTuple):
    """The fields of an object."""

    rows: tuple[FieldRow, ...]


class Folded(NamedTuple):
    """Blocks that a page of HTML shows when the reader opens them."""

    title: str
    blocks: tuple[Block, ...]


class PageEntry(NamedTuple):
    """A page in a list of pages."""

    name: str
    place: str
    summary: str


class PageList(NamedTuple):
    """Pages with their summaries."""

    entries: tuple[PageEntry, ...]


class ProtocolCards(NamedTuple):
    """What each protocol is, and how much it defines."""

    documents: tuple[Document, ...]


class Items(NamedTuple):
    """A list of short texts."""

    items: tuple[str, ...]
    ordered: bool = False


class Code(NamedTuple):
    """A block of code."""

    language: str
    text: str
    caption: str = ""


class Tab(NamedTuple):
    """An example in one language."""

    title: str
    codes: tuple[Code, ...]


class Examples(NamedTuple):
    """The same example in several languages, under a heading of its own."""

    tabs: tuple[Tab, ...]
    note: str


class Prose(NamedTuple):
    """Markdown of any length; a guide has headings in it."""

    text: str


class Drawing(NamedTuple):
    """A picture on a page of HTML; Markdown has the same facts in words next to it."""

    kind: Literal["sequence", "machine"]
    facts: Any


Block = (
    Heading
    | Text
    | Badges
    | Decision
    | TableBlock
    | Fields
    | Folded
    | PageList
    | ProtocolCards
    | Items
    | Code
    | Examples
    | Prose
    | Drawing
)


class Page(NamedTuple):
    """One page of the reference."""

    path: str
    """Its place below the reference's top, without the ending."""
    title: str
    kind: str
    summary: str
    document: Document | None
    """The document of its protocol; None for pages about several protocols."""
    blocks: tuple[Block, ...]

    @property
    def name(self) -> str:
        """The title without the marks of code."""
        return self.title.strip("`")
