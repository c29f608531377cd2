"""Over HTTP and WebSocket: servers under the same uvicorn (httptools and uvloop), and clients.

The bars hold without orjson; a run with it is printed as well.
"""

from __future__ import annotations

__all__ = ("rows",)

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from statistics import median
from typing import NamedTuple

from tests.bench.commands import FLOOR, MCP, ROW, Program, python_program
from tests.bench.http_targets import (
    HttpServed,
    ModernHttpServed,
    ShopServed,
    ShortSessionsServed,
    WebSocketServed,
)
from tests.bench.measure import Row, at_least, at_most, spread
from tests.bench.rounds import Costs, measure
from tests.bench.target import ROOT, Driven, Load, Target, TargetFailedError
from tests.interop import peers

ROUNDS = 7

SEQUENTIAL, SMALL = Load(100, 1, 2048), Load(100, 64, 5120)
LOADS = (SMALL, SEQUENTIAL)

OURS, ORJSON = "plain", "orjson"
BEST, OLD = f"{MCP}, its best mode", "mcp 1.x"

_FLOOR_BAR, _FLOOR_GOAL = 1.7, 1.4

SESSIONS = Load(100, 32, 2048)
_SESSION_WARM_UP = 250
_SESSION_BAR, _SESSION_GOAL = 1.5, 1.2


class Bar(NamedTuple):
    """How many times as much as ours a peer is to cost."""

    peer: str
    least: float
    goal: float


class Subject(NamedTuple):
    """One kind of program: its name, those that are measured, and what is asked of ours."""

    what: str
    kinds: Mapping[str, tuple[type[Target], Program]]
    missing: Mapping[str, str]
    bars: tuple[Bar, ...]


def rows() -> Iterator[Row]:
    """Yield the measurements."""
    yield from _rows_of(_http_servers())
    yield from _short_sessions()
    with _byte_server() as url:
        yield from _rows_of(_http_clients(url))
    yield from _rows_of(_websocket_servers())


def _http_servers() -> Subject:
    kinds: dict[str, tuple[type[Target], Program]] = {
        name: (HttpServed, python_program("ours", name, "http")) for name in (OURS, ORJSON, ROW)
    }
    kinds[FLOOR] = HttpServed, python_program("floor", "http")
    missing: dict[str, str] = {}
    try:
        python = str(peers.mcp2_python())
        kinds[MCP] = HttpServed, python_program("mcp2", "http", python=python)
        kinds[BEST] = ModernHttpServed, python_program("mcp2", "http-json", python=python)
    except peers.PeerMissingError as error:
        missing[MCP] = missing[BEST] = str(error).splitlines()[-1]
    return Subject("HTTP server", kinds, missing, (Bar(BEST, 4, 6), Bar(MCP, 12, 18)))


def _short_sessions() -> Iterator[Row]:
    """Yield the cost of sessions of one call, of a tool that does nothing: it has no bar."""
    programs = {OURS: python_program("ours", OURS, "http"), FLOOR: python_program("floor", "http")}
    reason = ""
    try:
        programs[MCP] = python_program("mcp2", "http", python=str(peers.mcp2_python()))
    except peers.PeerMissingError as error:
        reason = str(error).splitlines()[-1]
    what = f"HTTP server, a session of one call, {SESSIONS.at_once} in flight, "
    yield from _session_rows(f"{what}echo", ShortSessionsServed, programs, reason, bar=False)
    yield from _shop_sessions(f"{what}tools of a shop (a request by aiohttp, a store by redis-py)")


def _shop_sessions(what: str) -> Iterator[Row]:
    """Yield the same with tools that do what tools do: the workload of a public comparison."""
    reason = ""
    pythons = {OURS: ("kinwire", sys.executable), FLOOR: ("asgi", sys.executable)}
    try:
        env = {"PYTHONPATH": str(peers.shop_packages())}
    except peers.PeerMissingError as error:
        yield Row(what, "", str(error).splitlines()[-1], verdict="not measured")
        return
    try:
        pythons[MCP] = "mcp", str(peers.mcp2_python())
    except peers.PeerMissingError as error:
        reason = str(error).splitlines()[-1]
    with _printing("shop_services") as ports:
        programs = {
            name: python_program("shop", project, *ports, python=python)._replace(env=env)
            for name, (project, python) in pythons.items()
        }
        yield from _session_rows(what, ShopServed, programs, reason, bar=True)


