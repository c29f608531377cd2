"""What happens in the demo of MCP Events, step by step. It is the same each time, and ends.

A client subscribes to the events of two servers, and calls the tools that make them happen.
"""

from __future__ import annotations

__all__ = ("converse",)

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

import anyio

from kinwire import Connection, Host, result_text
from kinwire.mcpe import ArrivedEvents, EventSubscription, McpeClient
from kinwire.rpc.transport import Transport
from kinwire_cli.demos.narration import Line, Narrator
from kinwire_cli.extras import install_command
from kinwire_protocols import mcpe

_ASKED_BY_MODEL = {
    "filter": {"eventTypes": ["github.isue.*"], "priority": ["critical"]},
    "delivery": {"channels": ["realtime"]},
}
_HOURLY = mcpe.DeliveryPreferences(
    channels=["cron"], cron_schedule=mcpe.CronSchedule(expression="@hourly", timezone="UTC")
)


@dataclass(slots=True)
class Unread:
    """The events of subscriptions that nobody reads, as those of a model."""

    events: list[mcpe.MCPEvent] = field(default_factory=list["mcpe.MCPEvent"])
    came: anyio.Event = field(default_factory=anyio.Event)

    def put(self, arrived: ArrivedEvents) -> None:
        """Keep what has come."""
        self.events.extend(arrived.events)
        self.came.set()


@dataclass(frozen=True, slots=True)
class EventScene:
    """The client with its servers, and the narrator of what they do."""

    client: McpeClient
    unread: Unread
    connections: Mapping[str, Connection]
    narrator: Narrator

    async def call(self, server: str, tool: str, arguments: Mapping[str, Any], who: str) -> str:
        """Call a tool, tell what comes of it, and return that."""
        shown = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
        self.narrator.tell(Line(f"{tool}({shown})", who, server))
        result = await self.connections[server].mcp.tools_call(name=tool, arguments=dict(arguments))
        return result_text(result)

    async def do(self, server: str, tool: str, **arguments: Any) -> None:
        """Have something happen, and tell what the server says of it."""
        said = await self.call(server, tool, arguments, "person")
        self.narrator.tell(Line(said, server, "person"))

    def show(self, server: str, events: Sequence[mcpe.MCPEvent]) -> None:
        """Tell what has arrived in one notification."""
        said = "\n".join(f"{event.type} {event.data}" for event in events)
        self.narrator.tell(Line(said, server, "client"))

    async def arrives(self, server: str, subscription: EventSubscription) -> None:
        """Tell of the next notification of a subscription."""
        async with aclosing(subscription.batches()) as batches:
            self.show(server, await anext(batches))


async def converse(reach: Callable[[str], Transport], narrator: Narrator) -> None:
    """Play it all, with the servers that `reach` gives by name, and tell it.

    Raises:
        KinwireError, RpcError: a server cannot be started, or does not do as it should.
    """
    unread = Unread()
    client = McpeClient(on_events=unread.put)
    async with Host("client", "1.0", extensions=[client]) as host:
        narrator.begin("Two servers with events")
        connections: dict[str, Connection] = {}
        for name in ("project", "bookings"):
            connections[name] = await host.connect(reach(name), server_id=name)
            await _tell_of(name, connections[name], narrator)
        scene = EventScene(client, unread, connections, narrator)
        for title, play in _STEPS:
            narrator.begin(title)
            await play(scene)


async def _tell_of(name: str, connection: Connection, narrator: Narrator) -> None:
    content = (await connection.mcp.resources_read(uri="mcpe://event-types")).contents
    text = f"has its types of events in {content[0].uri}"
    narrator.tell(Line(text, name, "client"))


async def _immediately(scene: EventScene) -> None:
    project = scene.connections["project"]
    async with scene.client.subscribe(project, ["github.*"], tags=["main"]) as subscription:
        scene.narrator.tell(Line("subscribes to github.* with the tag main", "client"))
        await scene.do("project", "push", branch="dev", message="Try a thing")
        await scene.do("project", "push", branch="main", message="Fix the clock")
        await scene.arrives("project", subscription)


async def _paused(scene: EventScene) -> None:
    project = scene.connections["project"]
    async with scene.client.subscribe(project, ["github.push"]) as subscription:
        await subscription.pause()
        scene.narrator.tell(Line("has paused its subscription to github.push", "client"))
        await scene.do("project", "push", branch="main", message="Nobody sees this")
        await subscription.resume()
        scene.narrator.tell(Line("goes on", "client"))
        await scene.do("project", "push", branch="main", message="Wind it up")
        await scene.arrives("project", subscription)


async def _by_model(scene: EventScene) -> None:
    said = await scene.call("project", "events_subscribe", _ASKED_BY_MODEL, "model")
    hint = said.rpartition("\n")[2]
    scene.narrator.tell(Line(hint, "project", "model"))
    filter = {"eventTypes": ["github.issue.*"], "priority": ["critical"]}
    asked = {**_ASKED_BY_MODEL, "filter": filter}
    await scene.call("project", "events_subscribe", asked, "model")
    await scene.do("project", "open_issue", title="A typing error")
    await scene.do("project", "open_issue", title="It stands still", urgent=True)
    await scene.unread.came.wait()
    scene.show("project", scene.unread.events)


async def _by_schedule(scene: EventScene) -> None:
    offer = scene.client.of(scene.connections["bookings"]).capability
    if offer is None or "cron" not in offer.delivery.supported_channels:
        brings = install_command("events")
        scene.narrator.tell(Line(f"skipped: schedules need more, which this brings: {brings}"))
        return
    bookings = scene.connections["bookings"]
    async with scene.client.subscribe(bookings, delivery=_HOURLY) as subscription:
        scene.narrator.tell(Line("wants all events, once an hour", "client"))
        await scene.do("bookings", "book", room="attic", by="Emma")
        await scene.do("bookings", "book", room="cellar", by="Ben")
        await scene.do("bookings", "pass_time", minutes=60)
        await scene.arrives("bookings", subscription)
        await scene.do("bookings", "pass_time", minutes=60)  # without events nothing is delivered
        await scene.do("bookings", "book", room="attic", by="Ada")
        await scene.do("bookings", "pass_time", minutes=60)
        await scene.arrives("bookings", subscription)


async def _expires(scene: EventScene) -> None:
    bookings, at = scene.connections["bookings"], "2026-01-05T18:00:00Z"
    async with scene.client.subscribe(bookings, expires_at=at) as subscription:
        scene.narrator.tell(Line(f"wants all events until {at}", "client"))
        await scene.do("bookings", "pass_time", minutes=600)
        async for event in subscription:
            scene.show("bookings", [event])
        text = f"the subscription has expired at {subscription.expired_at}"
        scene.narrator.tell(Line(text, "bookings", "client"))


_STEPS: tuple[tuple[str, Callable[[EventScene], Awaitable[None]]], ...] = (
    ("Events come immediately, if the filter selects them", _immediately),
    ("A pause: what happens until it ends is lost", _paused),
    ("A model subscribes by a tool, and is helped", _by_model),
    ("A schedule collects events", _by_schedule),
    ("A subscription expires on time", _expires),
)
