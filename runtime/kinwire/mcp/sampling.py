"""Messages that servers request from the host's model (MCP, Sampling and Human in the Loop).

A person, or a rule of the host, approves both the request and the result. `rules/model_choice.py`
chooses a model. The host's own functions call the models.
"""

from __future__ import annotations

__all__ = ("Sampling", "SamplingRequest", "unattended")

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, overload

from kinwire.managers.ask import Failed, Late, ask
from kinwire.support.arguments import FUNCTION, TIME, ArgumentCheck
from kinwire.support.validation import expect_type
from kinwire_protocols import mcp
from kinwire_protocols.jsonrpc.errors import InternalError

if TYPE_CHECKING:
    from kinwire.mcp.connection import Connection


@dataclass(frozen=True, slots=True)
class SamplingRequest:
    """A server's request for a message of a model."""

    params: mcp.CreateMessageRequestParams
    """The params for the model, with the context that `include_context` names."""

    connection: Connection
    """The server that sent the request and gets the result."""


Model = Callable[[mcp.CreateMessageRequestParams], Awaitable[mcp.CreateMessageResult]]
"""Returns the message of a model."""

ApproveRequest = Callable[[SamplingRequest], Awaitable[mcp.CreateMessageRequestParams | None]]
"""Returns the params for the model, unchanged or edited; None rejects the request."""

ApproveResult = Callable[
    [SamplingRequest, mcp.CreateMessageResult], Awaitable[mcp.CreateMessageResult | None]
]
"""Returns the result for the server, unchanged or edited; None rejects the request."""

ContextProvider = Callable[[SamplingRequest], Awaitable[Sequence[mcp.SamplingMessage]]]
"""Returns the context as messages: of this server or of all, as `include_context` says."""

Consent = Callable[[SamplingRequest], Awaitable[bool]]
"""Returns whether a request of this server may include the context of all servers."""


@overload
async def unattended(request: SamplingRequest, /) -> mcp.CreateMessageRequestParams: ...
@overload
async def unattended(
    request: SamplingRequest, result: mcp.CreateMessageResult, /
) -> mcp.CreateMessageResult: ...
async def unattended(
    request: SamplingRequest, result: mcp.CreateMessageResult | None = None, /
) -> mcp.CreateMessageRequestParams | mcp.CreateMessageResult:
    """Approve everything: for `approve_request` or `approve_result` where no person is asked."""
    return request.params if result is None else result


_SAMPLING = ArgumentCheck(
    "Sampling",
    "Sampling(model, approve_request=ask_user, approve_result=show_user)",
    {"model": FUNCTION, "approve_request": FUNCTION, "approve_result": FUNCTION},
    context=FUNCTION.or_none,
    consent=FUNCTION.or_none,
    timeout=TIME.or_none,
)


class Sampling:
    """Answer servers that request a message of a model; an argument of `Host`.

    The model gets only what `approve_request` returned, and the server only what `approve_result`
    returned; pass `unattended` where no person is asked. An approval rejects by returning None, or
    by raising `mcp.SamplingRejectedError` with a text of its own; the server gets this error.

    Without a `context` provider no context is added. If a server requests the context of all
    servers, none is added unless `consent` returns True: the model's message goes back to that
    server. `timeout` is in seconds, for people and model together; None for no limit.
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
        _SAMPLING.check(
            model=model,
            approve_request=approve_request,
            approve_result=approve_result,
            context=context,
            consent=consent,
            timeout=timeout,
        )
        self._model = model
        self._approve_request = approve_request
        self._approve_result = approve_result
        self._context = context
        self._consent = consent
        self._timeout = timeout

    async def create_message(self, request: SamplingRequest) -> mcp.CreateMessageResult:
        """Return the approved message of the model.

        Raises:
            SamplingRejectedError: an approval rejected the request or the result.
            InternalError: `timeout` has passed.
        """
        answer = await ask(
            self._answered,
            request,
            name="Sampling.approve_result",
            timeout=self._timeout,
            expects=mcp.CreateMessageResult,
        )
        if isinstance(answer, Late):
            raise InternalError(f"sampling/createMessage: no answer within {answer.seconds:g} s")
        if isinstance(answer, Failed):
            raise answer.error
        return answer.value

    async def _answered(self, request: SamplingRequest) -> mcp.CreateMessageResult:
        approved = await self._approved_request(await self._with_context(request))
        result = await self._model(approved.params)
        expect_type("Sampling.model", result, mcp.CreateMessageResult)
        return await self._approved_result(approved, result)

    async def _with_context(self, request: SamplingRequest) -> SamplingRequest:
        params = request.params.model_copy(
            update={"include_context": await self._granted_context(request)},
        )
        request = replace(request, params=params)
        if self._context is None or params.include_context == "none":
            return request
        messages = [*await self._context(request), *params.messages]
        return replace(request, params=params.model_copy(update={"messages": messages}))

    async def _granted_context(self, request: SamplingRequest) -> mcp.IncludeContext:
        requested = request.params.include_context or "none"
        if self._context is None:
            return "none"
        if requested == "allServers":
            agreed = self._consent is not None and await self._consent(request) is True
            return "allServers" if agreed else "none"
        return requested

    async def _approved_request(self, request: SamplingRequest) -> SamplingRequest:
        params = await self._approve_request(request)
        if params is None:
            raise mcp.SamplingRejectedError
        expect_type("Sampling.approve_request", params, mcp.CreateMessageRequestParams)
        return replace(request, params=params)

    async def _approved_result(
        self, request: SamplingRequest, result: mcp.CreateMessageResult
    ) -> mcp.CreateMessageResult:
        approved = await self._approve_result(request, result)
        if approved is None:
            raise mcp.SamplingRejectedError
        return approved
