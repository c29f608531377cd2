"""MCPL in one process: hooks of fifty servers, scopes and events a second, a tree of checkpoints.

Each figure has a limit that is measured in the same rounds: what the same work costs
without the manager, or with a tenth of what there is.
"""

from __future__ import annotations

__all__ = ("rows",)

import asyncio
import random
import re
import time
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from statistics import median

from kinwire import Host, Server, pair
from kinwire.mcpl import McplHost, McplServer, PushedEvent
from kinwire.mcpl.rules.checkpoint_tree import CheckpointTree
from kinwire.mcpl.rules.scopes import ScopeLists
from kinwire.support.background import background
from kinwire.transports.memory import memory_pair
from kinwire_protocols import mcpl
from kinwire_protocols.base import from_wire
from kinwire_protocols.mcpl.methods import CONTEXT_BEFORE_INFERENCE
from tests.bench.many_servers import ordered_events
from tests.bench.measure import Row, at_least, at_most, cpu_of_calls, spread

ROUNDS = 9
SERVERS, HOOKS, EVENTS = 50, 20, 2000
FEW, MANY = 1000, 10_000  # checkpoints
NOTES = 100  # in the state of each

Timed = Callable[[], Awaitable[float]]
"""Returns the CPU seconds that one operation took, of many."""

TURN = mcpl.BeforeInferenceParams(
    inference_id="inf_1",
    conversation_id="conv_1",
    turn_index=0,
    user_message="How is the project?",
    model=mcpl.ModelInfo(id="m"),
)
INJECTION = mcpl.ContextInjection(namespace="memory", position="system", content="x" * 100)


def rows() -> Iterator[Row]:
    """Yield the measurements."""
    yield asyncio.run(_hooks())
    yield _scopes()
    yield asyncio.run(_pushes())
    yield asyncio.run(ordered_events())
    yield from _trees()


async def _rounds(ours: Timed, bare: Timed) -> tuple[list[float], list[float]]:
    pairs = [(await ours(), await bare()) for _ in range(ROUNDS + 1)][1:]  # the first one warms up
    return [one for one, _ in pairs], [other for _, other in pairs]


async def _cpu(work: Callable[[], Awaitable[object]], times: int) -> float:
    begun = time.process_time()
    for _ in range(times):
        await work()
    return (time.process_time() - begun) / times


# Hooks.


def _memory() -> Server:
    sets = {
        "memory.retrieval": mcpl.FeatureSet(
            description="Recall", uses=["contextHooks.beforeInference"]
        )
    }
    live = McplServer(feature_sets=sets)

    @live.on.context_before_inference
    async def recall(params: mcpl.BeforeInferenceParams) -> mcpl.BeforeInferenceResult:
        return mcpl.BeforeInferenceResult(
            feature_set="memory.retrieval", context_injections=[INJECTION]
        )

    return Server("memory", "1", extensions=[live])


@asynccontextmanager
async def _host_of_many() -> AsyncIterator[McplHost]:
    live = McplHost(enabled=["*"])
    async with background() as tasks, Host("h", "1", extensions=[live]) as host:
        for number in range(SERVERS):
            near, far = memory_pair()
            tasks.start_soon(_memory().serve, far)
            await host.connect(near, server_id=f"s{number}")
        yield live


async def _hooks() -> Row:
    async with _host_of_many() as live:
        sessions = [server.session for server in live.servers]

        async def ask() -> None:
            found = await live.before_inference(TURN)
            assert len(found.system) == SERVERS

        async def call() -> None:
            await asyncio.gather(
                *(session.call(CONTEXT_BEFORE_INFERENCE, TURN) for session in sessions)
            )

        mine, bare = await _rounds(partial(_cpu, ask, HOOKS), partial(_cpu, call, HOOKS))
    times = spread(mine, bare)
    return Row(
        f"hook before inference, {SERVERS} servers in one process",
        f"{median(mine) * 1e3:.1f} ms",
        f"the calls alone, concurrently {median(bare) * 1e3:.1f} ms: {times}",
        "at most 2.5x",
        verdict=at_most(times.median, 2.5),
    )


# Scopes.

WHITE = ["/project/**", "/tmp/**", "#general", "#dev-*", "discord:acme/*"]
BLACK = ["**/.env", "**/secrets/**", "#admin-*"]
LABELS = ["/project/src/main.ts", "/project/a/b/c/.env", "#dev-tools", "/etc/hosts"]


