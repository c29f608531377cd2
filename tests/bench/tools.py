"""Search of tools: what is found, how fast, and next to which other ways (MGP 16.4).

Quality is measured on the tools of real servers and steps of real tasks, speed on these tools
varied. The tools of fastmcp are searched end to end, by a call of its client, and so are ours.
"""

from __future__ import annotations

__all__ = ("rows",)

import asyncio
import json
import subprocess
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from kinwire import Host, Server
from kinwire.mgp import MgpKernel
from kinwire.mgp.rules.tool_index.index import ToolIndex
from kinwire.support.background import background
from kinwire.transports.memory import memory_pair
from kinwire_protocols.mcp import (
    CallToolRequestParams,
    PaginatedRequestParams,
)
from kinwire_protocols.mcp.methods import TOOLS_CALL
from tests.bench import tool_context, tool_meaning
from tests.bench.measure import Row, at_least, at_most, own_environment, spread
from tests.bench.tool_catalog import Tool, indexed, queries, real_tools, three_words, varied
from tests.bench.tool_engines import Fts5, LinearScan, PaperIndex, PlainBm25, Ranked, light_stem
from tests.interop import peers

SIZES = (10_000, 100_000)
ROUNDS, QUERIES = 7, 150
AT_ONCE = 100  # tools that are added and removed
FASTMCP_QUERIES = 8
_PAGE = 1000  # tools of a list
_FASTMCP = Path(__file__).parent / "programs" / "fastmcp_tools.py"


class Ours:
    """The index of a kernel."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self.index = ToolIndex()
        self.entries = indexed(tools)
        self._numbers = {(tool.server, tool.name): n for n, tool in enumerate(tools)}
        self.seconds = -time.process_time()
        servers = dict[str, list[int]]()
        for number, tool in enumerate(tools):
            servers.setdefault(tool.server, []).append(number)
        for server, numbers in servers.items():
            self.index.replace(server, [self.entries[number] for number in numbers])
        self.seconds += time.process_time()

    def query(self, text: str, limit: int) -> Sequence[int]:
        """Return the numbers of the best tools."""
        hits = self.index.search(text, limit=limit).hits
        return [self._numbers[tool.server_id, tool.name] for tool, _ in hits]


def rows() -> Iterator[Row]:
    """Yield the measurements."""
    try:
        tools, steps = real_tools(), queries()
    except OSError as error:
        yield Row("search of tools", "", f"no catalog: {error}", verdict="not measured")
        return
    yield from _recalls(tools, steps)
    yield from tool_meaning.rows(indexed(tools), steps)
    yield from tool_context.rows()
    for size in SIZES:
        yield from _speeds(tools, size)
        yield _next_to_the_limit(size)
    yield from _end_to_end(varied(tools, SIZES[0]), three_words(tools, FASTMCP_QUERIES))


# -- quality --


def _recalls(tools: Sequence[Tool], steps: Sequence[tuple[str, list[str]]]) -> Iterator[Row]:
    about = f"right tool among 5 / 10 found, {len(steps)} steps, {len(tools)} tools"
    ours = _recall(Ours(tools), tools, steps)
    others: dict[str, Ranked] = {
        "plain BM25": PlainBm25(tools),
        "BM25 with light stems": PlainBm25(tools, light_stem),
        "SQLite FTS5": Fts5(tools),
    }
    found = {name: _recall(engine, tools, steps) for name, engine in others.items()}
    against = "; ".join(f"{name} {five:.3f} / {ten:.3f}" for name, (five, ten) in found.items())
    verdict = at_least(min(ours[0] - 0.80, ours[1] - 0.84), 0.0)
    figure = f"{ours[0]:.3f} / {ours[1]:.3f}"
    yield Row(about, figure, against, "at least 0.80 / 0.84", "", verdict)


def _recall(
    engine: Ranked, tools: Sequence[Tool], steps: Sequence[tuple[str, list[str]]]
) -> tuple[float, float]:
    """Return the share of the steps for which a right tool is among the first 5, and 10."""
    ranked = [([tools[n].name for n in engine.query(text, 10)], names) for text, names in steps]
    shares = [
        sum(bool(set(names).intersection(found[:limit])) for found, names in ranked) / len(steps)
        for limit in (5, 10)
    ]
    return shares[0], shares[1]


# -- speed --


def _speeds(real: Sequence[Tool], size: int) -> Iterator[Row]:
    tools, asked = varied(real, size), three_words(real, QUERIES)
    about = f"{size:,} tools"
    before = _resident()
    ours = Ours(tools)
    memory = _resident() - before
    yield Row(
        f"{about}: index built, memory with its entries",
        f"{ours.seconds:.2f} s, {memory / 2**20:.0f} MB",
        f"{ours.seconds / size * 1e6:.0f} us each tool",
    )
    yield _changes(ours, tools, about)
    yield _next_to_pruned(ours, tools, asked, about)
    yield _compared(ours, Fts5(tools), "SQLite FTS5", asked, about, None)
    yield _compared(ours, LinearScan(tools), "a linear scan", asked[:20], about, None)


def _next_to_pruned(ours: Ours, tools: Sequence[Tool], asked: Sequence[str], about: str) -> Row:
    """Compare with the pruned index of the paper on tools whose words are searched by their stems.

    It reads names and descriptions as they are written, so it has fewer words to look at; ours
    also finds other forms, words of like meaning, categories and parameters.
    """
    try:
        pruned = PaperIndex().index(tools)
    except OSError as error:
        return Row(about, "", str(error), verdict="not measured")
    return _compared(ours, pruned, "a pruned index of names and descriptions", asked, about, None)


def _next_to_the_limit(size: int) -> Row:
    """Compare with the pruned index of the paper, which finds words that are written alike."""
    about = f"{size:,} invented tools"
    try:
        paper = PaperIndex()
    except OSError as error:
        return Row(about, "", str(error), verdict="not measured")
    tools, asked = paper.tools(size), paper.queries(QUERIES)
    return _compared(Ours(tools), paper.index(tools), "a pruned index", asked, about, 2.0)


def _changes(ours: Ours, tools: Sequence[Tool], about: str) -> Row:
    """Remove and add a server of 100 tools."""
    server = tools[-1].server
    entries = [one for one in ours.entries if one.server_id == server][:AT_ONCE]
    adding, removing = list[float](), list[float]()
    for _ in range(ROUNDS):
        removing.append(_cpu(lambda: ours.index.remove(server)))
        adding.append(_cpu(lambda: ours.index.replace(server, entries)))
    return Row(
        f"{about}: a server of {len(entries)} tools is added",
        f"{median(adding) * 1e3:.1f} ms",
        f"it is removed in {median(removing) * 1e3:.1f} ms",
    )


def _compared(
    ours: Ranked, theirs: Ranked, name: str, asked: Sequence[str], about: str, bar: float | None
) -> Row:
    """Compare the medians of a query, in interleaved rounds."""
    pairs = [(_times(ours, asked), _times(theirs, asked)) for _ in range(ROUNDS)]
    mine, others = zip(*pairs, strict=True)
    times = spread([one[0] for one in mine], [one[0] for one in others])
    return Row(
        f"{about}: a query of 3 words, median (95 of 100 below)",
        _microseconds(mine),
        f"{name} {_microseconds(others)}: {times}",
        f"at most {bar:g}x" if bar else "",
        "",
        at_most(times.median, bar) if bar else "printed",
    )


def _times(engine: Ranked, asked: Sequence[str]) -> tuple[float, float]:
    """Return the CPU seconds of the middle query, and which 95 of 100 stay below."""
    spent = sorted(_cpu(partial(engine.query, text, 10)) for text in asked)
    return median(spent), spent[int(len(spent) * 0.95)]


def _microseconds(rounds: Sequence[tuple[float, float]]) -> str:
    middle, most = (median(column) * 1e6 for column in zip(*rounds, strict=True))
    return f"{middle:,.0f} us ({most:,.0f})"


def _cpu(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def _resident() -> int:
    """Return the memory of this process in bytes."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * 4096


