"""Messages that servers ask the host's model for (MCP, Sampling and Human in the Loop).

A person, or a rule of the host, stands before the model and behind it. `rules/model_choice.py`
picks a model; which models there are, and how they are asked, is the host's own.
"""

from __future__ import annotations

__all__ = ("Sampling", "SamplingRequest", "unattended")

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, overload

import anyio

from kinwire_protocols import mcp
from kinwire_protocols.jsonrpc.errors import InternalError

if TYPE_CHECKING:
    from kinwire.mcp.connection import Connection


@dataclass(frozen=True, slots=True)
class SamplingRequest:
    """What a server would have a model write."""

    params: mcp.CreateMessageRequestParams
    """What goes to the model: context is added, `include_context` says whose."""

    connection: Connection
    """The server that asks, and will read the result."""


Model = Callable[[mcp.CreateMessageRequestParams], Awaitable[mcp.CreateMessageResult]]
"""Has a model write the message."""

ApproveRequest = Callable[[SamplingRequest], Awaitable[mcp.CreateMessageRequestParams | None]]
"""Returns the params that may go to the model, as they came or edited; None rejects."""

ApproveResult = Callable[
    [SamplingRequest, mcp.CreateMessageResult], Awaitable[mcp.CreateMessageResult | None]
]
"""Returns the result that may go to the server, as it came or edited; None rejects."""

ContextProvider = Callable[[SamplingRequest], Awaitable[Sequence[mcp.SamplingMessage]]]
"""Returns the context, of this server or of all as `include_context` says, as messages."""

Consent = Callable[[SamplingRequest], Awaitable[bool]]
"""Returns whether this server may have a model see the context of all servers."""


@overload
async def unattended(request: SamplingRequest, /) -> mcp.CreateMessageRequestParams: ...
@overload
async def unattended(
    request: SamplingRequest, result: mcp.CreateMessageResult, /
) -> mcp.CreateMessageResult: ...
async def unattended(
    request: SamplingRequest, result: mcp.CreateMessageResult | None = None, /
) -> mcp.CreateMessageRequestParams | mcp.CreateMessageResult:
    """Approve of all: stands in the place of an approval where nobody is to be asked."""
    return request.params if result is None else result


class Sampling:
    """How a host answers requests for messages; `Host(sampling=...)` takes one.

    Nothing goes to the model that `approve_request` did not return, and nothing to the server
    that `approve_result` did not; `unattended` in the place of either says that nobody is asked.
    Who rejects answers the server with `mcp.SamplingRejectedError`, by None or by raising one with
    a text of its own.

    Without a `context` provider no context is added. A server that wants that of all servers gets
    none unless `consent` returns True: what the model writes goes back to that server.
    `timeout` is in seconds, for people and model together; None for no limit.
    """

    def __init__(
        self,
        model: Model,
        *,
        approve_request: ApproveRequest,
        approve_result: ApproveResult,
        context: ContextProvider | None = None,
        consent: Consent | None = None,
        timeout: float | None = 600.0,
    ) -> None:
        self._model = model
        self._approve_request = approve_request
        self._approve_result = approve_result
        self._context = context
        self._consent = consent
        self._timeout = timeout

    async def create_message(self, request: SamplingRequest) -> mcp.CreateMessageResult:
        """Return what the model wrote, as approved.

        Raises:
            SamplingRejectedError: a person said no.
            InternalError: it took too long.
        """
        with anyio.move_on_after(self._timeout):
            approved = await self._approved(await self._with_context(request))
            result = await self._model(approved.params)
            _must_be(mcp.CreateMessageResult, "the model", result)
            return await self._released(approved, result)
        raise InternalError(f"sampling/createMessage: no answer within {self._timeout:g} s")

    async def _with_context(self, request: SamplingRequest) -> SamplingRequest:
        params = request.params.model_copy(
            update={"include_context": await self._granted(request)},
        )
        request = replace(request, params=params)
        if self._context is None or params.include_context == "none":
            return request
        messages = [*await self._context(request), *params.messages]
        return replace(request, params=params.model_copy(update={"messages": messages}))

    async def _granted(self, request: SamplingRequest) -> mcp.IncludeContext:
        wanted = request.params.include_context or "none"
        if self._context is None:
            return "none"
        if wanted == "allServers":
            agreed = self._consent is not None and await self._consent(request) is True
            return "allServers" if agreed else "none"
        return wanted

    async def _approved(self, request: SamplingRequest) -> SamplingRequest:
        params = await self._approve_request(request)
        if params is None:
            raise mcp.SamplingRejectedError
        _must_be(mcp.CreateMessageRequestParams, "approve_request", params)
        return replace(request, params=params)

    async def _released(
        self, request: SamplingRequest, result: mcp.CreateMessageResult
    ) -> mcp.CreateMessageResult:
        released = await self._approve_result(request, result)
        if released is None:
            raise mcp.SamplingRejectedError
        _must_be(mcp.CreateMessageResult, "approve_result", released)
        return released


def _must_be(kind: type, where: str, value: object) -> None:
    # Such as True from somebody who meant "yes": it must not count as anything.
    if not isinstance(value, kind):
        raise TypeError(
            f"sampling: expected {kind.__name__} from {where}, got {type(value).__name__}"
        )
