"""MGP in one process: a call through a kernel, decisions about access, events, the audit log.

A guarded call is compared with the same call of the same server without a kernel, and events of
the chain with plain appends to the same kind of log.
"""

from __future__ import annotations

__all__ = ("rows",)

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from kinwire import Host, Server
from kinwire.managers.chained_log import ChainedLog
from kinwire.mgp import AuditOptions, MgpKernel, MgpServer, ServerPolicy, ToolPolicy
from kinwire.mgp.rules.audit_events import SecurityEvent
from kinwire.mgp.rules.tools import known_tool
from kinwire.mgp.rules.validators.judgement import ValidatorOptions
from kinwire.mgp.rules.validators.standard import judge
from kinwire.rpc.session import Session
from kinwire.storage import open_store
from kinwire.support.background import background
from kinwire.transports.memory import memory_pair
from kinwire_protocols.mcp import CallToolRequestParams
from kinwire_protocols.mcp.methods import TOOLS_CALL
from kinwire_protocols.mgp import ToolSecurity
from tests.bench.event_fan_out import events_to_many
from tests.bench.measure import Row, at_least, at_most, cpu_of_calls, spread
from tests.bench.recovery import recovery
from tests.bench.stream_chunks import chunks_of_streams

ROUNDS = 15
CALLS, DECISIONS, EVENTS = 1000, 5000, 10_000
AT_ONCE = 256  # tasks that write at the same time
ENTRIES = 1000  # of other agents

COMMANDS = (
    "ls -la",
    "git log --oneline -5",
    "grep -rn 'a b' src",
    "echo ok; rm -rf x",
    "cat $(printf secret)",
    "python -m pytest -q tests",
)
CALL = CallToolRequestParams(name="add", arguments={"a": 1, "b": 2})
EVENT = SecurityEvent(
    event_type="TOOL_EXECUTED",
    actor_type="agent",
    actor_id="agent.helper",
    server_id="adder",
    tool_name="add",
    result="SUCCESS",
    details={"risk_level": "safe", "validator_applied": "none", "duration_ms": 3},
    trace_id="550e8400-e29b-41d4-a716-446655440000",
).params(1_772_193_600.0)


def rows() -> Iterator[Row]:
    """Yield the measurements."""
    yield asyncio.run(_calls(speaks_mgp=False))
    yield asyncio.run(_calls(speaks_mgp=True))
    yield asyncio.run(_decisions())
    yield _verdicts()
    yield asyncio.run(events_to_many())
    yield asyncio.run(recovery())
    yield asyncio.run(chunks_of_streams())
    with TemporaryDirectory() as folder:
        yield asyncio.run(_appends(Path(folder)))


async def _cpu(work: Callable[[], Awaitable[object]], times: int) -> float:
    begun = time.process_time()
    for _ in range(times):
        await work()
    return (time.process_time() - begun) / times


def _adder(guarded: MgpServer | None) -> Server:
    server = Server("adder", "1", extensions=[] if guarded is None else [guarded])

    @server.tool
    async def add(a: int, b: int) -> int:
        return a + b

    return server


@asynccontextmanager
async def _session(kernel: MgpKernel | None, *, speaks_mgp: bool) -> AsyncGenerator[Session]:
    """Yield a session with a server in this process."""
    safe = {"add": ToolSecurity(risk_level="safe")}
    server = _adder(MgpServer(tools=safe) if speaks_mgp else None)
    async with background() as tasks:
        async with Host("h", "1", extensions=[] if kernel is None else [kernel]) as host:
            near, far = memory_pair()
            tasks.start_soon(server.serve, far)
            connection = await host.connect(near, server_id="adder")
            yield connection.session
        tasks.cancel_scope.cancel()


