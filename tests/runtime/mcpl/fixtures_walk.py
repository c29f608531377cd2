"""A host that goes through all of MCPL with the server of `programs/live.py`, and what it leaves.

Every step is over before the next one begins, so the order in which things go over the wire is
that of the steps, whatever ways there are.
"""

from __future__ import annotations

__all__ = ("Transcript", "Walk")

import json
import re
from collections.abc import AsyncGenerator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest

from kinwire import Host, RpcError
from kinwire.mcp.connection import Connection
from kinwire.mcpl import (
    ChannelMessage,
    Channels,
    Inference,
    McplHost,
    MessageDecision,
    ModelAnswer,
    PushedEvent,
    ScopeDeniedError,
    ScopeRequest,
    Scopes,
    ScriptedProvider,
    ServerPeer,
    UserTurn,
)
from kinwire.rpc.transport import Transport
from kinwire.storage import Log, open_store
from kinwire_protocols import mcp, mcpl
from kinwire_protocols.base import to_wire
from kinwire_protocols.mcpl import ScopeRules
from tests.runtime.transports.fixtures_recorded import Recorded

PATIENCE = 30.0  # seconds for all of it
MODEL = mcpl.ModelInfo(id="big", vendor="them", context_window=200_000, capabilities=["tools"])
LISTS = {"notes.edit": ScopeRules(whitelist=["/home/**"], blacklist=["**/.env"])}
_CHECKPOINT = re.compile(r"chk_[0-9a-f]{16}-[0-9a-f]{8}")
TURN: dict[str, Any] = {
    "inference_id": "inf_7",
    "conversation_id": "conv_t_1",
    "turn_index": 0,
    "user_message": "Tea?",
    "model": MODEL,
}


@dataclass(frozen=True, slots=True)
class Transcript:
    """The record of one walk, with random parts replaced."""

    asked: list[Any]
    """The host's requests and notifications."""
    answered: list[Any]
    """Its answers."""
    served: list[Any]
    """The server's answers."""
    said: list[Any]
    """The server's requests and notifications."""
    found: list[Any]
    """What the host's program saw."""
    audited: list[Any]


def scope_of(tool: str, arguments: dict[str, Any]) -> tuple[str, str, dict[str, Any]] | None:
    if tool == "add_note":
        return "notes.edit", arguments["place"], {"place": arguments["place"]}
    return None


@dataclass
class Program:
    """The program of the host: it records what it gets, and approves."""

    found: list[Any] = field(default_factory=list[Any])

    async def allow(self, request: ScopeRequest) -> bool:
        self.found.append(["asked", request.label, request.tool])
        return not request.label.startswith("/etc/shadow")

    async def take(self, event: PushedEvent) -> mcpl.PushEventResult:
        self.found.append(["event", event.params.event_id, event.again])
        return mcpl.PushEventResult(accepted=True, inference_id=f"of_{event.params.event_id}")

    async def decide(self, incoming: ChannelMessage) -> MessageDecision:
        thread = incoming.message.thread_id
        return MessageDecision(
            conversation_id=incoming.conversation_id or f"conv_{thread}", infer=True
        )

    async def turn(self, turn: UserTurn) -> None:
        ids = [one.message_id for one in turn.messages]
        self.found.append(["turn", turn.conversation_id, turn.index, ids, to_wire(turn.channels)])

    def host(self, audit: Log) -> McplHost:
        answers = [ModelAnswer(f"Tea is answer {number}", "big-1", "stop") for number in range(4)]
        return McplHost(
            enabled=["*"],
            disabled=["memory.think"],
            scopes=Scopes(lists=LISTS, scope_of=scope_of, ask=self.allow),
            channels=Channels(on_message=self.decide, on_turn=self.turn),
            inference=Inference(
                provider=ScriptedProvider(*answers),
                routing=mcpl.RoutingPolicy(default="big"),
                model=MODEL,
            ),
            on_push=self.take,
            audit=audit,
            clock=lambda: 1000.0,
        )


class Walk:
    """The steps."""

    def __init__(self, transport: Transport) -> None:
        self.recorded = Recorded(transport)
        self.program = Program()
        self.found = self.program.found
        self.connection: Connection
        self.live: ServerPeer
        self.mcpl: McplHost
        self._log: Log

    async def run(self) -> Transcript:
        """Do all of it, and return what it left."""
        with anyio.fail_after(PATIENCE):
            async with open_store("memory:") as store:
                self._log = await store.log("audit")
                async with self._connected():
                    for step in (sets, scopes, state, events, inference, hooks, by_itself, talk):
                        await step(self)
                audited = [one.value for one in await self._log.read()]
        return _transcript(self.recorded.messages, self.found, audited)

    async def call(self, tool: str, **arguments: Any) -> Any:
        """Return what a tool says."""
        result = await self.connection.mcp.tools_call(name=tool, arguments=arguments)
        assert not result.is_error, result
        texts = [block.text for block in result.content if isinstance(block, mcp.TextContent)]
        return json.loads(texts[0]) if texts else None

    async def note(self, tool: str, **arguments: Any) -> None:
        """Call a tool, and keep what it says."""
        self.found.append([tool, await self.call(tool, **arguments)])

    async def refused(self, doing: Awaitable[Any]) -> None:
        """Keep the code of the error that something earns."""
        with pytest.raises(RpcError) as raised:
            await doing
        self.found.append(["error", raised.value.code])

    async def audited(self, method: str, times: int = 1) -> None:
        """Wait until what the server sends by itself is done with; `run` limits the time."""
        while [one.value["method"] for one in await self._log.read()].count(method) < times:
            await anyio.lowlevel.checkpoint()

    @asynccontextmanager
    async def _connected(self) -> AsyncGenerator[None]:
        self.mcpl = self.program.host(self._log)
        async with Host("walk", "1.0", extensions=[self.mcpl]) as host:
            self.connection = await host.connect(self.recorded)
            live = self.mcpl.of(self.connection)
            assert live is not None
            self.live = live
            yield


