"""The host of the demo: it answers what people write in a chat, and what servers push.

What comes in waits in a `DurableInbox`, and `work` answers one item after the other. A server gets
`accepted` when its item is answered. Nothing is shown that the compliance server has not seen.
"""

from __future__ import annotations

__all__ = ("Desk",)

import anyio

from kinwire.mcpl import (
    ChannelMessage,
    Channels,
    DurableInbox,
    Hooks,
    Inference,
    McplHost,
    MessageDecision,
    ModelRequest,
    Provider,
    Scopes,
)
from kinwire.storage import Log, Records
from kinwire_cli.demos.mcpl.words import text_of
from kinwire_protocols.mcpl import (
    AfterInferenceParams,
    BeforeInferenceParams,
    ChannelContext,
    ModelInfo,
    RoutingPolicy,
    ScopeRules,
)

MODEL = ModelInfo(id="large-1", vendor="script", context_window=200_000)
_ROOMS = ScopeRules(whitelist=["chat:*"], blacklist=["chat:#board"])


class Desk:
    """A host of MCPL and its model."""

    def __init__(self, provider: Provider, records: Records, audit: Log) -> None:
        self._provider = provider
        self._begun = 0
        self._inbox = DurableInbox(records)
        self._answered, self._answer = 0, anyio.Event()
        self.live = McplHost(
            enabled=["*"],
            disabled=["memory.consolidation"],
            hooks=Hooks(fail_closed=["compliance.*"]),
            inference=Inference(provider=provider, routing=RoutingPolicy(default="small-1")),
            scopes=Scopes(lists={"channels.publish": _ROOMS, "channels.observe": _ROOMS}),
            channels=Channels(
                on_message=self._decide,
                on_turn=self._inbox.turn,
                default_outgoing=("chat", "chat:#general"),
            ),
            on_push=self._inbox.push,
            records=records,
            audit=audit,
        )

    async def work(self) -> None:
        """Answer what comes in, until this is cancelled."""
        async for item in self._inbox:
            async with item:
                if item.event is not None:
                    said = text_of(item.event.payload.content)
                    begun = self._begin(said, "conv_reminders")
                    item.inference_id = begun.inference_id
                    await self._respond(begun)
                elif item.turn is not None and item.turn.infer:
                    turn = item.turn
                    said = "\n".join(text_of(one.content) for one in turn.messages)
                    await self._respond(
                        self._begin(said, turn.conversation_id, turn.index, turn.channels)
                    )
            self._answered += 1
            self._answer.set()
            self._answer = anyio.Event()

    async def answered(self, number: int) -> None:
        """Wait until that many items have been answered since the beginning."""
        while self._answered < number:
            await self._answer.wait()

    async def _respond(self, work: BeforeInferenceParams) -> None:
        """Answer a message: context, model, redaction, and out to the channel."""
        said = work.user_message
        assert isinstance(said, str)  # `_begin` has put it there
        context = await self.live.before_inference(work)
        request = ModelRequest(MODEL.id, context.chat_messages(said))
        answer = await self._provider.answer(request, None)
        response = await self.live.after_inference(
            AfterInferenceParams(
                inference_id=work.inference_id,
                conversation_id=work.conversation_id,
                turn_index=work.turn_index,
                user_message=said,
                model=MODEL,
                assistant_message=answer.content,
                usage=answer.usage,
            )
        )
        writing = await self.live.channels.write(
            work.conversation_id, inference_id=work.inference_id
        )
        await writing.finish(response)

    async def _decide(self, incoming: ChannelMessage) -> MessageDecision:
        asked = "?" in text_of(incoming.message.content)
        return MessageDecision(conversation_id=incoming.conversation_id or "conv_1", infer=asked)

    def _begin(
        self,
        said: str,
        conversation_id: str,
        index: int = 0,
        channels: ChannelContext | None = None,
    ) -> BeforeInferenceParams:
        """Return what servers get before a new inference."""
        self._begun += 1
        return BeforeInferenceParams(
            inference_id=f"inf_{self._begun}",
            conversation_id=conversation_id,
            turn_index=index,
            user_message=said,
            model=MODEL,
            channels=channels,
        )
