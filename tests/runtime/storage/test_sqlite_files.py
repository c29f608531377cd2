"""The file of a store: what is refused at the start, with the path, and left as it is."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import mkdtemp

import anyio
import pytest

from kinwire.storage import (
    Log,
    Retention,
    StorageAddressError,
    StorageDamagedError,
    StorageError,
    StorageFullError,
    StorageReadOnlyError,
    StorageUnavailableError,
    StorageVersionError,
    open_store,
)
from kinwire.storage.sqlite.migrations import MIGRATIONS, migrate
from tests.runtime.storage.make_files import FIRST_ENTRIES, FIRST_RECORDS

FILES = Path(__file__).parent / "files"
NOBODY = 65534

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with many pages, closed."""
    path = tmp_path_factory.mktemp("made") / "notes.db"

    async def make() -> None:
        async with open_store(f"sqlite:///{path}") as store:
            log = await store.log("events", durable=False)
            for number in range(200):
                await log.append("a", f"{number}" * 100)

    asyncio.run(make())
    return path


@pytest.fixture
def path(made: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copy(made, tmp_path / "notes.db"))


async def opened(path: Path) -> int:
    async with open_store(f"sqlite:///{path}") as store:
        return len(await (await store.log("events")).read())


async def test_a_file_is_made_once_and_opened_afterwards(path: Path) -> None:
    assert await opened(path) == 200
    assert names(path.parent) == ["notes.db"]


async def test_a_store_may_lie_in_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with open_store("sqlite:///with%20space.db") as store:
        monkeypatch.chdir("/")
        await (await store.records("things")).put("a", 1)
    assert names(tmp_path) == ["with space.db"]


