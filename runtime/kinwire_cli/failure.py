"""Failures of a subcommand: what is said on stderr, and with which code the command ends."""

from __future__ import annotations

__all__ = (
    "DOCTOR",
    "PASS_HEADERS",
    "PEER_ERROR",
    "PEER_SCHEMA",
    "PROBLEMS_FOUND",
    "UNAUTHORIZED",
    "UNREACHABLE",
    "USAGE",
    "CommandError",
    "Failure",
    "UnreachableError",
    "UsageError",
    "did_you_mean",
    "failure_of",
    "wants_to_know_who",
)

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from kinwire_cli.layout import one_line

if TYPE_CHECKING:
    from kinwire_protocols.base import RpcError

PROBLEMS_FOUND, USAGE, UNAUTHORIZED, UNREACHABLE, PEER_ERROR, PEER_SCHEMA = 1, 2, 3, 4, 5, 6

_WHO_CALLS, _NOT_FOUND = 401, 404
DOCTOR = "kinwire doctor, with the same server, looks for the cause."
PASS_HEADERS = ' Pass headers={"Authorization": ...} or auth=...'
"""How the message of an HTTP 401 ends: advice for programs, of no use in a command line."""
_ADVICE = (PASS_HEADERS, " Pass token=... or auth=...")
_PASS_HEADER = "--header 'Authorization: Bearer ${TOKEN}' sends it, from the variable TOKEN."
_OTHER_PROTOCOL = "For a server of MCP-lite, kinwire call and list take --protocol mcp-lite."
_PROBLEMS = 20  # of the peer, that are shown
_READ = 4000  # characters of the peer's message in which a problem may be named already


class CommandError(Exception):
    """What ends a subcommand; `hint` says what to do."""

    exit_code: ClassVar[int]

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class UsageError(CommandError):
    """The command line or a file that it names is wrong."""

    exit_code: ClassVar[int] = USAGE


class KernelRefusalError(CommandError):
    """The kernel of `kinwire call --mgp` has refused the call, which the server has not seen."""

    exit_code: ClassVar[int] = PEER_ERROR


class UnreachableError(CommandError):
    """The server cannot be started, or does not answer the handshake."""

    exit_code: ClassVar[int] = UNREACHABLE


def did_you_mean(name: str, known: Collection[str], otherwise: str = "") -> str:
    """Return the hint that names which of `known` is like `name`; `otherwise` where none is."""
    from kinwire_protocols.nearest import nearest  # a command line without a slip never asks

    near = nearest(name, known)
    return f"Did you mean {near!r}?" if near else otherwise


class Failure(NamedTuple):
    """How the command ends."""

    text: str
    """Lines, each as a terminal may show it; no text of a peer makes one of its own."""
    exit_code: int


def failure_of(error: Exception) -> Failure:
    """Return how the command ends because of `error`."""
    if isinstance(error, CommandError):
        return _failure(error.exit_code, str(error), error.hint)
    # Imported here: a failure of the runtime has loaded these, a slip of the user must not.
    from kinwire.rpc import errors
    from kinwire.storage.errors import StorageUnavailableError
    from kinwire_protocols.base import RpcError

    match error:
        case RpcError():
            return _failure(PEER_ERROR, f"the peer answered: {error}", "", *_details(error))
        case errors.KinwireError() if wants_to_know_who(error):
            return _failure(UNAUTHORIZED, *_text_of(error))
        case (
            errors.InvalidResponseError() | errors.ProtocolVersionError() | errors.PaginationError()
        ):
            return _failure(PEER_SCHEMA, *_text_of(error))
        case (
            StorageUnavailableError()
            | errors.ConnectionClosedError()
            | errors.RequestTimeoutError()
        ):
            return _failure(UNREACHABLE, *_text_of(error))
        case OSError():  # of this machine: what a peer is to blame for has come as an error above
            return _failure(USAGE, *_system_text(error))
        case errors.KinwireError():
            return _failure(USAGE, *_text_of(error))
        case _:
            hint = "python -X dev -m kinwire shows where."
            return _failure(USAGE, f"{type(error).__name__}: {error}", hint)


def _failure(exit_code: int, message: str, hint: str = "", *details: str) -> Failure:
    hints = [f"hint: {hint}"] if hint else []
    return Failure("\n".join(map(one_line, (f"error: {message}", *details, *hints))), exit_code)


def wants_to_know_who(error: Exception | None) -> bool:
    """Return whether a server refused because authentication is missing (HTTP 401)."""
    from kinwire.rpc import errors

    if not isinstance(error, errors.InvalidResponseError | errors.ConnectionClosedError):
        return False
    return error.status == _WHO_CALLS


def _text_of(error: Exception) -> tuple[str, str]:
    """Return what `error` says and a hint: advice for a command line, not that for programs."""
    from kinwire.rpc import errors

    match error:
        case errors.ConnectionClosedError():
            # The server's last words on stderr are this command's already.
            if wants_to_know_who(error):
                return _without_advice(error.reason)
            return error.reason, DOCTOR
        case errors.RequestTimeoutError():
            text = f"{error.method}: no answer within {error.timeout:g} s."
            return text, "--timeout SECONDS waits longer."
        case errors.CapabilityNotNegotiatedError():
            needed = f"needs {error.gate}, but " if error.gate else ""
            return f"{error.method}: {needed}{error.reason}.", ""
        case errors.InsecureAddressError():
            hint = "Put a proxy that has TLS before it, and add --insecure."
            if error.doing == "connect to":
                hint = "Use https or wss. --insecure is for a network of your own."
            return f"Refused to {error.doing} {error.host!r} without TLS.", hint
        case errors.ShapeError():
            return f"{error.where}#{error.pointer}: expected {error.expected}, got {error.got}.", ""
        case _:
            return _divided(error)


def _divided(error: Exception) -> tuple[str, str]:
    """Return the text of `error` without the advice in it, and that or what replaces it."""
    from kinwire.rpc.codec import FRAME_SIZE
    from kinwire.storage.errors import StorageError

    text = str(error)
    if getattr(error, "status", None) == _NOT_FOUND and text.startswith("initialize:"):
        return text, _OTHER_PROTOCOL
    if FRAME_SIZE in text:
        return text, "--frame-size BYTES reads longer messages, as in --frame-size 64M."
    if isinstance(error, StorageError):
        return text.removesuffix(error.hint).rstrip(), error.hint
    return _without_advice(text)


def _without_advice(text: str) -> tuple[str, str]:
    for advice in _ADVICE:
        if text.endswith(advice):
            return text.removesuffix(advice), _PASS_HEADER
    return text, ""


def _system_text(error: OSError) -> tuple[str, str]:
    if error.filename is None:
        return f"{error.strerror or error}.", ""
    hint = "Check that the path exists and that you have permission."
    return f"{error.filename}: {error.strerror or error}.", hint


def _details(error: RpcError) -> Iterator[str]:
    """Yield what an error of kinwire's own servers says in addition to its message, a line each."""
    match error.data:
        case {"problems": [*found]}:
            lines = [line for problem in found for line in _problem_line(problem)]
            message = error.message[:_READ]
            further = [line for line in lines if line not in message]
            yield from (f"  {line}" for line in further[:_PROBLEMS])
            if len(further) > _PROBLEMS:
                yield f"  and {len(further) - _PROBLEMS} more"
        case _:
            pass


def _problem_line(problem: Any) -> Iterator[str]:
    match problem:
        case {"pointer": pointer, "expected": expected, "got": got}:
            yield f"{pointer}: expected {expected}, got {got}"
        case _:
            pass
