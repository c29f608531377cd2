"""Several processes on one store, and processes that are killed."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kinwire.storage import Retention, Store
from tests.runtime.storage.fixtures_engines import Engine, NatsServer
from tests.sample import rounds

PROGRAMS = Path(__file__).parent / "programs"
PROCESSES, TIMES = 2, 40

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    """The programs are the same on both loops; one is enough."""
    return "asyncio"


@pytest.fixture(params=["sqlite", pytest.param("nats", marks=pytest.mark.slow)])
def shared(request: pytest.FixtureRequest, tmp_path: Path) -> Engine:
    """A store that several processes can open."""
    if request.param == "sqlite":
        return Engine("sqlite", f"sqlite:///{tmp_path}/store.db")
    server: NatsServer = request.getfixturevalue("nats_server")
    return Engine("nats", server.url)


def start(program: str, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(PROGRAMS / program), *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


async def test_increments_of_several_processes_add_up(shared: Engine) -> None:
    processes = [start("increment.py", shared.url, str(TIMES)) for _ in range(PROCESSES)]
    for process in processes:
        _, complaint = process.communicate(timeout=60)
        assert process.returncode == 0, complaint
    async with shared.open() as store:
        found = await (await store.records("things")).get("n")
        assert found is not None
        assert found.value == PROCESSES * TIMES


async def test_the_retention_that_was_given_last_holds_for_every_process(shared: Engine) -> None:
    async with shared.open() as store, shared.open() as other:
        log = await store.log("events", retention=Retention(max_entries=2))
        for number in range(4):
            await log.append("a", number)
        await other.log("events", retention=Retention(max_entries=4))
        for number in range(4, 8):
            await log.append("a", number)
        assert [entry.value for entry in await log.read()] == [4, 5, 6, 7]


async def test_a_watch_sees_what_another_process_writes(shared: Engine) -> None:
    async with shared.open() as store:
        records = await store.records("things")
        async with records.watch() as changes:
            process = start("increment.py", shared.url, "2")
            async for change in changes:
                if change.record is not None and change.record.value == 2:
                    break
            _, complaint = process.communicate(timeout=60)
            assert process.returncode == 0, complaint


async def test_a_process_that_is_killed_loses_nothing_acknowledged(shared: Engine) -> None:
    await kill_and_look(shared, times=1, seed=1)


@pytest.mark.faults
@pytest.mark.parametrize("seed", range(2))
async def test_processes_that_are_killed_at_random_lose_nothing_acknowledged(
    shared: Engine, seed: int
) -> None:
    await kill_and_look(shared, times=rounds(8), seed=seed)


async def kill_and_look(shared: Engine, times: int, seed: int) -> None:
    """Kill a writer after a random time, again and again; look for all it was acknowledged."""
    moments = random.Random(seed)
    said: set[int] = set()
    for round in range(times):
        process = start("append.py", shared.url, str(round * 1_000_000))
        said |= kill_after(moments.uniform(0, 0.2), process)
        async with shared.open() as store:
            await look(store, said)


def kill_after(seconds: float, process: subprocess.Popen[str]) -> set[int]:
    """Let it write for so long, kill it, and return what it was acknowledged."""
    with process:
        assert process.stdout is not None
        first = process.stdout.readline()
        time.sleep(seconds)  # what is killed must not know when
        process.kill()
        return {int(line) for line in (first, *process.stdout)}


async def look(store: Store, said: set[int]) -> None:
    log, records = await store.log("events"), await store.records("things")
    assert await store.check() == []
    values = [entry.value for entry in await log.read(limit=1_000_000)]
    assert len(values) == len(set(values))
    assert said <= set(values)
    first, last = await log.bounds()
    assert (first, last) == (1, len(values))
    assert {f"key{number}" for number in said} <= {record.key async for record in records.scan()}
