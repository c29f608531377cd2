"""Servers that speak in hooks, and a host that asks them."""

from __future__ import annotations

__all__ = ("AFTER", "BEFORE", "MODEL", "Speaker", "after", "before", "hooked", "texts")

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio

from kinwire import Host, Server
from kinwire.mcpl import Hooks, Injection, McplHost, McplServer
from kinwire.support.background import background
from kinwire.transports.memory import memory_pair
from kinwire_protocols import mcp, mcpl
from tests.runtime.mcpl.fixtures_pairs import feature

BEFORE, AFTER = "contextHooks.beforeInference", "contextHooks.afterInference"
MODEL = mcpl.ModelInfo(id="claude-opus-4-5-20251101", vendor="anthropic", context_window=200_000)
TURN: dict[str, Any] = {
    "inference_id": "inf_1",
    "conversation_id": "conv_1",
    "turn_index": 0,
    "user_message": None,
    "model": MODEL,
}


class Speaker:
    """A server with one set for both hooks; what it does in them is up to the test."""

    def __init__(self, name: str, *uses: str, blocking: bool = True) -> None:
        self.name = name
        sets = {f"{name}.all": feature(*(uses or (BEFORE, AFTER, "inferenceRequest")))}
        self.live = McplServer(feature_sets=sets, blocking=blocking)
        self.server = Server(name, "1", extensions=[self.live])
        self.before: Any = None
        self.after: Any = None
        self.heard: list[Any] = []
        self.live.on.context_before_inference(self._before)
        self.live.on.context_after_inference(self._after)

    async def _before(self, params: mcpl.BeforeInferenceParams) -> mcpl.BeforeInferenceResult:
        self.heard.append(params)
        answer = self.before
        if callable(answer):
            answer = await answer()
        given = [] if answer is None else answer
        made = [
            one
            if isinstance(one, mcpl.ContextInjection)
            else mcpl.ContextInjection(namespace=self.name, position="system", content=one)
            for one in given
        ]
        return mcpl.BeforeInferenceResult(feature_set=f"{self.name}.all", context_injections=made)

    async def _after(self, params: mcpl.AfterInferenceParams) -> mcpl.AfterInferenceResult:
        self.heard.append(params.assistant_message)
        changed = self.after
        if callable(changed):
            changed = await changed()
        return mcpl.AfterInferenceResult(feature_set=f"{self.name}.all", modified_response=changed)


@asynccontextmanager
async def hooked(
    *speakers: Speaker, hooks: Hooks | None = None, **host: Any
) -> AsyncGenerator[McplHost]:
    live = McplHost(enabled=["*"], hooks=hooks, **host)
    with anyio.fail_after(20):
        async with background() as tasks, Host("h", "1", extensions=[live]) as opened:
            for speaker in speakers:
                host_end, server_end = memory_pair()
                tasks.start_soon(speaker.server.serve, server_end)
                await opened.connect(host_end, server_id=speaker.name)
            yield live


def before(**changes: Any) -> mcpl.BeforeInferenceParams:
    return mcpl.BeforeInferenceParams(**{**TURN, **changes})


def after(text: str) -> mcpl.AfterInferenceParams:
    return mcpl.AfterInferenceParams(
        **TURN,
        assistant_message=text,
        usage=mcpl.TokenUsage(input_tokens=1250, output_tokens=340),
    )


def texts(injections: list[Injection]) -> list[str]:
    return [
        block.text
        for one in injections
        for block in one.content
        if isinstance(block, mcp.TextContent)
    ]
