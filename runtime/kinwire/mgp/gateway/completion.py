"""Completion of arguments of prompts and templates of the servers behind a gateway."""

from __future__ import annotations

__all__ = ("GatewayCompletion",)

from typing import Any

from kinwire.mcp.context import Context
from kinwire.mcp.registry import Rows
from kinwire.mgp.gateway.forwarding import Forwarder
from kinwire.mgp.gateway.prompts import GatewayPrompts
from kinwire.mgp.gateway.request import ForwardedRequest
from kinwire.mgp.rules.gateway_uris import inner_uri
from kinwire.rpc.codec import is_object
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.mcp import methods


class GatewayCompletion:
    """Forwards `completion/complete` to the server that has the prompt or the template."""

    def __init__(self, forwarder: Forwarder, prompts: GatewayPrompts) -> None:
        self._forwarder = forwarder
        self._prompts = prompts
        self.rows: Rows = {methods.COMPLETION_COMPLETE: self._complete}
        """The handler."""

    async def _complete(self, params: mcp.CompleteRequestParams, context: Context) -> JsonObject:
        sent = ForwardedRequest.of(context).raw_params
        given: Any = sent.get("ref")
        ref: JsonObject = given if is_object(given) else {}
        server_id, changed = await self._inner(ref, context)
        return await self._forwarder.to_server(
            context, server_id, methods.COMPLETION_COMPLETE, {**sent, "ref": {**ref, **changed}}
        )

    async def _inner(self, ref: JsonObject, context: Context) -> tuple[str, JsonObject]:
        if ref.get("type") == "ref/prompt":
            prompt = await self._prompts.find(ref.get("name"), context)
            return prompt.server_id, {"name": prompt.own}
        uri = ref.get("uri")
        found = inner_uri(uri) if isinstance(uri, str) else None
        if found is None:
            raise InvalidParamsError(
                "completion/complete#/ref: expected a prompt, or a template, of this gateway"
            )
        return found[0], {"uri": found[1]}
