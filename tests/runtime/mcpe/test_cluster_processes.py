"""Three processes on a real nats-server, which are killed while schedules are due (MCPE 8.2).

The clients are raw JSON over WebSocket. The number of times that are due is that of CI, or what
`KINWIRE_CLUSTER_TIMES` says, as `nox -s cluster` does.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import uuid
from collections import defaultdict
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

import anyio
import pytest
from anyio.abc import TaskGroup
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException
from websockets.typing import Subprotocol

from kinwire import Host
from kinwire.mcpe import McpeClient
from kinwire_protocols.base import from_wire
from kinwire_protocols.mcpe.models import DeliveryPreferences
from tests.runtime.mcpe.fixtures_server import START
from tests.runtime.mcpe.raw_client import OFFER, Json, said
from tests.runtime.storage.fixtures_engines import NatsServer

pytestmark = [pytest.mark.anyio, pytest.mark.faults]

PROGRAM = Path(__file__).parent / "programs" / "event_node.py"
TIMES = int(os.environ.get("KINWIRE_CLUSTER_TIMES", "100"))
CLIENTS = 10
MCP = Subprotocol("mcp")
PAUSE = 0.15  # seconds between two times that are due
MINUTE = 60
DELIVERY = {
    "channels": ["cron"],
    "cronSchedule": {"expression": "* * * * *", "timezone": "UTC"},
}


@pytest.fixture
def anyio_backend() -> str:
    """The client of NATS knows asyncio only."""
    return "asyncio"


@pytest.fixture
def nats(tmp_path: Path) -> Iterator[NatsServer]:
    server = NatsServer(tmp_path)
    server.start()
    yield server
    server.kill()


class Link:
    """A connection in raw JSON."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self._asked = 0

    async def ask(self, method: str, params: Json) -> Json:
        """Send a request and return its result; what else comes before it goes to `came`."""
        self._asked += 1
        message = {"jsonrpc": "2.0", "id": self._asked, "method": method, "params": params}
        await self.socket.send(json.dumps(message))
        while True:
            reply = json.loads(await self.socket.recv())
            if reply.get("id") == self._asked and "method" not in reply:
                result: Json = reply["result"]
                return result
            self.came(reply)

    async def greet(self) -> None:
        about = {"name": "elsewhere", "version": "0"}
        params = {"protocolVersion": "2024-11-05", "capabilities": OFFER, "clientInfo": about}
        await self.ask("initialize", params)
        await self.socket.send('{"jsonrpc": "2.0", "method": "notifications/initialized"}')

    async def call(self, tool: str, **arguments: Any) -> Json:
        result = await self.ask("tools/call", {"name": tool, "arguments": arguments})
        assert not result.get("isError"), result
        return result

    def came(self, message: Json) -> None:
        """Take a notification."""


class Node(NamedTuple):
    """A process, and where it serves."""

    process_id: int
    url: str


SPARE = 2  # processes that can take the place of one that is killed