def _session_rows(
    what: str, kind: type[Target], programs: Mapping[str, Program], reason: str, *, bar: bool
) -> Iterator[Row]:
    kinds: dict[str, tuple[type[Target], Program]] = {
        name: (kind, one._replace(warm_up=_SESSION_WARM_UP)) for name, one in programs.items()
    }
    try:
        costs = measure(kinds, (SESSIONS,), ROUNDS)
    except (TargetFailedError, OSError) as error:
        yield Row(what, "", str(error), verdict="not measured")
        return
    ours, floor = costs[OURS, SESSIONS], costs[FLOOR, SESSIONS]
    times = spread(ours, floor)
    against = f"a raw ASGI application with the same tools {_cost(floor)}: {times}"
    if bar:
        verdict = at_most(times.median, _SESSION_BAR, _SESSION_GOAL)
        least, goal = f"at most {_SESSION_BAR:g}x", f"{_SESSION_GOAL:g}x"
        yield Row(what, _cost(ours), against, least, goal, verdict)
    else:
        yield Row(what, _cost(ours), against)
    if (MCP, SESSIONS) in costs:
        theirs = costs[MCP, SESSIONS]
        yield Row(what, _cost(ours), f"{MCP} {_cost(theirs)}: {spread(theirs, ours)}")
    else:
        yield Row(what, "", f"{MCP}: {reason}", verdict="not measured")


def _http_clients(url: str) -> Subject:
    kinds: dict[str, tuple[type[Target], Program]] = {
        name: (Driven, python_program("ours", name, "client", url)) for name in (OURS, ORJSON)
    }
    missing: dict[str, str] = {}
    try:
        python = str(peers.mcp2_python())
        kinds[MCP] = Driven, python_program("mcp2", "client", url, python=python)
    except peers.PeerMissingError as error:
        missing[MCP] = str(error).splitlines()[-1]
    return Subject("HTTP client", kinds, missing, (Bar(MCP, 12, 15),))


def _websocket_servers() -> Subject:
    kinds: dict[str, tuple[type[Target], Program]] = {
        name: (WebSocketServed, python_program("ours", name, "ws")) for name in (OURS, ORJSON)
    }
    missing: dict[str, str] = {}
    try:
        python = str(peers.mcp1_python())
        kinds[OLD] = WebSocketServed, python_program("mcp1", "ws", python=python)
    except peers.PeerMissingError as error:
        missing[OLD] = str(error).splitlines()[-1]
    return Subject("WebSocket server", kinds, missing, (Bar(OLD, 20, 50),))


@contextmanager
def _byte_server() -> Iterator[str]:
    with _printing("byte_http_server") as ports:
        yield f"http://127.0.0.1:{ports[0]}/mcp"


@contextmanager
def _printing(program: str) -> Iterator[list[str]]:
    """Run a program, and yield the words of its first line."""
    command = (sys.executable, "-m", f"tests.bench.programs.{program}")
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)
    assert process.stdout is not None
    with process:
        try:
            yield process.stdout.readline().decode().split()
        finally:
            process.terminate()


def _rows_of(subject: Subject) -> Iterator[Row]:
    try:
        costs = measure(subject.kinds, LOADS, ROUNDS)
    except (TargetFailedError, OSError) as error:
        yield Row(subject.what, "", str(error), verdict="not measured")
        return
    for load in LOADS:
        for bar in subject.bars:
            yield _against_a_peer(subject, bar, load, costs)
        if FLOOR in subject.kinds:
            yield _against_the_floor(subject, load, costs)
        yield _with_orjson(subject, load, costs)


def _against_a_peer(subject: Subject, bar: Bar, load: Load, costs: Costs) -> Row:
    what, least, goal = f"{subject.what}, {load}", f"at least {bar.least:g}x", f"{bar.goal:g}x"
    if bar.peer in subject.missing:
        reason = subject.missing[bar.peer]
        return Row(what, "", f"{bar.peer}: {reason}", least, goal, "not measured")
    ours, theirs = costs[OURS, load], costs[bar.peer, load]
    times = spread(theirs, ours)
    against = f"{bar.peer} {_cost(theirs)}: {times}"
    if load is not SMALL:
        return Row(what, _cost(ours), against)
    verdict = at_least(times.median, bar.least, bar.goal)
    return Row(what, _cost(ours), against, least, goal, verdict, bar.peer, times.median)


def _against_the_floor(subject: Subject, load: Load, costs: Costs) -> Row:
    ours, floor = costs[ROW, load], costs[FLOOR, load]
    times = spread(ours, floor)
    what = f"{subject.what}, {load}, models both ways"
    against = f"a raw ASGI application {_cost(floor)}: {times}"
    if load is not SMALL:
        return Row(what, _cost(ours), against)
    verdict = at_most(times.median, _FLOOR_BAR, _FLOOR_GOAL)
    return Row(what, _cost(ours), against, f"at most {_FLOOR_BAR:g}x", f"{_FLOOR_GOAL:g}x", verdict)


def _with_orjson(subject: Subject, load: Load, costs: Costs) -> Row:
    ours = costs[ORJSON, load]
    measured = [bar.peer for bar in subject.bars if bar.peer not in subject.missing]
    times = (f"{peer}: {spread(costs[peer, load], ours).median:.3g}x" for peer in measured)
    return Row(f"{subject.what}, {load}, with orjson", _cost(ours), ", ".join(times))


def _cost(costs: list[float]) -> str:
    return f"{median(costs):.3g} us"
