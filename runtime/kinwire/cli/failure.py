"""Failures of a verb: what is said on stderr, and with which code the command ends."""

from __future__ import annotations

__all__ = ("PEER_ERROR", "Failure", "UsageError", "failure_of")

from typing import Any, NamedTuple

USAGE, UNREACHABLE, PEER_ERROR, PEER_SCHEMA = 2, 4, 5, 6


class UsageError(Exception):
    """The command line or a file that it names is wrong; `hint` says what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


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
    from kinwire_protocols.base import RpcError

    match error:
        case RpcError():
            return Failure(
                f"error: the peer answered: {error}{_more_problems(error.data)}", PEER_ERROR
            )
        case errors.InvalidResponseError() | errors.ProtocolVersionError():
            return Failure(f"error: {error}", PEER_SCHEMA)
        case errors.ConnectionClosedError():
            # Without the server's last words: its stderr is this command's already.
            return Failure(f"error: {error.reason}", UNREACHABLE)
        case errors.RequestTimeoutError() | OSError():
            return Failure(f"error: {error}", UNREACHABLE)
        case errors.KinwireError():
            return Failure(f"error: {error}", USAGE)
        case _:
            kind = type(error).__name__
            hint = "hint: python -X dev -m kinwire shows where."
            return Failure(f"error: {kind}: {error}\n{hint}", USAGE)


def _more_problems(data: Any) -> str:
    """Return the problems that an error lists beyond the first, which its message has."""
    try:
        listed = data["problems"][1:]
        lines = [f"  {it['pointer']}: expected {it['expected']}, got {it['got']}" for it in listed]
    except (TypeError, KeyError):  # another implementation's data
        return ""
    return "".join(f"\n{line}" for line in lines)
