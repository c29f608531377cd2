"""A nats-server that is killed, stands still, is full or never was there."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path
from time import monotonic

import anyio
import pytest

from kinwire.storage import (
    Change,
    Entry,
    Log,
    Records,
    StorageAddressError,
    StorageDamagedError,
    StorageError,
    StorageFullError,
    StorageUnavailableError,
    open_store,
)
from tests.runtime.storage.fixtures_engines import NatsServer

pytestmark = [pytest.mark.anyio, pytest.mark.faults]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[NatsServer]:
    """A server of the test's own."""
    server = NatsServer(tmp_path)
    server.start()
    yield server
    server.kill()


def send(server: NatsServer, number: signal.Signals) -> None:
    assert server.process is not None
    os.kill(server.process.pid, number)
    if number == signal.SIGSTOP:
        os.waitpid(server.process.pid, os.WUNTRACED)  # until it stands


async def keep_writing(
    log: Log, records: Records, said: dict[int, int], task: int, stop: anyio.Event
) -> None:
    """Write until asked to stop; note what was acknowledged, with its sequence."""
    number, revision = task, 0
    while not stop.is_set():
        said[number] = (await log.append("a", number)).sequence
        # Nobody else writes this key: a conflict would be with an attempt of its own.
        revision = await records.put(f"key{task}", number, revision=revision)
        number += 10


@pytest.mark.parametrize("seed", range(3))
async def test_a_killed_server_loses_and_duplicates_nothing_acknowledged(
    server: NatsServer, seed: int
) -> None:
    moments = random.Random(seed)
    said: dict[int, int] = {}
    async with open_store(server.url, timeout=30) as store:
        log, records = await store.log("events"), await store.records("things")
        stop = anyio.Event()
        async with anyio.create_task_group() as tasks:
            for task in range(10):
                tasks.start_soon(keep_writing, log, records, said, task, stop)
            for _ in range(5):
                await anyio.sleep(moments.uniform(0.05, 0.3))  # the server must not know when
                await anyio.to_thread.run_sync(server.kill)
                await anyio.to_thread.run_sync(server.start)
            stop.set()
        entries = await log.read(limit=1_000_000)
        found = {entry.value: entry.sequence for entry in entries}
        assert len(found) == len(entries)  # none twice: no write was left without an answer
        assert found == said
        for task in range(10):
            record = await records.get(f"key{task}")
            assert record is not None
            assert record.value == max(n for n in said if n % 10 == task)


async def test_readers_go_on_over_a_restart_without_a_gap(server: NatsServer) -> None:
    async with open_store(server.url, timeout=20) as store:
        log, records = await store.log("events"), await store.records("things")
        with anyio.fail_after(60):
            async with log.follow() as entries, records.watch() as changes:
                for number in range(1, 6):
                    await log.append("a", number)
                    await records.put("a", number)
                    assert (await anext(entries)).value == number
                    assert await told(changes) == number
                    await anyio.to_thread.run_sync(server.kill)
                    await anyio.to_thread.run_sync(server.start)


async def told(changes: AsyncIterator[Change]) -> int:
    change = await anext(changes)
    assert change.record is not None
    value: int = change.record.value
    return value


async def test_what_was_written_while_a_reader_was_cut_off_comes_later(server: NatsServer) -> None:
    url = server.url
    async with open_store(url, timeout=20) as store:
        log = await store.log("events")
        await log.append("a", 0)
        got: list[Entry] = []
        with anyio.fail_after(60):
            async with log.follow() as entries:
                got.append(await anext(entries))
                await anyio.to_thread.run_sync(server.kill)
                await anyio.to_thread.run_sync(server.start)
                async with open_store(url) as other:
                    again = await other.log("events")
                    for number in range(1, 301):
                        await again.append("a", number)
                while len(got) < 301:
                    got.append(await anext(entries))
        assert [entry.value for entry in got] == list(range(301))


async def test_a_server_that_stands_still_is_an_error_in_time_and_recovers(
    server: NatsServer,
) -> None:
    async with open_store(server.url, timeout=1) as store:
        log, records = await store.log("events"), await store.records("things")
        await records.put("a", 1)
        send(server, signal.SIGSTOP)
        for call in (
            lambda: log.append("a", 1),
            lambda: records.put("a", 2),
            lambda: records.get("a"),
            lambda: log.bounds(),
        ):
            begun = monotonic()
            with pytest.raises(StorageUnavailableError, match="within the timeout"):
                await call()
            assert monotonic() - begun < 10
        send(server, signal.SIGCONT)
        with anyio.fail_after(60):
            while True:
                with suppress(StorageUnavailableError):
                    await records.put("a", 3)
                    break
        found = await records.get("a")
        assert found is not None
        assert found.value == 3


