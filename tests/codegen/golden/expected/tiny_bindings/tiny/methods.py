# pyright: reportDeprecated=false
# mypy: disable-error-code=deprecated
"""The method table of Tiny. Generated from tiny.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tiny_bindings import lazy
from tiny_bindings.peer import Method, NoParams, ProtocolTable
from tiny_bindings.tiny import errors
from tiny_bindings.tinybase import errors as tinybase_errors

if TYPE_CHECKING:
    from tiny_bindings.tiny.models import (
        Count,
        DustResult,
        FindParams,
        FindResult,
        LentParams,
        Rates,
        Rating,
    )
    from tiny_bindings.tinybase.models import OpenResult

BOOKS_FIND: Final[Method[FindParams, FindResult]] = Method(
    name="books/find",
    protocol="tiny",
    attribute="books_find",
    kind="request",
    sender="client",
    params=lazy.Lazy("tiny_bindings.tiny.models.FindParams"),
    result=lazy.Lazy("tiny_bindings.tiny.models.FindResult"),
    errors=(
        errors.NoSuchBookError,
        tinybase_errors.LockedError,
    ),
    section="2.1",
)
"""Find books."""

BOOKS_LENT: Final[Method[LentParams, None]] = Method(
    name="books/lent",
    protocol="tiny",
    attribute="books_lent",
    kind="notification",
    sender="server",
    params=lazy.Lazy("tiny_bindings.tiny.models.LentParams"),
    result=None,
    section="2.2",
    serial=True,
)
"""Tell that a book was lent."""

BOOKS_ANNOUNCE: Final[Method[LentParams, OpenResult]] = Method(
    name="books/announce",
    protocol="tiny",
    attribute="books_announce",
    kind="either",
    sender="both",
    params=lazy.Lazy("tiny_bindings.tiny.models.LentParams"),
    result=lazy.Lazy("tiny_bindings.tinybase.models.OpenResult"),
    section="2.3",
    status="deprecated",
)
"""Announce a book, with or without an answer. Deprecated since 2.0: Nobody listens. Use `books/lent`."""

BOOKS_RATE: Final[Method[Rating, Rates]] = Method(
    name="books/rate",
    protocol="tiny",
    attribute="books_rate",
    kind="request",
    sender="client",
    params=lazy.Lazy("tiny_bindings.tiny.models.Rating"),
    result=lazy.Lazy("tiny_bindings.tiny.models.Rates"),
    positions=("id", "stars"),
    section="2.4",
)
"""Rate a book, by position."""

BOOKS_COUNT: Final[Method[NoParams, Count]] = Method(
    name="books/count",
    protocol="tiny",
    attribute="books_count",
    kind="request",
    sender="client",
    params=NoParams,
    result=lazy.Lazy("tiny_bindings.tiny.models.Count"),
    section="2.5",
)
"""Count the books."""

BOOKS_BURN: Final[Method[LentParams, DustResult]] = Method(
    name="books/burn",
    protocol="tiny",
    attribute="books_burn",
    kind="request",
    sender="client",
    params=lazy.Lazy("tiny_bindings.tiny.models.LentParams"),
    result=lazy.Lazy("tiny_bindings.tiny.models.DustResult"),
    section="8",
    status="considered",
)
"""Burn a book."""

PROTOCOL: Final = ProtocolTable(
    name="tiny",
    title="Tiny",
    version="2.1-draft",
    capability="experimental.tiny",
    capability_aliases=("tiny",),
    offers=lazy.LazyTypes(
        {
            "client": "tiny_bindings.tiny.models.Bag",
            "server": "tiny_bindings.tiny.models.Offer",
        }
    ),
    methods={
        "books/find": BOOKS_FIND,
        "books/lent": BOOKS_LENT,
        "books/announce": BOOKS_ANNOUNCE,
        "books/rate": BOOKS_RATE,
        "books/count": BOOKS_COUNT,
        "books/burn": BOOKS_BURN,
    },
    errors={
        "NoSuchBook": errors.NoSuchBookError,
        "Dusty": errors.DustyError,
        "Worn": errors.WornError,
    },
    error_data=lazy.LazyTypes(
        {
            "NoSuchBook": "tiny_bindings.tiny.models.Author",
        }
    ),
    added_errors={
        "shelf/open": (errors.NoSuchBookError,),
        None: (errors.DustyError,),
    },
    tools_in="tiny_bindings.tiny.tools",
    augments_in="tiny_bindings.tiny.augments",
)
"""The protocol as a table."""
