"""Two concurrent requests with the same id on one session over HTTP: which answer goes where."""

from __future__ import annotations

__all__ = ("Outcome", "two_at_once")

from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from typing import Any, NamedTuple

from tests.runtime.transports.fake_clients import RawHttp, message

_ID = 7
_TRIES = 5
_SILENCE = 5.0  # seconds without an answer that count as none; the slow tool takes two


class Outcome(NamedTuple):
    """What the two callers got: the text of a result, the code of an error, None for nothing."""

    first: str | int | None
    second: str | int | None


ONE_AFTER_THE_OTHER = Outcome("first", "second")
"""That is allowed, and happens where the second request overtakes the first."""


def two_at_once(port: int) -> Outcome:
    """Return what a server makes of it that has the tools of `servers/slow_kinwire.py`."""
    with RawHttp(port) as client, ThreadPoolExecutor(1) as threads:
        client.patience = _SILENCE
        outcome = ONE_AFTER_THE_OTHER
        for _ in range(_TRIES):
            first = threads.submit(_answer, client, "slow")
            client.ask(message("ping", "between"))  # by then the first one has arrived, as a rule
            second = _answer(client, "quick")
            outcome = Outcome(first.result(), second)
            if outcome != ONE_AFTER_THE_OTHER:
                break
        return outcome


def _answer(client: RawHttp, tool: str) -> str | int | None:
    try:
        found = client.send(message("tools/call", _ID, name=tool, arguments={}))
    except (OSError, HTTPException):  # silence, or a stream that ends
        return None
    return next(map(_of, found), None)


def _of(answer: Any) -> str | int:
    if "error" in answer:
        return int(answer["error"]["code"])
    return str(answer["result"]["content"][0]["text"])