class ClusterOfProcesses:
    """Three processes, of which one is killed each second; all are copies of a program."""

    def __init__(self, url: str) -> None:
        self._program = subprocess.Popen(
            [sys.executable, str(PROGRAM), url],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self._starting = anyio.Lock()
        self.nodes: list[Node] = []
        self._spare: list[Node] = []
        self._has_spare = anyio.Event()
        self.now = START
        self.kills = 0
        self._random = random.Random(1)

    async def fill(self) -> None:
        """Have a process serve clients in the place of one that has ended."""
        while not self._spare:
            await self._has_spare.wait()
        self.nodes.append(self._spare.pop(0))

    async def start(self) -> None:
        """Have one more process ready to serve clients."""
        async with self._starting:
            process_id, port = await anyio.to_thread.run_sync(self._copied)
        node, at = Node(process_id, f"ws://127.0.0.1:{port}/mcp"), None
        while at != self.now:  # it may have moved since
            at = self.now
            await self._control(node, "put_clock", at=at)
        self._spare.append(node)
        self._has_spare.set()
        self._has_spare = anyio.Event()

    def _copied(self) -> tuple[int, int]:
        assert self._program.stdin is not None
        assert self._program.stdout is not None
        self._program.stdin.write(f"{self.now}\n")
        self._program.stdin.flush()
        process_id, port = self._program.stdout.readline().split()
        return int(process_id), int(port)

    def end(self) -> None:
        """Kill all processes."""
        os.killpg(self._program.pid, signal.SIGKILL)
        self._program.communicate()

    def any(self) -> Node:
        return self._random.choice(self.nodes)

    async def kill_each_second(self) -> None:
        """Kill a process each second; another one that is ready takes its place."""
        at = anyio.current_time()
        async with anyio.create_task_group() as tasks:
            while True:
                node = self.any()
                self.nodes.remove(node)
                os.kill(node.process_id, signal.SIGKILL)
                self.kills += 1
                tasks.start_soon(self.start)
                await self.fill()
                at += 1
                await anyio.sleep_until(at)

    async def publish(self, type: str) -> None:
        """Publish an event, again if the process was killed before it answered."""
        id = str(uuid.uuid4())
        with anyio.fail_after(30):
            while not await self._control(self.any(), "publish", type=type, id=id):
                await anyio.lowlevel.checkpoint()

    async def put_clock(self, now: float) -> None:
        self.now = now
        for node in [*self.nodes, *self._spare]:
            await self._control(node, "put_clock", at=now)

    async def _control(self, node: Node, tool: str, **arguments: Any) -> bool:
        """Call a tool; return whether the process has answered."""
        with suppress(OSError, WebSocketException):
            async with connect(node.url, subprotocols=[MCP]) as socket:
                link = Link(socket)
                await link.greet()
                await link.call(tool, **arguments)
                return True
        return False


class Subscriber:
    """A client that connects to another process when one is killed."""

    def __init__(self, there: ClusterOfProcesses) -> None:
        self._there = there
        self._token: str | None = None
        self.id = ""
        self.batches: dict[str, list[list[str]]] = defaultdict(list)
        """What came under each delivery id."""
        self.changed = anyio.Event()
        self.is_ready = anyio.Event()

    @property
    def types(self) -> set[str]:
        return {type for each in self.batches.values() for batch in each for type in batch}

    async def run(self) -> None:
        while True:
            with suppress(OSError, WebSocketException):
                async with connect(self._there.any().url, subprotocols=[MCP]) as socket:
                    await self._serve(Link(socket))

    async def _serve(self, link: Link) -> None:
        link.came = self._came  # type: ignore[method-assign]
        await link.greet()
        meta = {} if self._token is None else {"_meta": {"mcpe/recoveryToken": self._token}}
        if self._token is None:
            asked = {"filter": {"eventTypes": ["tick.*"]}, "delivery": DELIVERY}
            result = await link.ask("tools/call", {"name": "events_subscribe", "arguments": asked})
            self._token, self.id = result["_meta"]["mcpe/recoveryToken"], said(result)["id"]
        else:
            result = await link.ask("tools/call", {"name": "events_list", "arguments": {}, **meta})
            listed = [one["id"] for one in said(result)["subscriptions"]]
            assert listed == [self.id]
        self.is_ready.set()
        while True:
            self._came(json.loads(await link.socket.recv()))

    def _came(self, message: Json) -> None:
        if message.get("method") == "events/batch":
            params = message["params"]
            types = [one["type"] for one in params["events"]]
            self.batches[params["_meta"]["mcpe/deliveryId"]].append(types)
            self.changed.set()

    async def has(self, type: str) -> None:
        while type not in self.types:
            self.changed = anyio.Event()
            await self.changed.wait()


@asynccontextmanager
async def processes(url: str) -> AsyncGenerator[tuple[ClusterOfProcesses, TaskGroup]]:
    there = ClusterOfProcesses(url)
    try:
        async with anyio.create_task_group() as tasks:
            for _ in range(3 + SPARE):
                tasks.start_soon(there.start)
            for _ in range(3):
                tasks.start_soon(there.fill)
        async with anyio.create_task_group() as tasks:
            yield there, tasks
            tasks.cancel_scope.cancel()
    finally:
        there.end()


class Program:
    """Reads the batches of one subscription, as a program does that knows of no processes."""

    def __init__(self, there: ClusterOfProcesses) -> None:
        self._there = there
        self._changed = anyio.Event()
        self.batches: list[list[str]] = []
        self.is_ready = anyio.Event()

    async def run(self) -> None:
        events = McpeClient(reconnect_within=60)
        delivery = from_wire(DeliveryPreferences, DELIVERY)
        async with (
            Host("h", "1", extensions=[events]) as host,
            host.keep_connected(
                lambda: self._there.any().url,
                server_id="node",
                first_delay=0.01,
                longest_delay=0.1,  # seconds: connections are cut more often than elsewhere
            ) as kept,
            events.subscribe(kept.connection, ["tick.*"], delivery=delivery) as subscription,
        ):
            self.is_ready.set()
            async for batch in subscription.batches():
                types = [one.type for one in batch]
                self.batches.append(types)
                self._changed.set()

    async def has(self, count: int) -> None:
        while len(self.batches) < count:
            self._changed = anyio.Event()
            await self._changed.wait()


async def test_every_time_that_is_due_arrives_while_processes_are_killed(
    nats: NatsServer,
) -> None:
    times = range(1, TIMES // CLIENTS + 1)
    async with processes(nats.url) as (there, tasks):
        clients = [Subscriber(there) for _ in range(CLIENTS)]
        for one in clients:
            tasks.start_soon(one.run)
            await one.is_ready.wait()
        program = Program(there)
        tasks.start_soon(program.run)
        await program.is_ready.wait()
        begun = monotonic()
        tasks.start_soon(there.kill_each_second)
        for number in times:
            await anyio.sleep(PAUSE)
            await there.publish(f"tick.t{number}")
            await there.put_clock(START + number * MINUTE)
            with anyio.move_on_after(30):
                for one in clients:
                    await one.has(f"tick.t{number}")
                await program.has(number)
            assert [one.id for one in clients if f"tick.t{number}" not in one.types] == []
        kills, seconds = there.kills, monotonic() - begun
    for one in clients:
        due = {f"{one.id}/cron/{START + at * MINUTE:.3f}/0": [f"tick.t{at}"] for at in times}
        assert {id: came[0] for id, came in one.batches.items()} == due
        assert all(batch == came[0] for came in one.batches.values() for batch in came)
    assert program.batches == [[f"tick.t{at}"] for at in times]
    repeated = sum(len(came) - 1 for one in clients for came in one.batches.values())
    print(f"{TIMES} deliveries in {seconds:.0f} s, {kills} processes killed, {repeated} repeated")
    assert kills
