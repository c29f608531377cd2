"""The host of the demo: it answers what people write in a chat, and what servers push.

What comes in waits in `work` until `respond` takes it, which other hosts run in a task of its own.
Nothing is shown that the compliance server has not seen.
"""

from __future__ import annotations

__all__ = ("Desk",)

from collections import deque
from collections.abc import Iterable

from kinwire.mcpl import (
    ChannelMessage,
    Channels,
    Hooks,
    Inference,
    Injection,
    McplHost,
    MessageDecision,
    ModelRequest,
    Provider,
    PushedEvent,
    Scopes,
    UserTurn,
)
from kinwire.storage.log import Log
from kinwire_cli.demos.mcpl.words import text_of
from kinwire_protocols.mcpl import (
    AfterInferenceParams,
    BeforeInferenceParams,
    ChannelContext,
    InferenceMessage,
    ModelInfo,
    PushEventResult,
    RoutingPolicy,
    ScopeRules,
)

MODEL = ModelInfo(id="large-1", vendor="script", context_window=200_000)
_ROOMS = ScopeRules(whitelist=["chat:*"], blacklist=["chat:#board"])


class Desk:
    """A host of MCPL and its model."""

    def __init__(self, provider: Provider, audit: Log) -> None:
        self._provider = provider
        self._begun = 0
        self.work: deque[BeforeInferenceParams] = deque()
        self.live = McplHost(
            enabled=["*"],
            disabled=["memory.consolidation"],
            hooks=Hooks(fail_closed=["compliance.*"]),
            inference=Inference(provider=provider, routing=RoutingPolicy(default="small-1")),
            scopes=Scopes(lists={"channels.publish": _ROOMS, "channels.observe": _ROOMS}),
            channels=Channels(
                on_message=self._decide,
                on_turn=self._take_turn,
                default_outgoing=("chat", "chat:#general"),
            ),
            on_push=self._take_event,
            audit=audit,
        )

    async def respond(self) -> None:
        """Answer what has waited longest: context, model, redaction, and out to the channel."""
        work = self.work.popleft()
        said = work.user_message
        assert isinstance(said, str)  # `_begin` has put it there
        context = await self.live.before_inference(work)
        messages = [
            *_messages("system", context.system),
            *_messages("user", context.before_user),
            InferenceMessage(role="user", content=said),
            *_messages("user", context.after_user),
        ]
        answer = await self._provider.answer(ModelRequest(MODEL.id, messages), None)
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

    async def _take_turn(self, turn: UserTurn) -> None:
        if turn.infer:
            said = "\n".join(text_of(one.content) for one in turn.messages)
            self._begin(said, turn.conversation_id, turn.index, turn.channels)

    async def _take_event(self, event: PushedEvent) -> PushEventResult:
        said = text_of(event.params.payload.content)
        return PushEventResult(accepted=True, inference_id=self._begin(said, "conv_reminders"))

    def _begin(
        self,
        said: str,
        conversation_id: str,
        index: int = 0,
        channels: ChannelContext | None = None,
    ) -> str:
        """Put something to do with the rest, and return the id of its inference."""
        self._begun += 1
        inference_id = f"inf_{self._begun}"
        self.work.append(
            BeforeInferenceParams(
                inference_id=inference_id,
                conversation_id=conversation_id,
                turn_index=index,
                user_message=said,
                model=MODEL,
                channels=channels,
            )
        )
        return inference_id


def _messages(role: str, injections: Iterable[Injection]) -> list[InferenceMessage]:
    return [InferenceMessage(role=role, content=list(one.content)) for one in injections]
