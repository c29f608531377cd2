"""A response of the model on its way to a channel: shown to observers, then delivered (MCPL 14.3).

Only `channels/publish` delivers it. What observers see, in pieces and as a whole, is informative.
"""

from __future__ import annotations

__all__ = ("OutgoingResponse", "observers_of")

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import anyio

from kinwire.managers.ask import Answer, ask, log_failure
from kinwire.mcpl.host.moderation import Draft, Moderator, Stage, not_published
from kinwire.mcpl.host.server_peer import ServerPeer
from kinwire.mcpl.rules.channels import OBSERVE
from kinwire.mcpl.rules.content import blocks_of
from kinwire.mcpl.rules.names import ServerPattern
from kinwire_protocols.mcpl.methods import CHANNELS_OUTGOING_CHUNK, CHANNELS_OUTGOING_COMPLETE
from kinwire_protocols.mcpl.models import (
    ChannelsOutgoingChunkParams,
    ChannelsOutgoingCompleteParams,
    ChannelsPublishParams,
    ChannelsPublishResult,
    Content,
)
from kinwire_protocols.peer import Method

logger = logging.getLogger("kinwire.mcpl")

_MOST_WAITED = 5.0  # seconds for an observer that does not read


@dataclass(slots=True)
class _Observer:
    server: ServerPeer
    feature_set: str
    raw: bool
    shown: int = 0  # pieces

    def may_see(self, channel_id: str) -> bool:
        """Return whether its set is still on, and does not deny the channel."""
        is_on = self.feature_set in self.server.enabled
        return is_on and self.server.scopes.denial(self.feature_set, channel_id) is None


async def observers_of(
    servers: Sequence[ServerPeer], channel_id: str, raw: Iterable[str]
) -> list[_Observer]:
    """Return the servers that may see what goes to a channel, by their sets and scopes."""
    found: dict[int, _Observer] = {}
    patterns = [ServerPattern.read(pattern) for pattern in raw]

    async def look(place: int, server: ServerPeer) -> None:
        name, _ = await server.scopes.set_for(OBSERVE, channel_id)
        if name is not None:
            sees_raw = any(one.matches(server.server_id, name) for one in patterns)
            found[place] = _Observer(server, name, sees_raw)

    async with anyio.create_task_group() as tasks:
        for place, server in enumerate(servers):
            tasks.start_soon(look, place, server)
    return [found[place] for place in sorted(found)]


class OutgoingResponse:
    """One response. Get it from `McplHost.channels.write`."""

    def __init__(
        self,
        draft: Draft,
        observers: list[_Observer],
        moderator: Moderator,
        connector: ServerPeer | None,
    ) -> None:
        assert draft.inference_id is not None
        self._draft = draft
        self._inference_id = draft.inference_id
        self._observers = observers
        self._moderator = moderator
        self._connector = connector
        self._held = ""

    async def write(self, delta: str) -> None:
        """Show the next piece to observers, moderated or raw."""
        if not self._observers:
            return
        text = self._held + delta
        draft = replace(self._draft, stage="chunk", content=text)
        verdict, moderated = await self._moderator.judge(draft)
        self._held = text if verdict.action == "hold" else ""
        for observer in self._observers:
            piece = delta if observer.raw else moderated
            if piece is not None:
                params = ChannelsOutgoingChunkParams(
                    inference_id=self._inference_id,
                    conversation_id=self._draft.conversation_id,
                    channel_id=self._draft.channel_id,
                    index=observer.shown,
                    delta=str(piece),
                )
                observer.shown += await _show(observer, CHANNELS_OUTGOING_CHUNK, params)

    async def finish(self, content: Content) -> ChannelsPublishResult | None:
        """Show the whole response to observers and publish it; return the answer of the channel.

        It is moderated once. What moderation drops or holds is shown only to observers that see raw
        content. A string is sent as one text block. Thoughts are not published, and the result is
        None.

        Raises:
            NotPublishedError, RpcError, CapabilityNotNegotiatedError, ConnectionClosedError,
            RequestTimeoutError, InvalidResponseError: as for `ServerChannels.publish`.
        """
        stage: Stage = "complete" if self._connector is None else "publish"
        draft = replace(self._draft, stage=stage, content=blocks_of(content))
        if self._connector is None and not self._observers:
            return None
        verdict, moderated = await self._moderator.judge(draft)
        await self._show_whole(draft, moderated)
        if self._connector is None:
            return None
        if moderated is None:
            raise not_published(draft, verdict)
        params = ChannelsPublishParams(
            channel_id=draft.channel_id,
            conversation_id=draft.conversation_id,
            content=blocks_of(moderated),
        )
        return await self._connector.channels.publish_moderated(params)

    async def _show_whole(self, draft: Draft, moderated: Content | None) -> None:
        for observer in self._observers:
            shown = draft.content if observer.raw else moderated
            if shown is not None:
                params = ChannelsOutgoingCompleteParams(
                    inference_id=self._inference_id,
                    conversation_id=draft.conversation_id,
                    channel_id=draft.channel_id,
                    content=blocks_of(shown),
                )
                await _show(observer, CHANNELS_OUTGOING_COMPLETE, params)


async def _show(observer: _Observer, method: Method[Any, None], params: Any) -> bool:
    """Send a notification to an observer, and return whether it was sent."""
    if not observer.may_see(params.channel_id):
        return False
    session = observer.server.session
    shown = await ask(
        lambda params: session.notify_if_negotiated(method, params),
        params,
        name=method.name,
        timeout=_MOST_WAITED,
        expects=bool,
    )
    if isinstance(shown, Answer):
        return shown.value
    log_failure(logger, shown, "%s was not shown what goes out", observer.server.id)
    return False
