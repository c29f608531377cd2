"""Writers of an audit log, each of which is killed with signal 9 at one moment of one write.

`killed_writers.py FOLDER KILLS` prints, as JSON, what is found in each log after all of them: one
log in a SQLite file, one in a folder of text files. The next writer continues where one was killed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from kinwire.managers.hash_chain import ChainCheck
from kinwire.mgp.kernel.audit import AuditLog, AuditOptions
from kinwire.mgp.rules.audit_events import SecurityEvent
from kinwire.storage import Log, LogFolder, open_store
from kinwire.storage.sqlite.writer import SqliteWriter

WRITES = 3  # of each writer; it is killed at one of them

Moment = Callable[[Any, int], None]
"""Arranges that this process is killed at a write of a log."""


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def killing(kill_at: int, wrapped: Callable[..., Any], *, before: bool) -> Callable[..., Any]:
    """Return `wrapped`, at whose call number `kill_at` the process dies: before it, or after."""
    calls = 0

    def call(*arguments: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if before and calls == kill_at:
            die()
        result = wrapped(*arguments, **options)
        if calls == kill_at:
            die()
        return result

    return call


def before_append(log: Any, number: int) -> None:
    log.append_after = killing(number, log.append_after, before=True)


def kill_at_commit(number: int, *, before: bool) -> None:
    commit: Any = SqliteWriter.__dict__["_end"].__func__
    setattr(SqliteWriter, "_end", staticmethod(killing(number, commit, before=before)))  # noqa: B010


def before_commit(log: Any, number: int) -> None:
    kill_at_commit(number, before=True)


def after_commit(log: Any, number: int) -> None:
    kill_at_commit(number, before=False)


def half_a_line(log: Any, number: int) -> None:
    write, calls = os.write, 0

    def half(descriptor: int, data: Any) -> int:
        nonlocal calls
        calls += data.startswith(b'{"at"')
        if calls == number and len(data) > 1:
            write(descriptor, data[: len(data) // 2])
            die()
        return write(descriptor, data)

    os.write = half


def before_sync(log: Any, number: int) -> None:
    os.fsync = killing(number, os.fsync, before=True)


MOMENTS: dict[str, tuple[Moment, ...]] = {
    "sqlite": (before_append, before_commit, after_commit),
    "folder": (before_append, half_a_line, before_sync),
}


@asynccontextmanager
async def opened(kind: str, folder: Path) -> AsyncGenerator[Log]:
    if kind == "folder":
        yield LogFolder(folder / "audit", max_bytes=3000)
        return
    async with open_store(f"sqlite:///{folder}/audit.db") as store:
        yield await store.log("mgp-audit")


async def write(kind: str, folder: Path, moment: Moment | None, number: int, first: int) -> None:
    """Write events, and note each that was promised to be in the log."""
    promised = os.open(folder / f"promised-{kind}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    async with opened(kind, folder) as log:
        if moment is not None:
            moment(log, number)
        audit = AuditLog(AuditOptions(log=log), lambda: 7.0)
        for n in range(first, first + WRITES):
            event = SecurityEvent("TOOL_BLOCKED", "agent", "a", "s", "t", "BLOCKED", {"n": n}, "x")
            if await audit.record(event):
                note = f"{n}\n".encode()
                os.writev(promised, [note])  # the tests replace os.write


def run_killed(kind: str, folder: Path, moment: Moment, number: int, first: int) -> bool:
    """Run a writer in a process of its own; return whether it was killed."""
    child = os.fork()
    if child == 0:
        anyio.run(write, kind, folder, moment, number, first)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


async def found(kind: str, folder: Path) -> dict[str, Any]:
    check, problems, numbers = ChainCheck(from_start=True), list[str](), list[int]()
    async with opened(kind, folder) as log:
        marks = 0
        for entry in await log.read(limit=10_000):
            problem = check.problem(entry.subject, entry.value)
            if problem is not None:
                problems.append(entry.subject)
                continue
            event = entry.value["event"]
            marks += event["event_type"] == "io.kinwire.audit_damaged"
            numbers += [event["details"]["n"]] if "n" in event["details"] else []
    promised = [int(line) for line in (folder / f"promised-{kind}").read_text().split()]
    missing = [number for number in promised if number not in numbers]
    return {"problems": problems, "marks": marks, "missing": missing, "promised": len(promised)}


def main() -> None:
    folder, kills = Path(sys.argv[1]), int(sys.argv[2])
    results: dict[str, Any] = {}
    for kind, moments in MOMENTS.items():
        killed = 0
        for n in range(kills):
            number = WRITES - n // len(moments) % WRITES  # the last write first
            killed += run_killed(kind, folder, moments[n % len(moments)], number, n * WRITES)
        anyio.run(write, kind, folder, None, 0, kills * WRITES)
        results[kind] = {"killed": killed, **anyio.run(found, kind, folder)}
    print(json.dumps(results))


main()
