"""What a status of gRPC is for the caller of a tool: the same errors as by HTTP."""

from __future__ import annotations

__all__ = ("fault_of",)

from typing import TYPE_CHECKING

from kinwire.mcplite.client.errors import error_from
from kinwire.mcplite.client.transport import SAY_WHO
from kinwire.mcplite.rules.grpc_errors import (
    DOMAIN,
    TOO_MANY_CALLS,
    UNAVAILABLE,
    stated_error,
)
from kinwire.mcplite.rules.polling import retry_after_in
from kinwire.rpc.codec import is_object
from kinwire.rpc.errors import (
    ConnectionClosedError,
    InvalidResponseError,
    KinwireError,
    RequestTimeoutError,
    RpcError,
)
from kinwire.support.sanitize import sanitize_for_log
from kinwire.transports.grpc.status import details_in, shortened

if TYPE_CHECKING:
    from grpc.aio import AioRpcError

_ERRORS = {"INVALID_ARGUMENT", "NOT_FOUND", "INTERNAL", "UNIMPLEMENTED"}
_ENDED = {"UNAVAILABLE", "CANCELLED"}
_UNTRUSTED, _NO_TLS = "CERTIFICATE_VERIFY_FAILED", "WRONG_VERSION_NUMBER"  # words of BoringSSL
_REFUSED = {"UNAUTHENTICATED": 401, "PERMISSION_DENIED": 403}


def fault_of(
    error: AioRpcError,
    origin: str,
    method: str,
    timeout: float,
    tool: str | None,
    *,
    says_who: bool,
) -> RpcError | KinwireError:
    """Return the error to raise.

    `origin` is what of the address may be shown, `tool` the one that was called, and `says_who`
    whether a token was sent. A status without details of the protocol, as other servers send it,
    has the same meaning.
    """
    status, message = error.code().name, error.details() or ""
    if status == "DEADLINE_EXCEEDED":
        return RequestTimeoutError(method, timeout)
    details = details_in(error.trailing_metadata() or ())
    reason = details.reason if details is not None and details.domain == DOMAIN else None
    said = sanitize_for_log(shortened(message))
    if reason is not None and (status == UNAVAILABLE or reason == TOO_MANY_CALLS):
        later = _refusal(f"{origin} answered with the status {status}: {said}", status)
        later.status = 503
        later.retry_after = retry_after_in(stated_error(status, message, details).data)
        return later
    ours = details is not None and reason is not None and "code" in details.metadata
    if ours or status in _ERRORS:
        stated = stated_error(status, message, details)
        data = stated.data
        if status == "NOT_FOUND" and tool is not None and not is_object(data):
            data = {"requested_tool": tool}
        return error_from(stated.code, stated.message, data)
    if status in _ENDED:
        return ConnectionClosedError(f"No answer from {origin}: {_plain(said) or status}.")
    hint = SAY_WHO if status == "UNAUTHENTICATED" and not says_who else ""
    return _refusal(f"{origin} answered with the status {status}: {said}{hint}", status)


def _plain(said: str) -> str:
    """Return why there is no connection, without the words of the TLS library."""
    if _UNTRUSTED in said:
        reason = said.partition(_UNTRUSTED)[2].split(":")[1].strip()
        return (
            f"its certificate is not to be trusted: {reason}. The option certificates names an "
            "authority of your own"
        )
    if _NO_TLS in said:
        return "it does not speak TLS. Begin the URL with grpc, if it is on this machine"
    return said.removesuffix(".")


def _refusal(message: str, status: str) -> InvalidResponseError:
    refused = InvalidResponseError(message)
    refused.status = _REFUSED.get(status)
    return refused
