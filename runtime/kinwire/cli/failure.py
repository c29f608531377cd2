"""Failures of a verb: what is said on stderr, and with which code the command ends."""

from __future__ import annotations

__all__ = (
    "FINDINGS",
    "PASS_HEADERS",
    "PEER_ERROR",
    "PEER_SCHEMA",
    "UNAUTHORIZED",
    "UNREACHABLE",
    "USAGE",
    "Failure",
    "UsageError",
    "did_you_mean",
    "failure_of",
    "wants_to_know_who",
)

from collections.abc import Collection
from typing import Any, NamedTuple

FINDINGS, USAGE, UNAUTHORIZED, UNREACHABLE, PEER_ERROR, PEER_SCHEMA = 1, 2, 3, 4, 5, 6

_WHO_CALLS = 401
_DOCTOR = "kinwire doctor, with the same server, looks for the cause."
PASS_HEADERS = ' Pass headers={"Authorization": ...} or auth=...'
"""How what is said of an HTTP 401 ends: advice for programs, of no use in a command line."""
_PASS_HEADER = "\nhint: --header 'Authorization: Bearer ${TOKEN}' says it, from the variable TOKEN."


class UsageError(Exception):
    """The command line or a file that it names is wrong; `hint` says what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


def did_you_mean(name: str, known: Collection[str], otherwise: str = "") -> str:
    """Return the hint that names which of `known` is like `name`; `otherwise` where none is."""
    from kinwire_protocols.nearest import nearest  # a command line without a slip never asks

    near = nearest(name, known)
    return f"Did you mean {near!r}?" if near else otherwise


class Failure(NamedTuple):
    """How the command ends."""

    text: str
    exit_code: int


def failure_of(error: Exception) -> Failure:
    """Return how the command ends because of `error`."""
    if isinstance(error, UsageError):
        hint = f"\nhint: {error.hint}" if error.hint else ""
        return Failure(f"error: {error}{hint}", USAGE)
    # Imported here: a failure of the runtime has loaded these, a slip of the user must not.
    from kinwire import errors
    from kinwire.storage.errors import StorageUnavailableError
    from kinwire_protocols.base import RpcError

    match error:
        case RpcError():
            return Failure(f"error: the peer answered: {error}{_details(error.data)}", PEER_ERROR)
        case errors.KinwireError() if wants_to_know_who(error):
            return Failure(f"error: {_text_of(error)}", UNAUTHORIZED)
        case (
            errors.InvalidResponseError() | errors.ProtocolVersionError() | errors.PaginationError()
        ):
            return Failure(f"error: {_text_of(error)}", PEER_SCHEMA)
        case (
            StorageUnavailableError()
            | errors.ConnectionClosedError()
            | errors.RequestTimeoutError()
        ):
            return Failure(f"error: {_text_of(error)}", UNREACHABLE)
        case OSError():  # of this machine: what a peer is to blame for has come as an error above
            where = f"{error.filename}: " if error.filename is not None else ""
            return Failure(f"error: {where}{error.strerror or error}.", USAGE)
        case errors.KinwireError():
            return Failure(f"error: {_text_of(error)}", USAGE)
        case _:
            kind = type(error).__name__
            hint = "hint: python -X dev -m kinwire shows where."
            return Failure(f"error: {kind}: {error}\n{hint}", USAGE)


def wants_to_know_who(error: Exception | None) -> bool:
    """Whether a server refused because nobody said who calls (HTTP 401)."""
    from kinwire import errors

    if not isinstance(error, errors.InvalidResponseError | errors.ConnectionClosedError):
        return False
    return error.status == _WHO_CALLS


def _text_of(error: Exception) -> str:
    """Return what `error` says, with advice for a command line in place of that for programs."""
    from kinwire import errors

    match error:
        case errors.ConnectionClosedError():
            # The server's last words on stderr are this command's already.
            if wants_to_know_who(error):
                return error.reason.replace(PASS_HEADERS, _PASS_HEADER)
            return f"{error.reason}\nhint: {_DOCTOR}"
        case errors.RequestTimeoutError():
            return _timeout_text(error.method, error.timeout)
        case errors.CapabilityNotNegotiatedError():
            needed = f"needs {error.gate}, but " if error.gate else ""
            return f"{error.method}: {needed}{error.reason}."
        case errors.InsecureAddressError():
            hint = "Put a proxy that has TLS before it, and add --insecure."
            if error.doing == "connect to":
                hint = "Use https or wss. --insecure is for a network of your own."
            return f"Refused to {error.doing} {error.host!r} without TLS.\nhint: {hint}"
        case errors.ShapeError():
            return f"{error.where}#{error.pointer}: expected {error.expected}, got {error.got}."
        case _:
            return str(error).replace(PASS_HEADERS, _PASS_HEADER)


def _timeout_text(method: str, timeout: float) -> str:
    hint = "--timeout SECONDS waits longer."
    if method == "initialize":
        hint = f"Does the command speak MCP over its stdin and stdout? {hint} {_DOCTOR}"
    return f"{method}: no answer within {timeout:g} s.\nhint: {hint}"


def _details(data: Any) -> str:
    """Return what an error of kinwire's own servers says beside its message."""
    match data:
        case {"correlationId": str(number)}:
            return f"\n  correlation id {number}: the server's log tells more under it"
        case {"problems": [_, *further]}:  # the message has the first
            return "".join(map(_problem_line, further))
        case _:
            return ""


def _problem_line(problem: Any) -> str:
    match problem:
        case {"pointer": pointer, "expected": expected, "got": got}:
            return f"\n  {pointer}: expected {expected}, got {got}"
        case _:
            return ""
