"""What is looked at before it goes out to a channel or is shown to observers (MCPL 14.5).

The host's own function decides. If it fails or is late, nothing goes out.
"""

from __future__ import annotations

__all__ = ("Draft", "Moderate", "Moderator", "Verdict")

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

import anyio

from kinwire_protocols.mcpl.models import Content

logger = logging.getLogger("kinwire.mcpl")


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What is about to go out."""

    stage: Literal["publish", "chunk", "complete"]
    """To the channel itself, or to observers: a piece, or the whole."""
    channel_id: str
    content: Content
    """A piece is text: what was held of the pieces before, and the new one."""
    conversation_id: str | None = None
    inference_id: str | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of it.

    `hold` keeps a piece back and puts it before the next one; other content that is held does not
    go out, and may be tried again.
    """

    action: Literal["pass", "change", "hold", "drop"] = "pass"
    content: Content | None = None
    """What goes out instead, if the action is `change`."""
    reason: str | None = None


Moderate = Callable[[Draft], Awaitable[Verdict]]
"""Decides what becomes of a draft."""


class Moderator:
    """The moderation of one host; without a function everything passes."""

    def __init__(self, moderate: Moderate | None, timeout: float) -> None:
        self._moderate = moderate
        self._timeout = timeout

    async def judge(self, draft: Draft) -> tuple[Verdict, Content | None]:
        """Return the verdict, and what goes out: None for nothing."""
        if self._moderate is None:
            return Verdict(), draft.content
        try:
            with anyio.fail_after(self._timeout):
                verdict = await self._moderate(draft)
            return verdict, _outgoing(draft, verdict)
        except Exception:
            logger.exception("%s: moderation failed, and nothing goes out", draft.channel_id)
            return Verdict("drop", reason="moderation failed"), None


def _outgoing(draft: Draft, verdict: Verdict) -> Content | None:
    if verdict.action == "pass":
        return draft.content
    if verdict.action != "change":
        return None
    if verdict.content is None or (draft.stage == "chunk" and not isinstance(verdict.content, str)):
        raise TypeError("Verdict.content: expected what goes out, text for a piece")
    return verdict.content