async def _calls(*, speaks_mgp: bool) -> Row:
    async with open_store("memory:") as store:
        audit = AuditOptions(log=await store.log("mgp-audit"))
        policy = ServerPolicy(tools={"add": ToolPolicy(validator="none")})
        kernel = MgpKernel(
            servers={"adder": policy}, audit=audit, records=await store.records("mgp")
        )
        async with (
            _session(None, speaks_mgp=False) as plain,
            _session(kernel, speaks_mgp=speaks_mgp) as guarded,
        ):

            def calls(session: Session) -> Callable[[], Awaitable[object]]:
                return lambda: session.call(TOOLS_CALL, CALL)

            with kernel.acting_for("agent.helper"):
                pairs = [
                    (await _cpu(calls(guarded), CALLS), await _cpu(calls(plain), CALLS))
                    for _ in range(ROUNDS)
                ][1:]  # the first one warms up
    mine, bare = [one for one, _ in pairs], [other for _, other in pairs]
    times, bar = spread(mine, bare), 3.0 if speaks_mgp else 2.5
    return Row(
        f"a call through a kernel to {'a server of MGP' if speaks_mgp else 'a plain server'}, "
        "audited in memory, both sides",
        f"{median(mine) * 1e6:.0f} us",
        f"the call without a kernel {median(bare) * 1e6:.0f} us: {times}",
        f"at most {bar}x",
        "at most 1.5x",
        at_most(times.median, bar, 1.5),
    )


async def _decisions() -> Row:
    async with open_store("memory:") as store:
        kernel = MgpKernel(records=await store.records("mgp"))
        for number in range(ENTRIES):
            await kernel.access.grant(f"agent.{number}", "adder", "deny", tool="add")
        await kernel.access.grant("agent.helper", "adder", "allow", tool="add")

        async def decide() -> None:
            await kernel.access.query("agent.helper", "adder", "add")

        spent = [await _cpu(decide, DECISIONS) for _ in range(ROUNDS)]
    rate = 1 / median(spent)
    return Row(
        f"decisions about access with {ENTRIES:,} entries, in memory",
        f"{rate:,.0f} a second",
        f"{median(spent) * 1e6:.0f} us each",
        "10,000 a second",
        "",
        at_least(rate, 10_000),
    )


def _verdicts() -> Row:
    definition = {"name": "run", "inputSchema": {"properties": {"command": {"type": "string"}}}}
    tool = known_tool(definition, policy=ServerPolicy(), trust="standard")
    assert tool is not None
    arguments = [{"command": command} for command in COMMANDS]
    options = ValidatorOptions()

    def judge_all() -> None:
        for given in arguments:
            judge("sandbox", tool, given, options)

    spent = [cpu_of_calls(judge_all, 500) / len(COMMANDS) for _ in range(ROUNDS)]
    rate = 1 / median(spent)
    return Row(
        "verdicts of the validator `sandbox` about shell commands",
        f"{rate:,.0f} a second",
        f"{median(spent) * 1e6:.0f} us each",
        "5,000 a second",
        "",
        at_least(rate, 5_000),
    )


async def _seconds(append: Callable[[], Awaitable[object]]) -> float:
    async def some() -> None:
        for _ in range(EVENTS // AT_ONCE):
            await append()

    begun = time.perf_counter()
    await asyncio.gather(*(some() for _ in range(AT_ONCE)))
    return (time.perf_counter() - begun) / (EVENTS // AT_ONCE * AT_ONCE)


async def _appends(folder: Path) -> Row:
    names = (folder / f"{number}.db" for number in count())

    async def ours() -> float:
        async with open_store(f"sqlite:///{next(names)}") as store:
            chain = ChainedLog(await store.log("mgp-audit"))
            return await _seconds(partial(chain.append, "mgp.kernel.TOOL_EXECUTED", EVENT))

    async def bare() -> float:
        async with open_store(f"sqlite:///{next(names)}") as store:
            log = await store.log("mgp-audit")
            return await _seconds(partial(log.append, "mgp.kernel.TOOL_EXECUTED", EVENT))

    pairs = [(await ours(), await bare()) for _ in range(ROUNDS)]
    mine, plain = [one for one, _ in pairs], [other for _, other in pairs]
    times, rate = spread(mine, plain), 1 / median(mine)
    verdict = at_most(times.median, 2.0)
    return Row(
        f"durable audit events in a chain, {AT_ONCE} tasks, SQLite at WAL and FULL",
        f"{rate:,.0f} a second",
        f"plain appends {1 / median(plain):,.0f}: {times}",
        "at most 2x",
        "20,000 a second",
        "goal" if verdict == "bar" and rate >= 20_000 else verdict,
    )
