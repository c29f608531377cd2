"""The method table of Tiny Base. Generated from tiny-base.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tiny_bindings import lazy
from tiny_bindings.jsonrpc import errors as jsonrpc_errors
from tiny_bindings.peer import Method, ProtocolTable
from tiny_bindings.tinybase import errors

if TYPE_CHECKING:
    from tiny_bindings.tinybase.models import CallParams, CallResult, OpenParams, OpenResult

SHELF_OPEN: Final[Method[OpenParams, OpenResult]] = Method(
    name="shelf/open",
    protocol="tiny-base",
    attribute="shelf_open",
    kind="request",
    sender="client",
    params=lazy.Lazy("tiny_bindings.tinybase.models.OpenParams"),
    result=lazy.Lazy("tiny_bindings.tinybase.models.OpenResult"),
    errors=(
        errors.LockedError,
        jsonrpc_errors.InvalidParamsError,
    ),
    gate="server:shelf.open",
    section="1",
    aliases=("shelf/unlock",),
)
"""Open the shelf."""

TOOLS_CALL: Final[Method[CallParams, CallResult]] = Method(
    name="tools/call",
    protocol="tiny-base",
    attribute="tools_call",
    kind="request",
    sender="client",
    params=lazy.Lazy("tiny_bindings.tinybase.models.CallParams"),
    result=lazy.Lazy("tiny_bindings.tinybase.models.CallResult"),
    section="2",
)
"""Call a tool."""

PROTOCOL: Final = ProtocolTable(
    name="tiny-base",
    title="Tiny Base",
    version="1",
    capability=None,
    methods={
        "shelf/open": SHELF_OPEN,
        "tools/call": TOOLS_CALL,
    },
    errors={
        "Locked": errors.LockedError,
    },
)
"""The protocol as a table."""
