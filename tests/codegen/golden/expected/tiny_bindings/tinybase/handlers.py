"""Handlers of Tiny Base. Generated from tiny-base.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from tiny_bindings.jsonrpc.errors import MethodNotFoundError
from tiny_bindings.peer import Handlers, Method, On, Register
from tiny_bindings.tinybase import methods

if TYPE_CHECKING:
    from tiny_bindings.tinybase.models import CallParams, CallResult, OpenParams, OpenResult


class ServerHandlers(Handlers):
    """What a shelf handles: override what you serve; the rest answers "method not found"."""

    rows: ClassVar[Mapping[str, Method[Any, Any]]] = {
        "shelf/open": methods.SHELF_OPEN,
        "shelf/unlock": methods.SHELF_OPEN,
        "tools/call": methods.TOOLS_CALL,
    }

    async def shelf_open(self, params: OpenParams) -> OpenResult:
        """Open the shelf. (`shelf/open`)"""
        raise MethodNotFoundError("Method not found: shelf/open")

    async def tools_call(self, params: CallParams) -> CallResult:
        """Call a tool. (`tools/call`)"""
        raise MethodNotFoundError("Method not found: tools/call")


class ServerOn(On):
    """Where a shelf registers handlers: `@server.on.NAME`."""

    @property
    def shelf_open(self) -> Register[OpenParams, OpenResult]:
        """Open the shelf. (`shelf/open`)"""
        return self(methods.SHELF_OPEN)

    @property
    def tools_call(self) -> Register[CallParams, CallResult]:
        """Call a tool. (`tools/call`)"""
        return self(methods.TOOLS_CALL)


class ClientHandlers(Handlers):
    """What a reader handles: override what you serve; the rest answers "method not found"."""

    rows: ClassVar[Mapping[str, Method[Any, Any]]] = {}


class ClientOn(On):
    """Where a reader registers handlers: `@client.on.NAME`."""