async def test_a_server_that_is_away_is_an_error_in_time_and_recovers(server: NatsServer) -> None:
    async with open_store(server.url, timeout=0.5) as store:
        records = await store.records("things")
        await records.put("a", 1)
        await anyio.to_thread.run_sync(server.kill)
        with pytest.raises(StorageUnavailableError, match="This program need not be restarted"):
            await records.get("a")
        with pytest.raises(StorageUnavailableError) as failed:
            await records.put("a", 2)
        assert not failed.value.outcome_unknown  # it was not even sent
        await anyio.to_thread.run_sync(server.start)
        with anyio.fail_after(60):
            found = None
            while found is None:
                with suppress(StorageUnavailableError):
                    found = await records.get("a")
        assert found.value == 1


async def test_a_read_that_is_cut_short_is_an_error_not_a_short_page(server: NatsServer) -> None:
    async with open_store(server.url, timeout=1) as store:
        log = await store.log("events")
        for number in range(10):
            await log.append("a", number)
        send(server, signal.SIGSTOP)
        with pytest.raises(StorageUnavailableError):
            await log.read()
        send(server, signal.SIGCONT)


async def fill(log: Log) -> None:
    while True:
        await log.append("a", "x" * 100_000)


async def test_a_server_that_is_full_says_so_and_goes_on_reading(server: NatsServer) -> None:
    server.kill()
    text = server.config.read_text(encoding="utf-8")
    server.config.write_text(text.replace("sync_interval", "max_file: 3MB, sync_interval"))
    server.start()
    async with open_store(server.url, timeout=2) as store:
        log = await store.log("events")
        with pytest.raises(StorageFullError, match="limits of JetStream"):
            await fill(log)
        assert len(await log.read()) > 10


async def test_a_missing_server_is_reported_without_the_password() -> None:
    with pytest.raises(StorageUnavailableError) as failed:
        async with open_store("nats://me:secret@127.0.0.1:9", timeout=0.5):
            pass
    assert "127.0.0.1:9" in str(failed.value)
    assert "secret" not in str(failed.value)


async def test_a_stream_that_was_deleted_is_not_made_again(server: NatsServer) -> None:
    import nats

    async with open_store(server.url, timeout=1) as store:
        log = await store.log("events")
        client = await nats.connect(f"nats://127.0.0.1:{server.port}")
        streams = client.jetstream()
        for info in await streams.streams_info():
            await streams.delete_stream(info.config.name or "")
        await client.close()
        for call in (lambda: log.append("a", 1), lambda: log.bounds(), lambda: log.read()):
            with pytest.raises(StorageError):
                await call()


async def test_entries_of_another_program_in_a_stream_are_reported(
    server: NatsServer,
) -> None:
    import nats

    url = server.url
    async with open_store(url) as store:
        log, records = await store.log("events"), await store.records("things")
        await log.append("a", 1)
        name = url.rpartition("/")[2]
        client = await nats.connect(f"nats://127.0.0.1:{server.port}")
        streams = client.jetstream()
        await streams.publish(f"$KV.{name}_R_things.kodd", b"no json")
        await streams.publish(f"$KV.{name}_R_things.odd", b"1")
        soon = {"Kinwire-Expires": "soon"}
        await streams.publish(f"$KV.{name}_R_things.ksoon", b"1", headers=soon)
        await streams.publish(f"{name}_L_events.a", b"\xff")
        await client.close()
        assert len(await store.check()) == 4
        for key in ("odd", "soon"):
            with pytest.raises(StorageDamagedError, match=key):
                await records.get(key)
        with pytest.raises(StorageDamagedError, match="records 'things', key"):
            _ = [record async for record in records.scan()]
        with pytest.raises(StorageDamagedError, match="log 'events', entry 2"):
            await log.read()


async def test_a_refusing_server_is_reported_with_its_reason(server: NatsServer) -> None:
    server.kill()
    text = server.config.read_text(encoding="utf-8")
    server.config.write_text(f"{text}authorization {{ user: me, password: secret }}\n")
    server.start()
    for who in ("", "me:wrong@"):
        with pytest.raises(StorageUnavailableError, match="Authorization Violation"):
            async with open_store(f"nats://{who}127.0.0.1:{server.port}", timeout=0.5):
                pass


async def test_a_read_without_an_answer_says_nothing_of_a_write(server: NatsServer) -> None:
    async with open_store(server.url, timeout=0.5) as store:
        records = await store.records("things")
        send(server, signal.SIGSTOP)
        with pytest.raises(StorageUnavailableError) as failed:
            await records.get("a")
        send(server, signal.SIGCONT)
        assert not failed.value.outcome_unknown


@pytest.mark.parametrize("anyio_backend", ["trio"])
async def test_another_event_loop_is_refused_with_a_hint(anyio_backend: str) -> None:
    with pytest.raises(StorageAddressError, match="expected asyncio"):
        async with open_store("nats://127.0.0.1:9"):
            pass


async def test_what_a_server_said_comes_before_how_its_connection_ended() -> None:
    from nats.errors import Error  # what the engine needs is an extra

    from kinwire.storage.nats.connection import Trouble

    trouble = Trouble()
    await trouble.note(Error("nats: 'Authorization Violation'"))
    await trouble.note(ConnectionResetError("Connection reset by peer"))
    assert trouble.named("nothing") == "nothing (nats: 'Authorization Violation')"
    assert trouble.named("nothing", since=monotonic() + 1) == "nothing"