async def test_tasks_that_open_a_new_file_together_create_it_once(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"

    async def append(number: int) -> None:
        async with open_store(f"sqlite:///{path}") as store:
            await (await store.log("events")).append("a", number)

    async with anyio.create_task_group() as tasks:
        for number in range(6):
            tasks.start_soon(append, number)
    assert await opened(path) == 6
    assert names(tmp_path) == ["notes.db"]


async def test_a_name_that_the_system_refuses_is_reported(tmp_path: Path) -> None:
    with pytest.raises(StorageUnavailableError, match="name too long"):
        await opened(tmp_path / ("n" * 300))


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def content(path: Path) -> bytes:
    return path.read_bytes()


def overwrite(path: Path, offset: int, size: int) -> None:
    with open(path, "r+b") as file:
        file.seek(offset)
        file.write(b"\xa5" * size)


def another_program(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE notes (text TEXT)")


def no_tables(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE entries")


DAMAGES: list[tuple[str, Callable[[Path], object]]] = [
    ("a header that is overwritten", lambda path: overwrite(path, 0, 100)),
    ("a page that is overwritten", lambda path: overwrite(path, 8 * 4096, 4096)),
    ("a file that is cut", lambda path: os.truncate(path, 5 * 4096 + 100)),
    ("an empty file", lambda path: os.truncate(path, 0)),
    ("a text", lambda path: path.write_text("notes\n" * 1000)),
    ("a database of another program", another_program),
]


@pytest.mark.parametrize("damage", [d for _, d in DAMAGES], ids=[name for name, _ in DAMAGES])
async def test_a_damaged_file_is_named_and_left_as_it_is(
    path: Path, damage: Callable[[Path], object]
) -> None:
    damage(path)
    before = content(path)
    for _ in range(2):
        with pytest.raises(StorageDamagedError) as refused:
            await opened(path)
        assert str(path) in str(refused.value)
        assert "backup" in refused.value.hint
    assert content(path) == before


SPOILED = [
    "UPDATE entries SET value = '{' WHERE sequence = 7",
    "UPDATE entries SET value = CAST(x'22ff22' AS TEXT) WHERE sequence = 7",
    "UPDATE entries SET subject = CAST(x'ff' AS TEXT) WHERE sequence = 7",
    "UPDATE entries SET id = CAST(x'ff' AS TEXT) WHERE sequence = 7",
]


@pytest.mark.parametrize("statement", SPOILED)
async def test_an_entry_with_changed_bytes_is_damage_for_readers_and_the_check(
    path: Path, statement: str
) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)
    async with open_store(f"sqlite:///{path}") as store:
        log = await store.log("events")
        assert len(await log.read(limit=6)) == 6
        with pytest.raises(StorageDamagedError):
            await log.read()
        async with log.follow(after=6) as entries:
            with pytest.raises(StorageDamagedError):
                await anext(entries)
        assert any("entry 7" in fault for fault in await store.check())
        assert (await log.append("a", 1)).sequence == 201


async def test_a_reused_number_is_damage_and_the_others_are_written(
    path: Path,
) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE spaces SET last = 3 WHERE name = 'events'")
    async with open_store(f"sqlite:///{path}") as store:
        log, records = await store.log("events"), await store.records("things")
        with pytest.raises(StorageDamagedError, match=r"notes\.db"):
            await log.append("a", 1)
        assert await records.put("a", 1) == 1


async def test_later_damage_is_reported_and_the_rest_goes_on(path: Path) -> None:
    async with open_store(f"sqlite:///{path}") as store:
        log, records = await store.log("events"), await store.records("things")
        overwrite(path, 14 * 4096, 4 * 4096)
        with pytest.raises(StorageDamagedError, match=r"notes\.db"):
            _ = [await log.read(after=after) for after in range(200)]
        assert await store.check() != []
        assert await records.put("a", 1) == 1


async def test_a_file_that_left_only_its_wal_is_not_created_again(path: Path) -> None:
    os.rename(path, f"{path}-wal")
    with pytest.raises(StorageDamagedError, match="only its -wal file"):
        await opened(path)
    assert names(path.parent) == ["notes.db-wal"]


async def test_a_file_of_a_newer_version_is_refused(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    with pytest.raises(StorageVersionError, match="or a newer one"):
        await opened(path)


async def test_a_folder_that_is_not_there_is_an_address_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(StorageAddressError, match="four slashes begin an absolute path"):
        await opened(tmp_path / "no" / "notes.db")
    assert names(tmp_path) == []


async def test_a_folder_in_its_place_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=str(tmp_path)):
        await opened(tmp_path)


@contextmanager
def rights_taken(folder: Path) -> Iterator[None]:
    """Let nobody write in `folder`; root has to become somebody else for that."""
    for name in (folder, *folder.iterdir()):
        os.chmod(name, 0o555 if name.is_dir() else 0o444)
    if os.geteuid() == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if os.getuid() == 0:
            os.seteuid(0)
        os.chmod(folder, 0o755)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that also others than its owner may enter."""
    folder = Path(mkdtemp())
    os.chmod(folder, 0o755)
    yield folder
    shutil.rmtree(folder)


async def test_a_file_that_may_not_be_written_is_refused(path: Path, open_folder: Path) -> None:
    copy = open_folder / "notes.db"
    shutil.copy(path, copy)
    with rights_taken(open_folder), pytest.raises(StorageReadOnlyError, match=r"notes\.db"):
        await opened(copy)
    assert await opened(copy) == 200


async def test_a_folder_that_may_not_be_written_takes_no_new_file(open_folder: Path) -> None:
    with rights_taken(open_folder), pytest.raises(StorageError, match=r"notes\.db"):
        await opened(open_folder / "notes.db")
    assert names(open_folder) == []


async def test_a_file_that_is_removed_or_replaced_takes_no_more_writes(path: Path) -> None:
    async with open_store(f"sqlite:///{path}") as store:
        log = await store.log("events")
        os.unlink(path)
        with pytest.raises(StorageDamagedError, match="a replaced or missing file"):
            await log.append("a", 1)
        assert "notes.db" not in names(path.parent)


async def test_the_file_of_version_1_is_read_and_written(tmp_path: Path) -> None:
    copy = tmp_path / "store.db"
    shutil.copy(FILES / "version-1.db", copy)
    async with open_store(f"sqlite:///{copy}") as store:
        log, records = await store.log("events"), await store.records("things")
        assert {r.key: r.value async for r in records.scan()} == FIRST_RECORDS
        assert [(e.subject, e.value, e.id) for e in await log.read()] == FIRST_ENTRIES
        assert (await log.append("a", 1)).sequence == len(FIRST_ENTRIES) + 1
        assert (await store.entries())[0].retention == Retention()
        assert await store.check() == []


def test_a_migration_that_fails_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    shutil.copy(FILES / "version-1.db", path)
    bad = (*MIGRATIONS, ("ALTER TABLE spaces ADD COLUMN more TEXT", "ALTER TABLE nothing"))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        with pytest.raises(sqlite3.OperationalError):
            migrate(connection, bad)
        assert connection.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
        columns = {row[1] for row in connection.execute("PRAGMA table_info(spaces)")}
        assert "more" not in columns
        migrate(connection, (*MIGRATIONS, ("ALTER TABLE spaces ADD COLUMN more TEXT",)))
        assert connection.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS) + 1,)


async def fill(log: Log, acknowledged: list[int]) -> None:
    while True:
        acknowledged.append((await log.append("a", "x" * 20_000)).sequence)


@pytest.mark.faults
async def test_a_full_disk_is_reported_and_recovers_without_a_restart(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    os.mkdir(disk)
    done = await anyio.run_process(
        ["mount", "-t", "tmpfs", "-o", "size=3m", "none", str(disk)], check=False
    )
    if done.returncode:
        pytest.skip("needs the right to mount a small disk")
    try:
        async with open_store(f"sqlite:///{disk}/notes.db") as store:
            log = await store.log("events")
            acknowledged: list[int] = []
            with pytest.raises(StorageFullError, match="Free some space"):
                await fill(log, acknowledged)
            assert acknowledged
            assert [entry.sequence for entry in await log.read()] == acknowledged
            await anyio.run_process(["mount", "-o", "remount,size=9m", str(disk)])
            assert (await log.append("a", "y")).sequence == acknowledged[-1] + 1
            assert await store.check() == []
    finally:
        await anyio.run_process(["umount", str(disk)])
