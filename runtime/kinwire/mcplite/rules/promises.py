"""The states of a promise, and what redeeming it does (MCP-lite 0.042 section 3.5).

A promise is `pending` until its work is over; then it is `done`, or `failed` if nobody could finish
the work, or `cancelled`. It expires in any state. Times are in seconds since 1970.
"""

from __future__ import annotations

__all__ = (
    "TOKEN_SIZE",
    "PendingPromise",
    "PromiseRecord",
    "Redeemed",
    "Refused",
    "begun_promise",
    "cancelled",
    "finished_promise",
    "poll_after",
    "promise_meta",
    "redeemed",
    "repeated_token",
    "token_name",
    "token_of",
    "unavailable",
)

import hmac
from base64 import urlsafe_b64encode
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Final, Literal

from kinwire.managers.tool_outcomes import ToolError
from kinwire.mcplite.rules.limits import LiteLimits
from kinwire.support.timestamps import timestamp_of
from kinwire_protocols.base import JsonObject

PromiseState = Literal["pending", "done", "failed", "cancelled"]

TOKEN_SIZE: Final = 32
"""Random bytes of a token: 256 bits."""

_GROWTH = 0.25  # the part of the time since the beginning that a client waits next
_UNAVAILABLE = (
    "There is no promise that can be redeemed by this token: it is unknown, has expired, or was "
    "cancelled. Call the tool again."
)


@dataclass(frozen=True, slots=True)
class PromiseRecord:
    """A promise, as it is stored under the digest of its token."""

    owner: str
    """A digest of who may redeem it."""
    worker: str
    """The process that works on it."""
    state: PromiseState
    begun_at: float
    expires_at: float
    estimate: float | None = None
    """When the result may be there."""
    result: JsonObject | None = None
    """The whole final result; None while it is pending, and if it was cancelled."""
    is_redeemed: bool = False
    """Whether the final result was fetched once."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The token cannot be redeemed, for whatever reason."""


@dataclass(frozen=True, slots=True)
class PendingPromise:
    """The work is not over."""

    record: PromiseRecord


@dataclass(frozen=True, slots=True)
class Redeemed:
    """The final result is there."""

    result: JsonObject
    write: PromiseRecord | None
    """What to store because it was redeemed first; None later."""


_REFUSED: Final = Refused()


def token_of(bits: bytes) -> str:
    """Return the token for random bits: at least 256."""
    return urlsafe_b64encode(bits).rstrip(b"=").decode()


def repeated_token(nonce: str, owner: str, key: str) -> str:
    """Return the token of the work with an idempotency key: the same for each repetition.

    `nonce` is 256 random bits that are stored with the work, so `key` alone finds nothing.
    """
    return token_of(hmac.digest(nonce.encode(), f"{owner}\n{key}".encode(), "sha256"))


def token_name(token: str) -> str:
    """Return the digest by which a token is stored."""
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def begun_promise(
    owner: str, worker: str, *, now: float, estimated: float | None, limits: LiteLimits
) -> PromiseRecord:
    """Return the record of work that begins; `estimated` is how long it may take, in seconds."""
    estimate = None if estimated is None else now + estimated
    return PromiseRecord(owner, worker, "pending", now, now + limits.token_life, estimate)


def redeemed(
    record: PromiseRecord | None, owner: str, *, now: float, limits: LiteLimits
) -> Refused | PendingPromise | Redeemed:
    """Decide what redeeming a token gives. `record` is None if the token is unknown."""
    known = hmac.compare_digest("" if record is None else record.owner, owner)
    if record is None or not known or now >= record.expires_at or record.state == "cancelled":
        return _REFUSED
    if record.result is None:
        return PendingPromise(record)
    if record.is_redeemed:
        return Redeemed(record.result, None)
    until = min(record.expires_at, now + limits.result_kept)
    return Redeemed(record.result, replace(record, is_redeemed=True, expires_at=until))


def finished_promise(
    record: PromiseRecord, result: JsonObject, *, lost: bool = False
) -> PromiseRecord | None:
    """Return the record with its final result; None if it has come to an end before."""
    if record.state != "pending":
        return None
    return replace(record, state="failed" if lost else "done", result=result)


def cancelled(record: PromiseRecord) -> PromiseRecord | None:
    """Return the record of a promise that is given up; None if it has come to an end before."""
    return replace(record, state="cancelled") if record.state == "pending" else None


def poll_after(record: PromiseRecord, *, now: float, limits: LiteLimits) -> float:
    """Return after how many seconds to redeem again.

    That is when the result may be there; without an estimate, and after it, the wait grows with the
    time since the beginning.
    """
    wait = (now - record.begun_at) * _GROWTH
    if record.estimate is not None and record.estimate > now:
        wait = record.estimate - now
    return min(max(wait, limits.poll), limits.longest_poll)


def promise_meta(
    record: PromiseRecord, token: str, *, now: float, limits: LiteLimits
) -> JsonObject:
    """Return the `_meta` of a promise (section A.3)."""
    wait = poll_after(record, now=now, limits=limits)
    expected = now + wait if record.estimate is None else max(record.estimate, now)
    return {
        "response_type": "promise",
        "promise_token": token,
        "estimated_completion": timestamp_of(expected),
        "expires_at": timestamp_of(record.expires_at),
        "retry_after_ms": round(wait * 1000),
    }


def unavailable() -> ToolError:
    """Return the failure of a token that cannot be redeemed: the same for every reason."""
    return ToolError(_UNAVAILABLE, code="PROMISE_UNAVAILABLE")
