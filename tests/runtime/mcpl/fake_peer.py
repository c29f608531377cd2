"""A third-party peer: it answers from a table and sends what a test passes, byte for byte.

No session of ours is behind it, so ids, shapes and silence are its own.
"""

from __future__ import annotations

__all__ = ("INFO", "NOTHING", "Fake", "outcome", "refused")

from collections.abc import Awaitable
from typing import Any

from kinwire.rpc.errors import RequestTimeoutError, RpcError
from kinwire_protocols.base import JsonObject
from tests.runtime.raw_end import RawEnd

INFO = {"name": "elsewhere", "version": "0"}
NOTHING: Any = object()
"""The answer of a peer that leaves a request unanswered."""


def refused(code: int, message: str) -> JsonObject:
    """Return the answer that is an error."""
    return {"error": {"code": code, "message": message}}


async def outcome(doing: Awaitable[Any]) -> Any:
    """Return what comes of it; of an error its code."""
    try:
        return await doing
    except RpcError as error:
        return error.code
    except RequestTimeoutError:
        return "no answer"


class Fake(RawEnd):
    """One end of a transport. What the table lacks is answered as an unknown method."""

    def __init__(self, answers: dict[str, Any]) -> None:
        super().__init__()
        self.answers = answers

    def reply_to(self, message: JsonObject) -> JsonObject | None:
        answer = self.answers.get(message["method"], refused(-32601, "Method not found"))
        if answer is NOTHING:
            return None
        return answer if list(answer) == ["error"] else {"result": answer}
