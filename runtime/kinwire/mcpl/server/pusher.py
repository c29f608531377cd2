"""Events of a server on their way out: sent again while the host has no room (MCPL 9.4)."""

from __future__ import annotations

__all__ = ("push",)

import random
import secrets
from datetime import UTC, datetime

import anyio

from kinwire.mcpl.rules.retry import is_final, push_delay, taken_before
from kinwire.rpc.errors import RequestTimeoutError
from kinwire.rpc.session import Session
from kinwire.support.validation import checked_count, checked_seconds
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcpl.methods import PUSH_EVENT
from kinwire_protocols.mcpl.models import (
    Content,
    PushEventParams,
    PushEventPayload,
    PushEventResult,
)

_MOST_WAITED = 30.0  # seconds between two attempts


async def push(  # noqa: PLR0913 - one a member of the event, and how to repeat it
    session: Session,
    feature_set: str,
    content: Content,
    *,
    event_id: str | None,
    timestamp: str | None,
    origin: JsonObject | None,
    attempts: int,
    first_delay: float,
) -> PushEventResult:
    """Push an event, with the same id and body each time, and return the last answer."""
    checked_count("HostPeer.push: attempts", attempts, least=1)
    checked_seconds("HostPeer.push: first_delay", first_delay, zero=True)
    params = PushEventParams(
        feature_set=feature_set,
        event_id=event_id or f"evt_{secrets.token_hex(8)}",
        timestamp=timestamp or datetime.now(UTC).isoformat(timespec="milliseconds"),
        origin=origin,
        payload=PushEventPayload(content=content),
    )
    for attempt in range(1, attempts):
        try:
            answer = await session.call(PUSH_EVENT, params)
        except RequestTimeoutError:
            pass
        else:
            if is_final(answer):
                return _read(answer, attempt)
        jitter = random.random()
        delay = push_delay(attempt + 1, first=first_delay, most=_MOST_WAITED, jitter=jitter)
        await anyio.sleep(delay)
    return _read(await session.call(PUSH_EVENT, params), attempts)


def _read(answer: PushEventResult, attempt: int) -> PushEventResult:
    if taken_before(answer, attempt):
        return answer.model_copy(update={"accepted": True, "reason": None})
    return answer
