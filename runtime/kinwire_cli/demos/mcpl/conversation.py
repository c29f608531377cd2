"""What happens in the demo of MCP Live, step by step. It is the same each time, and ends by itself.

The model reads from a script; everything else is what it is: four servers behind transports, and a
host, which talk MCPL with each other.
"""

from __future__ import annotations

__all__ = ("converse",)

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from kinwire import Connection, Host, RpcError, result_text
from kinwire.mcpl import ModelAnswer, ScriptedProvider, ServerPeer
from kinwire.rpc.transport import Transport
from kinwire.storage import open_store
from kinwire.storage.log import Log
from kinwire.support.background import background
from kinwire_cli.demos import SERVERS
from kinwire_cli.demos.mcpl.desk import Desk
from kinwire_cli.demos.mcpl.wire import NarratedExtension, NarratedProvider, ShortIdNarrator
from kinwire_cli.demos.narration import Line, Narrator
from kinwire_protocols.mcpl import TokenUsage

_ANSWERS = (
    ModelAnswer(
        "It grows to 8-10 units. The key of the desk is sk-1234567890abcdef.",
        "large-1",
        usage=TokenUsage(input_tokens=58, output_tokens=21),
    ),
    ModelAnswer(
        "Emma, you wanted to follow up with Alice today.",
        "large-1",
        usage=TokenUsage(input_tokens=24, output_tokens=11),
    ),
    ModelAnswer(
        "Emma scales lit mannequins.",
        "small-1",
        usage=TokenUsage(input_tokens=44, output_tokens=6),
    ),
)


@dataclass(frozen=True, slots=True)
class Stage:
    """The host with its servers, and the narrator of what they do."""

    desk: Desk
    connections: Mapping[str, Connection]
    narrator: Narrator
    audit: Log

    def live(self, server: str) -> ServerPeer:
        """Return a server, as a host of MCPL has it."""
        found = self.desk.live.of(self.connections[server])
        assert found is not None  # all of them speak it
        return found

    async def answered(self, server: str, number: int) -> None:
        """Wait until the host has answered that many items, the last one of `server`."""
        await self.desk.answered(number)
        await self.connections[server].mcp.ping()  # its item was confirmed before this

    async def call(self, server: str, tool: str, **arguments: object) -> str:
        """Call a tool, and return the text of its result."""
        result = await self.connections[server].mcp.tools_call(name=tool, arguments=arguments)
        return result_text(result)


async def converse(reach: Callable[[str], Transport], narrator: Narrator) -> None:
    """Play it all, with the servers that `reach` gives by name, and tell it.

    Raises:
        KinwireError, RpcError: a server cannot be started, or does not do as it should.
    """
    narration = ShortIdNarrator(narrator)
    async with open_store("memory:") as store:
        audit, records = await store.log("audit"), await store.records("mcpl")
        desk = Desk(NarratedProvider(ScriptedProvider(*_ANSWERS), narration), records, audit)
        async with (
            Host("desk", "1.0", extensions=[NarratedExtension(desk.live, narration)]) as host,
            background() as tasks,
        ):
            tasks.start_soon(desk.work)
            narration.begin("Four servers, each on a connection of its own")
            connections: dict[str, Connection] = {}
            for name in SERVERS["mcpl"]:
                connections[name] = await host.connect(reach(name), server_id=name)
                await connections[name].mcp.ping()  # answered after the first notifications
            stage = Stage(desk, connections, narration, audit)
            for title, play in _STEPS:
                narration.begin(title)
                await play(stage)
            tasks.cancel_scope.cancel()


async def _ask(stage: Stage) -> None:
    asked = "My deadline is Friday. How is the mannequin project?"
    await stage.call("chat", "write_as", person="Emma", text=asked)
    await stage.answered("chat", 1)


async def _roll_back(stage: Stage) -> None:
    await stage.call(
        "notes", "add_note", text="Order ten DMX dimmers for the mannequins in the hall"
    )
    state = await stage.live("notes").state("notes.edit")
    first = state.tree.head or ""
    await stage.call("notes", "add_note", text="Sell the X32")
    await state.roll_back(first)
    await stage.call("notes", "add_note", text="Rent a van")
    await stage.call("notes", "list_notes")
    stage.narrator.tell(Line(f"keeps this tree:\n{state.tree.render().rstrip()}", "host"))


async def _remind(stage: Stage) -> None:
    await stage.call("memory", "pass_time", hours=5)
    await stage.answered("memory", 2)


async def _consolidate(stage: Stage) -> None:
    await stage.call("memory", "consolidate")
    await stage.live("memory").enable("memory.consolidation")
    await stage.call("memory", "consolidate")
    names = {server.key: server.id for server in stage.desk.live.servers}
    for (key, feature_set), used in stage.desk.live.usage.items():
        tokens = f"{used.input_tokens} tokens in and {used.output_tokens} out"
        stage.narrator.tell(Line(f"counts {tokens} for {feature_set} of {names[key]}", "host"))


async def _open_channel(stage: Stage) -> None:
    channels = stage.live("chat").channels
    lights = await channels.open("chat", {"room": "#lights"})
    await channels.publish(lights.id, "Ten dimmers are on their way.")
    try:
        await channels.publish("chat:#board", "We need a budget.")
    except RpcError as error:
        stage.narrator.tell(Line(f"sends nothing to chat:#board: {error.message}", "host"))
    await channels.close(lights.id)


async def _look_back(stage: Stage) -> None:
    await stage.call("chat", "read_room")
    outcomes = Counter(one.value["outcome"] for one in await stage.audit.read("mcpl.>"))
    counted = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
    stage.narrator.tell(Line(f"has in its audit log: {counted}", "host"))


_STEPS: tuple[tuple[str, Callable[[Stage], Awaitable[None]]], ...] = (
    ("Emma asks in the chat, and the answer has a secret in it", _ask),
    ("Notes are kept by the host, and can be rolled back", _roll_back),
    ("A server sends a reminder by itself", _remind),
    ("A server uses the host's model, once it may", _consolidate),
    ("The host opens a channel, and keeps out of another", _open_channel),
    ("What is left of it", _look_back),
)
