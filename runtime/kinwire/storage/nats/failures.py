"""What errors of NATS mean: try again, and whether the attempt may have been done; or give up."""

from __future__ import annotations

__all__ = ("AttemptOutcome", "outcome_of", "unavailable")

from enum import Enum

from nats import errors
from nats.js.errors import (
    APIError,
    NoStreamResponseError,
    NotFoundError,
    ServiceUnavailableError,
)

from kinwire.storage.errors import (
    StorageDamagedError,
    StorageError,
    StorageFullError,
    StorageInputError,
    StorageUnavailableError,
)


class AttemptOutcome(Enum):
    """What is to be done after an attempt that failed."""

    AGAIN = "it was not done"
    UNCERTAIN = "it may have been done: only requests with an id may be sent again"
    WRONG_REVISION = "another write came first"


_WRONG_REVISION = (10071, 10164)
_NO_STREAM, _NO_SPACE, _NO_RESOURCES = 10059, 10047, 10023
_FULL = (_NO_SPACE, _NO_RESOURCES)
_LEADERLESS = (408, 503)  # codes of a server that will be able to answer soon


def outcome_of(error: Exception, place: str) -> AttemptOutcome | Exception:
    """Return what is to be done after `error`, or the error for the caller."""
    if isinstance(error, errors.MaxPayloadError):
        return StorageInputError(
            place,
            expected="a value that fits into one message of the server",
            got="more",
            hint="Raise max_payload in the server's configuration.",
        )
    if isinstance(error, errors.NoRespondersError | NoStreamResponseError) or _nobody(error):
        return AttemptOutcome.AGAIN  # JetStream is still starting, or has no leader at the moment
    if isinstance(error, APIError):
        return _outcome_of_answer(error, place)
    if isinstance(error, errors.AuthorizationError):
        return unavailable(place, "the server refuses the name or password", False)
    return AttemptOutcome.UNCERTAIN


def _nobody(error: Exception) -> bool:
    """Return whether JetStream did not answer at all; its own errors have a code."""
    return isinstance(error, ServiceUnavailableError) and error.err_code is None


def unavailable(place: str, got: str, uncertain: bool) -> StorageUnavailableError:
    """Return the error for a server that does not answer."""
    return StorageUnavailableError(
        place,
        expected="an answer within the timeout",
        got=got,
        hint="Check that the server runs and JetStream is on. This program need not be restarted.",
        outcome_unknown=uncertain,
    )


def _outcome_of_answer(error: APIError, place: str) -> AttemptOutcome | Exception:
    words = error.description or str(error)
    if error.err_code in _WRONG_REVISION:
        return AttemptOutcome.WRONG_REVISION
    if error.err_code in _FULL or "no space" in words:
        return StorageFullError(
            place,
            expected="space for the write",
            got=words,
            hint="Free some space on the server, or raise the limits of JetStream.",
        )
    if error.err_code == _NO_STREAM:
        return StorageDamagedError(
            place,
            expected="the stream that was opened",
            got="none",
            hint="It was deleted on the server: restore it from a backup, or open the store again.",
        )
    if isinstance(error, NotFoundError):
        return error
    if error.code in _LEADERLESS:
        return AttemptOutcome.UNCERTAIN
    return StorageError(
        place, expected="the server to accept it", got=words, hint="See the server's log."
    )
