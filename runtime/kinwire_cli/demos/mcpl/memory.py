"""A memory server: the example of MCPL 15.1, with all of its feature sets.

What it knows goes into the context of an inference, what the user says is remembered after it, the
host's model makes one memory of all, and reminders wait in an outbox until a host takes them. Hours
pass by a tool.
"""

from __future__ import annotations

__all__ = ("FEATURE_SETS", "Memory", "server")

import re
from itertools import count
from typing import Annotated, NamedTuple

from pydantic import Field

from kinwire import Context, KinwireError, RpcError, Server, ToolError
from kinwire.mcpl import McplServer, Outbox
from kinwire_protocols import mcpl

FEATURE_SETS = {
    "memory.retrieval": mcpl.FeatureSet(
        description="Retrieve relevant memories", uses=["contextHooks.beforeInference"]
    ),
    "memory.extraction": mcpl.FeatureSet(
        description="Learn from conversations", uses=["contextHooks.afterInference"]
    ),
    "memory.consolidation": mcpl.FeatureSet(
        description="Summarize memories using AI", uses=["inferenceRequest"]
    ),
    "memory.proactive": mcpl.FeatureSet(
        description="Surface reminders proactively", uses=["pushEvents"]
    ),
}


class Reminder(NamedTuple):
    """Something to remind of."""

    memory_id: str
    text: str
    hour: int


class Memory:
    """What is remembered, and what it is used for."""

    def __init__(self, server: Server, live: McplServer) -> None:
        self._live, self._outbox = live, Outbox(live)
        self.facts = {
            "mem_a1": "Scaling mannequin installation to 8-10 units.",
            "mem_a2": "DMX lighting, X32 audio routing for the mannequins.",
            "mem_b1": "Prefers short answers.",
        }
        self._hour = 9
        text = "You mentioned following up with Alice today"
        self._reminders = {"evt_reminder_001": Reminder("mem_followup", text, hour=14)}
        self._ids = count(1)
        live.on.context_before_inference(self.recall)
        server.tool(self.consolidate)
        server.tool(self.pass_time)

    async def recall(self, params: mcpl.BeforeInferenceParams) -> mcpl.BeforeInferenceResult:
        """Put what is known of the user's words into the system prompt."""
        words = _words(params.user_message)
        known = {key: fact for key, fact in self.facts.items() if words & _words(fact)}
        memories = mcpl.ContextInjection(
            namespace="memory",
            position="system",
            content="\n".join(["<memories>", *known.values(), "</memories>"]),
            metadata={"memoryIds": list(known)},
        )
        return mcpl.BeforeInferenceResult(
            feature_set="memory.retrieval", context_injections=[memories] if known else []
        )

    async def learn(self, params: mcpl.AfterInferenceParams) -> mcpl.AfterInferenceResult:
        """Remember what users say of themselves. Hosts do not wait for the result."""
        said = params.user_message if isinstance(params.user_message, str) else ""
        for sentence in re.split(r"(?<=[.!?])\s+", said):
            if sentence.startswith(("I ", "My ", "We ", "Our ")):
                self.facts[f"mem_{next(self._ids)}"] = sentence
        return mcpl.AfterInferenceResult(feature_set="memory.extraction")

    async def consolidate(self, context: Context) -> str:
        """Have the host's model make one memory of all."""
        host = self._live.of(context)
        if host is None:
            raise ToolError("Memories are consolidated with a host of MCP Live only.")
        old = dict(self.facts)
        question = f"Summarize these memories: {' '.join(old.values())}"
        try:
            async with host.stream("memory.consolidation", question) as answer:
                summary = "".join([delta async for delta in answer])
        except (KinwireError, RpcError) as error:
            raise ToolError(f"The host's model did not answer: {error}") from None
        learned = {key: fact for key, fact in self.facts.items() if key not in old}
        self.facts = {f"mem_{next(self._ids)}": summary, **learned}
        return summary

    async def pass_time(self, hours: Annotated[int, Field(ge=1, le=24)]) -> str:
        """Let hours pass, and remind of what is due then."""
        self._hour += hours
        due = {key: one for key, one in self._reminders.items() if one.hour <= self._hour}
        for event_id, reminder in due.items():
            origin = {"server": "memory", "memoryId": reminder.memory_id}
            await self._outbox.push(
                "memory.proactive", reminder.text, event_id=event_id, origin=origin
            )
            del self._reminders[event_id]
        said = ", ".join(reminder.text for reminder in due.values())
        return f"It is {self._hour % 24}:00. Due: {said or 'nothing'}"


def _words(text: object) -> set[str]:
    """Return the words that tell what a text is about: the longer ones, of one number."""
    said = text.lower() if isinstance(text, str) else ""
    return {word.rstrip("s") for word in re.findall(r"\w{5,}", said)}


live = McplServer(feature_sets=FEATURE_SETS)
server = Server("memory", "1.0", extensions=[live])
memory = Memory(server, live)
# A server has one hook after inference, which other parts of a server may want as well.
live.on.context_after_inference(memory.learn)

if __name__ == "__main__":
    server.run()
