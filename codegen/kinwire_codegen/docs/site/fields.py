"""Fields as HTML: type, limits and meaning on one line, and inner fields that open in place."""

from __future__ import annotations

__all__ = ("FieldWriter",)

from collections.abc import Iterable, Iterator

from markupsafe import escape

from kinwire_codegen.docs.reference.blocks import FieldRow, Meaning
from kinwire_codegen.docs.reference.fields import own_fields
from kinwire_codegen.docs.reference.links import Links
from kinwire_codegen.docs.site.inline import inline
from kinwire_codegen.load.document import Reference

DEPTH = 2
"""Levels of inner fields that open in place; deeper ones are on the page of their type."""

MOST_NESTED = 12_000
"""Characters of inner fields in one object; fields for which there is no room have only links."""

WIDEST = 6
"""Types of one value whose fields open in place; of more types there are only links."""


class FieldWriter:
    """Renders fields; the fields of a type are rendered once for all places that show them."""

    def __init__(self, links: Links) -> None:
        self._links = links
        self._inner: dict[tuple[Reference, int], str] = {}

    def html(self, rows: Iterable[FieldRow]) -> str:
        """Return the fields of an object, each with its anchor."""
        room = MOST_NESTED
        found = []
        for row in rows:
            nested = self._fitting(row, room)
            room -= len(nested)
            found.append(_anchored(row, nested))
        return f'<div class="fields">{"".join(found)}</div>'

    def _fitting(self, row: FieldRow, room: int) -> str:
        """Return the inner fields of a field, with as many levels as there is room for."""
        levels = (self._nested(row, depth) for depth in range(DEPTH, -1, -1))
        return next(one for one in levels if len(one) <= room or not one)

    def _nested(self, row: FieldRow, depth: int) -> str:
        if not depth or len(row.kinds) > WIDEST:
            return ""
        return "".join(self._details(kind, depth) for kind in row.kinds)

    def _details(self, kind: Reference, depth: int) -> str:
        if (kind, depth) not in self._inner:
            self._inner[kind, depth] = "".join(self._lines(kind, depth))
        return self._inner[kind, depth]

    def _lines(self, kind: Reference, depth: int) -> Iterator[str]:
        yield f"<details><summary>Fields of <code>{kind.name}</code></summary>"
        for row in own_fields(self._links, kind):
            nested = self._nested(row, depth - 1)
            about = f"<div>{inline(row.meaning.text)}</div>" if row.meaning.text else ""
            yield f'<div class="field"><p>{_head(row)}</p>{about}{nested}</div>'
        yield "</details>"


def _anchored(row: FieldRow, nested: str) -> str:
    head, below = _head(row), _meaning(row.meaning) + nested
    return f'<div class="field" id="{escape(row.anchor)}"><p>{head}</p>{below}</div>\n'


def _head(row: FieldRow) -> str:
    """Return what stands on the line of a field."""
    words = [inline(f"`{row.name}`"), f"<span>{inline(row.type)}</span>"]
    words += (f'<span class="limit">{inline(limit)}</span>' for limit in row.limits)
    words += ["<em>required</em>"] if row.required else []
    words += [f'<span class="added">added by {inline(row.added_by)}</span>'] if row.added_by else []
    return " ".join(words)


def _meaning(meaning: Meaning) -> str:
    decided = f'<div class="decision"><strong>Decision</strong> {inline(meaning.decision)}</div>'
    return f"<div>{inline(meaning.text)}{decided if meaning.decision else ''}</div>"
