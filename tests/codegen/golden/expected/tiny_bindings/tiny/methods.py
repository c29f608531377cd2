# pyright: reportDeprecated=false
# mypy: disable-error-code=deprecated
"""The method table of Tiny. Generated from tiny.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from typing import Final

from tiny_bindings.peer import Method, NoParams, ProtocolTable
from tiny_bindings.tiny import errors
from tiny_bindings.tiny.models import (
    Author,
    Bag,
    Count,
    DustResult,
    FindParams,
    FindResult,
    LentParams,
    Offer,
    Rates,
    Rating,
)
from tiny_bindings.tinybase import errors as tinybase_errors
from tiny_bindings.tinybase.models import OpenResult

BOOKS_FIND: Final = Method[FindParams, FindResult](
    name="books/find",
    protocol="tiny",
    attribute="books_find",
    kind="request",
    sender="client",
    params=FindParams,
    result=FindResult,
    errors=(
        errors.NoSuchBookError,
        tinybase_errors.LockedError,
    ),
    section="2.1",
)
"""Find books."""

BOOKS_LENT: Final = Method[LentParams, None](
    name="books/lent",
    protocol="tiny",
    attribute="books_lent",
    kind="notification",
    sender="server",
    params=LentParams,
    result=None,
    section="2.2",
    serial=True,
)
"""Tell that a book was lent."""

BOOKS_ANNOUNCE: Final = Method[LentParams, OpenResult](
    name="books/announce",
    protocol="tiny",
    attribute="books_announce",
    kind="either",
    sender="both",
    params=LentParams,
    result=OpenResult,
    section="2.3",
    status="deprecated",
)
"""Announce a book, with or without an answer. Deprecated since 2.0: Nobody listens. Use `books/lent`."""

BOOKS_RATE: Final = Method[Rating, Rates](
    name="books/rate",
    protocol="tiny",
    attribute="books_rate",
    kind="request",
    sender="client",
    params=Rating,
    result=Rates,
    positions=("id", "stars"),
    section="2.4",
)
"""Rate a book, by position."""

BOOKS_COUNT: Final = Method[NoParams, Count](
    name="books/count",
    protocol="tiny",
    attribute="books_count",
    kind="request",
    sender="client",
    params=NoParams,
    result=Count,
    section="2.5",
)
"""Count the books."""

BOOKS_BURN: Final = Method[LentParams, DustResult](
    name="books/burn",
    protocol="tiny",
    attribute="books_burn",
    kind="request",
    sender="client",
    params=LentParams,
    result=DustResult,
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
    offers={
        "client": Bag,
        "server": Offer,
    },
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
    error_data={
        "NoSuchBook": Author,
    },
    added_errors={
        "shelf/open": (errors.NoSuchBookError,),
        None: (errors.DustyError,),
    },
    tools_in="tiny_bindings.tiny.tools",
    augments_in="tiny_bindings.tiny.augments",
)
"""The protocol as a table."""
