"""The servers of this folder as one: what `kinwire serve demo mcpl` serves."""

from __future__ import annotations

__all__ = ("server",)

from kinwire import Context, Server
from kinwire.mcpl import McplServer
from kinwire_cli.demos.mcpl import chat, memory, notes, redaction
from kinwire_cli.demos.mcpl.rooms import Rooms
from kinwire_protocols.mcpl import AfterInferenceParams, AfterInferenceResult

live = McplServer(
    feature_sets={
        **memory.FEATURE_SETS,
        **redaction.FEATURE_SETS,
        **notes.FEATURE_SETS,
        **chat.FEATURE_SETS,
    },
    tools=notes.TOOLS,
    channels=chat.CHANNELS,
    blocking=True,
)
server = Server("kinwire-demo-mcpl", "1.0", extensions=[live])
remembering = memory.Memory(server, live)
notes.Notes(server, live)
chat.Connector(server, live, Rooms())


@live.on.context_after_inference
async def after_inference(params: AfterInferenceParams, context: Context) -> AfterInferenceResult:
    """Learn and redact: a server has one hook after inference, whatever sets use it."""
    host = live.of(context)
    if host is not None and "memory.extraction" in host.enabled:
        await remembering.learn(params)
    return await redaction.redact(params)
