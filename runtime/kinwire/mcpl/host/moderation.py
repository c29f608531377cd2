"""Moderation: content is checked before it is published or shown to observers (MCPL 14.5).

The host's own function decides. If it fails or is late, nothing is sent.
"""

from __future__ import annotations

__all__ = ("Draft", "Moderate", "Moderator", "Stage", "Verdict", "not_published")

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from kinwire.managers.ask import Answer, Late, ask
from kinwire.mcpl.errors import NotPublishedError
from kinwire.mcpl.rules.content import blocks_of
from kinwire.support.arguments import TEXT, ArgumentCheck, instance_of, list_of, one_of
from kinwire.support.validation import expect_type
from kinwire_protocols.base import Message
from kinwire_protocols.mcpl.models import Content

logger = logging.getLogger("kinwire.mcpl")


Stage = Literal["publish", "chunk", "complete"]
"""Whether content goes to a channel and to observers (`publish`), or to observers alone: a piece
(`chunk`), or the whole of what is not published (`complete`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """Content that is about to be sent."""

    stage: Stage
    channel_id: str
    content: Content
    """A list of blocks; for a piece text: what was held of earlier pieces, and the new one."""
    conversation_id: str | None = None
    inference_id: str | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision about a draft.

    `hold` keeps a piece back and puts it in front of the next one; other content that is held is
    not sent, and may be published again later.
    """

    action: Literal["pass", "change", "hold", "drop"] = "pass"
    content: Content | None = None
    """What is sent instead, if the action is `change`; a string is sent as one text block."""
    reason: str | None = None

    def __post_init__(self) -> None:
        _VERDICT.check(action=self.action, content=self.content, reason=self.reason)


_VERDICT = ArgumentCheck(
    "Verdict",
    "Verdict()",
    {},
    action=one_of("pass", "change", "hold", "drop"),
    content=list_of(
        instance_of(Message, "a block", 'TextContent(text="...")'), "several blocks"
    ).or_text.or_none,
    reason=TEXT.or_none,
)
_PASS = Verdict()

Moderate = Callable[[Draft], Awaitable[Verdict]]
"""Decides about a draft."""


class Moderator:
    """The moderation of one host; without a function everything passes."""

    def __init__(self, moderate: Moderate | None, timeout: float) -> None:
        self._moderate = moderate
        self._timeout = timeout

    async def judge(self, draft: Draft) -> tuple[Verdict, Content | None]:
        """Return the verdict, and the content to send: None for nothing."""
        if self._moderate is None:
            return _PASS, draft.content
        judged = await ask(
            partial(_judged, self._moderate),
            draft,
            name="Channels.moderate",
            timeout=self._timeout,
            expects=tuple,
        )
        if isinstance(judged, Answer):
            return judged.value
        if isinstance(judged, Late):
            logger.warning("%s: moderation was late, and nothing goes out", draft.channel_id)
            return Verdict("drop", reason="moderation failed"), None
        logger.error(
            "%s: moderation failed, and nothing goes out", draft.channel_id, exc_info=judged.error
        )
        return Verdict("drop", reason="moderation failed"), None


async def _judged(moderate: Moderate, draft: Draft) -> tuple[Verdict, Content | None]:
    verdict = expect_type("Channels.moderate", await moderate(draft), Verdict)
    return verdict, _outgoing(draft, verdict)


def not_published(draft: Draft, verdict: Verdict) -> NotPublishedError:
    """Return the error for a draft that the verdict keeps from its channel."""
    held = verdict.action == "hold"
    return NotPublishedError(draft.channel_id, verdict.reason, held=held)


def _outgoing(draft: Draft, verdict: Verdict) -> Content | None:
    if verdict.action == "pass":
        return draft.content
    if verdict.action != "change":
        return None
    if verdict.content is None or (draft.stage == "chunk" and not isinstance(verdict.content, str)):
        raise TypeError("Verdict.content: expected what goes out, text for a piece")
    return verdict.content if draft.stage == "chunk" else blocks_of(verdict.content)