async def sets(walk: Walk) -> None:
    live = walk.live
    await walk.audited("channels/register")  # which the first update leads to
    await walk.note("switched")
    await walk.note("press", feature_set="memory.think")
    await walk.note("press", feature_set="nobody")
    await live.enable("memory.*")
    await live.disable("memory.remind")
    await walk.note("press", feature_set="memory.remind")
    await live.enable("memory.remind")
    await walk.call("declare", name="memory.late")
    await walk.audited("featureSets/changed", 1)
    await walk.note("press", feature_set="memory.late")
    await walk.call("declare", name="memory.late", gone=True)
    await walk.audited("featureSets/changed", 2)
    await walk.note("press", feature_set="memory.late")
    await walk.note("switched")


async def scopes(walk: Walk) -> None:
    for label in ("/home/a", "/home/.env", "/etc/hosts", "/etc/hosts", "/etc/shadow"):
        await walk.note("elevate", label=label)
    await walk.live.scopes.set("notes.edit", whitelist=["/home/**", "/tmp/**"])
    await walk.note("elevate", label="/tmp/x")
    await walk.live.scopes.revoke("notes.edit")
    await walk.note("elevate", label="/etc/hosts")


async def state(walk: Walk) -> None:
    for number in range(3):
        await walk.note("add_note", text="x" * 40 + str(number), place="/home/a")
    with pytest.raises(ScopeDeniedError):
        await walk.call("add_note", text="no", place="/etc/shadow")
    kept = await walk.live.state("notes.edit")
    first = kept.tree.checkpoints[0].id
    assert (await kept.roll_back(first)).success
    await walk.note("add_note", text="another", place="/home/a")
    assert len(kept.tree[first].children) == 2
    walk.found.append([one.data for one in kept.tree.checkpoints])
    await walk.refused(kept.roll_back("chk_gone"))


async def events(walk: Walk) -> None:
    await walk.note("push", event_id="evt_1", text="Call Alice")
    await walk.note("push", event_id="evt_1", text="Call Alice")
    await walk.note("push", event_id="evt_1", text="Call Bob")


async def inference(walk: Walk) -> None:
    await walk.note("think", question="Why?")
    await walk.note("think_aloud", question="How?")
    await walk.note("model")


async def hooks(walk: Walk) -> None:
    injected = await walk.mcpl.before_inference(mcpl.BeforeInferenceParams(**TURN))
    for one in (*injected.system, *injected.before_user, *injected.after_user):
        walk.found.append([one.feature_set, [to_wire(block) for block in one.content]])
    said = mcpl.AfterInferenceParams(**TURN, assistant_message="It is a secret.")
    walk.found.append(await walk.mcpl.after_inference(said))


async def by_itself(walk: Walk) -> None:
    """Notify the server of an inference, which asks a few things that nobody waits for."""
    hooks_there = mcpl.ServerStub(walk.connection)
    await hooks_there.notify_context_after_inference(**TURN, assistant_message="It is tea.")
    await walk.audited("channels/incoming")


async def talk(walk: Walk) -> None:
    channels = walk.live.channels
    await walk.note("channels")
    walk.found.append([one.id for one in await channels.listed()])
    opened = await channels.open("chat", {"name": "#new"})
    await walk.note("bring", messages=["1", "2"], thread_id="t_2")
    await walk.note("bring", messages=["2", "3"], thread_id="t_2")
    walk.found.append(to_wire(await channels.publish(opened.id, "Hello")))
    await channels.send("chat:#news", "News", stream=True)
    response = await walk.mcpl.channels.write("conv_t_2", inference_id="inf_8")
    for piece in ("He", "llo"):
        await response.write(piece)
    await response.finish("Hello")
    assert await channels.close(opened.id)
    await walk.refused(mcpl.ServerStub(walk.connection).channels_close(channel_id=opened.id))
    for times, back in enumerate((False, True), 1):
        await walk.call("move", back=back)
        await walk.audited("channels/changed", times)
        walk.found.append([[one.id, one.label] for one in channels.known])
    await walk.note("heard")


def _transcript(
    messages: list[tuple[str, Any]], found: list[Any], audited: list[Any]
) -> Transcript:
    text = json.dumps([messages, found, audited])
    for number, drawn in enumerate(dict.fromkeys(_CHECKPOINT.findall(text))):
        text = text.replace(drawn, f"checkpoint {number}")
    messages, found, audited = json.loads(text)
    parts = Transcript([], [], [], [], found, audited)
    for sender, message in messages:
        if sender == "client":
            (parts.asked if "method" in message else parts.answered).append(message)
        else:
            (parts.said if "method" in message else parts.served).append(message)
    return parts