# -- end to end --


def _end_to_end(tools: Sequence[Tool], asked: list[str]) -> Iterator[Row]:
    ours = Ours(tools)
    calls = asyncio.run(_calls(tools, asked))
    figures = {
        "a query": median(_times(ours, asked * 10)[0] for _ in range(ROUNDS)),
        "a search end to end, by a call of a client": median(calls),
    }
    try:
        theirs = median(_fastmcp_calls(tools, asked)) / 1e3
    except peers.PeerMissingError as error:
        reason = str(error).splitlines()[-1]
        yield Row("search of tools next to fastmcp", "", reason, verdict="not measured")
        return
    for what, mine in figures.items():
        times, is_alone = theirs / mine, what == "a query"
        yield Row(
            f"{len(tools):,} tools: {what}",
            f"{mine * 1e6:,.0f} us",
            f"a search of fastmcp, end to end {theirs * 1e3:.0f} ms: {times:,.0f}x",
            "at least 400x" if is_alone else "",
            "800x" if is_alone else "",
            at_least(times, 400, 800) if is_alone else "printed",
            "" if is_alone else "fastmcp",
            times,
        )


def _fastmcp_calls(tools: Sequence[Tool], asked: Sequence[str]) -> list[float]:
    """Return the milliseconds of each call."""
    given = {"tools": [(tool.name, tool.description) for tool in tools], "queries": asked}
    ran = subprocess.run(
        [str(peers.fastmcp_python()), str(_FASTMCP)],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=True,
        env=own_environment(),
    )
    times: list[float] = json.loads(ran.stdout)
    return times


async def _calls(tools: Sequence[Tool], asked: Sequence[str]) -> list[float]:
    """Return the CPU seconds of calls of the tool that searches, as an agent makes them."""
    kernel, gate = MgpKernel(), Server("gate", "1")
    kernel.add_tool_search_tools(gate, lambda context: "agent.helper")
    upstream, mine, theirs = _upstream(tools), memory_pair(), memory_pair()
    async with background() as tasks:
        async with Host("kernel", "1", extensions=[kernel]) as host, Host("agent", "1") as agent:
            tasks.start_soon(upstream.serve, theirs[1])
            tasks.start_soon(gate.serve, mine[1])
            await host.connect(theirs[0], server_id="tools")
            session = (await agent.connect(mine[0], server_id="gate")).session

            def search(text: str) -> Awaitable[object]:
                arguments = {"query": text, "strategy": "keyword"}
                params = CallToolRequestParams(name="mgp.tools.discover", arguments=arguments)
                return session.call(TOOLS_CALL, params)

            spent = list[float]()
            for text in (asked[0], *(list(asked) * 5)):
                begun = time.process_time()
                await search(text)
                spent.append(time.process_time() - begun)
        tasks.cancel_scope.cancel()
    return spent[1:]


def _upstream(tools: Sequence[Tool]) -> Server:
    """Return a server that lists these tools."""
    server = Server("tools", "1")
    listed = [
        {"name": one.name, "description": one.description, "inputSchema": one.schema}
        for one in tools
    ]

    @server.on.tools_list
    async def tools_list(params: PaginatedRequestParams) -> Any:
        start = int(params.cursor or 0)
        more = {"nextCursor": str(start + _PAGE)} if start + _PAGE < len(listed) else {}
        return {"tools": listed[start : start + _PAGE], **more}

    return server
