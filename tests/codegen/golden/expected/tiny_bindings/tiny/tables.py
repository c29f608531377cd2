# pyright: reportDeprecated=false
# mypy: disable-error-code=deprecated
"""Data of Tiny outside its messages. Generated from tiny.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tiny_bindings import lazy, tables

if TYPE_CHECKING:
    from tiny_bindings.tiny.models import DustParams, Lamp, State

LAMPS: Final[tables.KeyedTable[Lamp]] = tables.KeyedTable(
    lazy.Lazy("tiny_bindings.tiny.models.Lamp"),
    "name",
    (
        {"name": "desk", "watts": 5},
        {"name": "sun"},
    ),
)
"""The lamps that there are. Section 6.1."""

SHELF_RULES: Final[tables.Table[DustParams]] = tables.Table(
    lazy.Lazy("tiny_bindings.tiny.models.DustParams"),
    (
        {"shelf": "top"},
        {},
    ),
)
"""What is to be done. Section 6.2."""

SHELF: Final[tables.Machine[State]] = tables.Machine(
    states=("empty", "full"),
    initial="empty",
    final=frozenset(("full",)),
    transitions={
        ("empty", "fill"): "full",
    },
)
"""How a shelf fills. Section 6.3."""

MAX_BOOKS: Final = 100
"""How many it holds. In books. Section 6.4."""

MOTTO: Final = 'read "me"'
"""What stands on it. Section 6.5."""

HTTP: Final = tables.HttpBinding(
    base="/tiny/",
    verb="POST",
    content_type="application/json",
    paths={
        "find": tables.HttpPath(
            path="/tiny/find",
            aliases=("search",),
            method="books/find",
            enveloped=False,
        ),
    },
    events={
        "lent": "LentParams",
    },
)
"""A shelf on the web. Section 9."""
