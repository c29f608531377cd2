"""Questions of servers behind a gateway: they go to the client whose request is in progress."""

from __future__ import annotations

__all__ = ("GatewayQuestions",)

import logging
from contextlib import suppress
from typing import Any

from kinwire.mcp.context import Context
from kinwire.mcp.host import Host
from kinwire.mgp.gateway.request import ForwardedRequest
from kinwire.mgp.gateway.upstream import Upstreams
from kinwire.rpc.codec import EncodedObject, is_object
from kinwire.rpc.errors import HandlerDefinitionError
from kinwire_protocols.base import JsonObject, Message
from kinwire_protocols.jsonrpc.errors import InvalidRequestError
from kinwire_protocols.mcp.methods import ROOTS_LIST, SAMPLING_CREATE_MESSAGE
from kinwire_protocols.peer import Method

_SAMPLE: Method[Any, Any] = SAMPLING_CREATE_MESSAGE  # answers are forwarded, not read
_ROOTS: Method[Any, Any] = ROOTS_LIST

logger = logging.getLogger("kinwire.mgp.gateway")


class GatewayQuestions:
    """Answers `sampling/createMessage` and `roots/list` of servers, unless the host does."""

    def __init__(self, upstreams: Upstreams) -> None:
        self._upstreams = upstreams

    def serve(self, host: Host) -> None:
        """Register handlers at a host; those that it has already stay."""

        async def sample(params: Message, context: Context) -> JsonObject:
            return await self._pass_on(_SAMPLE, context)

        async def roots(params: Message, context: Context) -> JsonObject:
            return await self._pass_on(_ROOTS, context)

        with suppress(HandlerDefinitionError):
            host.on(_SAMPLE)(sample)
        with suppress(HandlerDefinitionError):
            host.on(_ROOTS)(roots)

    async def _pass_on(self, method: Method[Any, Any], context: Context) -> JsonObject:
        upstream = self._upstreams.of(context.session)
        if upstream is None:
            raise InvalidRequestError(f"{method.name}: the server is not behind the gateway.")
        question = ForwardedRequest.of(context)
        answer = await upstream.ask(method, question)
        if not is_object(answer):
            raise InvalidRequestError(f"{method.name}: the answer of the client is not an object.")
        return EncodedObject(answer)  # as it came: its type is not checked here
