"""A page of a server's list, as the answer to its request. `rules/listing.py` makes it."""

from __future__ import annotations

__all__ = ("page_of",)

from kinwire.mcp.rules.listing import Listing
from kinwire_protocols.base import JsonObject
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.mcp.models import PaginatedRequestParams


def page_of(listing: Listing, params: PaginatedRequestParams) -> JsonObject:
    """Return the page that is asked for.

    Raises:
        InvalidParamsError: the list gave no such cursor.
    """
    try:
        return listing.page(params.cursor)
    except ValueError as error:
        raise InvalidParamsError(str(error)) from None