def _scopes() -> Row:
    lists = ScopeLists(mcpl.ScopeRules(whitelist=WHITE, blacklist=BLACK))
    white, black = (
        [re.compile(f"(?s:{_expression(one)})") for one in patterns] for patterns in (WHITE, BLACK)
    )

    def judge() -> None:
        for label in LABELS:
            lists.judge(label)

    def bare() -> None:
        for label in LABELS:
            any(one.fullmatch(label) for one in (*black, *white))

    pairs = [(cpu_of_calls(judge, 500), cpu_of_calls(bare, 500)) for _ in range(ROUNDS)]
    mine, others = ([one / len(LABELS) for one in costs] for costs in zip(*pairs, strict=True))
    rate = 1 / median(mine)
    return Row(
        f"scope decisions, {len(WHITE) + len(BLACK)} patterns",
        f"{rate:,.0f} a second",
        f"regular expressions, which have no end, {1 / median(others):,.0f}: "
        f"{spread(mine, others)}",
        "at least 10,000 a second",
        verdict=at_least(rate, 10_000),
    )


def _expression(pattern: str) -> str:
    """Return the pattern for an engine that goes back where it was wrong."""
    text = re.escape(pattern).replace(r"\*\*/", "(?:[^/]*/)*").replace(r"\*\*", ".*")
    return text.replace(r"\*", "[^/]*")


# Events.


async def _pushes() -> Row:
    async def take(event: PushedEvent) -> mcpl.PushEventResult:
        return mcpl.PushEventResult(accepted=True)

    async def answer(params: mcpl.PushEventParams) -> mcpl.PushEventResult:
        return mcpl.PushEventResult(accepted=True)

    ours, bare = McplHost(enabled=["*"], on_push=take, push_rate=1e9), McplHost(enabled=["*"])
    bare.on.push_event(answer)
    async with AsyncExitStack() as stack:
        timed = [await stack.enter_async_context(_pushing(host)) for host in (ours, bare)]
        mine, others = await _rounds(*timed)
    times, rate = spread(mine, others), 1 / median(mine)
    return Row(
        "events admitted, one server in memory",
        f"{rate:,.0f} a second",
        f"a handler without an inbox {1 / median(others):,.0f}: {times}",
        "at least 2,000 a second",
        verdict=at_least(rate, 2000),
    )


@asynccontextmanager
async def _pushing(host: McplHost) -> AsyncIterator[Timed]:
    sets = {"memory.proactive": mcpl.FeatureSet(description="Remind", uses=["pushEvents"])}
    live = McplServer(feature_sets=sets)
    async with pair(
        Server("memory", "1", extensions=[live]), Host("h", "1", extensions=[host])
    ) as connection:
        await connection.mcp.ping()
        (serving,) = live.hosts

        async def push() -> None:
            answer = await serving.push("memory.proactive", "Call Alice")
            assert answer.accepted

        yield partial(_cpu, push, EVENTS)


# Checkpoints.


def _tree(checkpoints: int) -> tuple[CheckpointTree, float]:
    """Return a tree, and how many bytes each of its checkpoints takes."""
    tree = CheckpointTree(checkpoints=2 * MANY, size=1 << 40)
    notes = [{"id": number, "text": "x" * 50} for number in range(NOTES)]
    tree.record(_update(0, data={"notes": notes}), base=None)
    tracemalloc.start()
    for number in range(1, checkpoints):
        tree.record(_update(number, patch=_change(number)), base=tree.head)
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return tree, taken / checkpoints


def _update(number: int, **members: object) -> mcpl.StateUpdate:
    return from_wire(mcpl.StateUpdate, {"checkpoint": f"c{number}", **members})


def _change(number: int) -> list[dict[str, object]]:
    return [{"op": "replace", "path": f"/notes/{number % NOTES}/text", "value": f"note {number}"}]


def _trees() -> Iterator[Row]:
    (small, a_little), (large, each) = _tree(FEW), _tree(MANY)
    about = f"tree of {MANY:,} checkpoints, {NOTES} notes"
    times = each / a_little
    yield Row(
        f"{about}: memory of each",
        f"{each:,.0f} bytes",
        f"of {FEW:,}: {a_little:,.0f}: {times:.2f}x",
        "at most 1.1x",
        verdict=at_most(times, 1.1),
    )
    chance = random.Random(0)
    branches = iter(range(MANY, 2 * MANY))

    def go_back(tree: CheckpointTree, count: int) -> None:
        tree.roll_back(f"c{chance.randrange(count)}")
        number = next(branches)
        tree.record(_update(number, patch=_change(number)), base=tree.head)

    def cost(tree: CheckpointTree, count: int) -> float:
        return cpu_of_calls(partial(go_back, tree, count), 400)

    pairs = [(cost(large, MANY), cost(small, FEW)) for _ in range(ROUNDS)]
    mine, others = zip(*pairs, strict=True)
    ratios = spread(mine, others)
    yield Row(
        f"{about}: rollback and the next call's state",
        f"{median(mine) * 1e6:.0f} us",
        f"of {FEW:,}: {median(others) * 1e6:.0f} us: {ratios}",
        "at most 1.3x",
        verdict=at_most(ratios.median, 1.3),
    )
