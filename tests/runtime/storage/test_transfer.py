"""A store moved to another engine, by the command and its lines."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import pytest

from kinwire.storage import Retention, StorageInputError, Store, open_store
from kinwire.storage.transfer import exported, import_lines
from kinwire_cli import main
from tests.each import each
from tests.runtime.storage.fixtures_engines import ON_ALL, Engine, NatsServer

KEPT = Retention(max_entries=50, dedup_window=600)


async def fill(store: Store) -> None:
    log, records = await store.log("events", retention=KEPT), await store.records("things")
    for number in range(5):
        await log.append(f"a.{number}", {"n": number}, id=f"id-{number}" if number % 2 else None)
    await records.put("a", "é\n")
    await records.put("a/b", None, expires_in=3600)
    await records.put("gone", 1)
    await records.delete("gone")
    await store.records("empty", durable=False)


async def contents(store: Store) -> Any:
    log, records = await store.log("events", retention=KEPT), await store.records("things")
    return (
        await store.entries(),
        [(entry.sequence, entry.subject, entry.value, entry.id) for entry in await log.read()],
        sorted([(r.key, r.value, r.expires_at is None) async for r in records.scan()]),
    )


@pytest.mark.anyio
@ON_ALL
async def test_what_is_exported_is_imported_alike_by_every_engine(engine: Engine) -> None:
    async with open_store("memory:") as first:
        await fill(first)
        lines = [line async for line in exported(first)]
        async with engine.open() as second:
            assert await import_lines(second, lines) == len(lines)
            assert await contents(second) == await contents(first)
            again = [line async for line in exported(second)]
            assert len(again) == len(lines)


BAD: list[tuple[str, Callable[[list[str]], object], str]] = [
    ("cut off", lambda lines: lines.pop(), "truncated"),
    ("a line is missing", lambda lines: lines.pop(3), "line 11"),
    ("no heading", lambda lines: lines.pop(0), "line 1"),
    ("no line", lambda lines: lines.clear(), r"line 1: .*, got no line. Export the store again.$"),
    ("a line too many", lambda lines: lines.append("{}"), "line 13"),
    ("no JSON", lambda lines: lines.insert(2, "{"), "line 3"),
    ("another thing", lambda lines: lines.insert(2, '{"what": 1}'), "line 3"),
    ("a newer version", lambda lines: lines.insert(0, '{"format": "kinwire store"}'), "line 1"),
]


@pytest.mark.parametrize(("spoil", "place"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
def test_a_bad_line_is_reported_with_its_number(
    spoil: Callable[[list[str]], object], place: str
) -> None:
    async def attempt() -> None:
        async with open_store("memory:") as store, open_store("memory:") as other:
            await fill(store)
            lines = [line async for line in exported(store)]
            spoil(lines)
            with pytest.raises(StorageInputError, match=place):
                await import_lines(other, lines)

    asyncio.run(attempt())


def entry(subject: Any = "a", value: Any = 1, id: Any = None) -> str:
    return json.dumps({"subject": subject, "value": value, "id": id})


def record(key: Any = "a", value: Any = 1, until: Any = None) -> str:
    return json.dumps({"key": key, "value": value, "expires_at": until})


INSERTED: list[tuple[int, str | bytes, str]] = [
    (1, entry(), "line 2: expected a line of kinwire store export"),
    (1, record(), "line 2: expected a line of kinwire store export"),
    (1, '{"log": "A", "durable": true}', "line 2: name"),
    (1, '{"log": "a", "durable": true, "max_age": "x"}', "line 2: Retention.max_age"),
    (1, '{"log": "a", "durable": true, "what": 1}', "line 2: expected a line"),
    (2, b"\xff\xfe", "line 3: expected a line"),
    (2, "[" * 100_000, "line 3: expected a line"),
    (2, "5", "line 3: expected a line"),
    (2, record(), "line 3: expected a line"),
    (2, entry(subject=""), "line 3: subject"),
    (2, entry(subject=5), "line 3: expected a line"),
    (2, entry(value=float("nan")), "line 3: expected a line"),
    (2, entry(id=5), "line 3: id"),
    (-1, entry(), "line 12: expected a line"),
    (-1, record(key=""), "line 12: key: expected 1 to 512 bytes"),
    (-1, record(value="\ud800"), "line 12: value of 'a'"),
    (-1, record(until="x"), "line 12: expected a line"),
    (-1, record(until=float("inf")), "line 12: expected a line"),
    (-1, record(until=1e300), "line 12: expires_in"),
]


@each(("index", "line", "said"), INSERTED)
def test_a_line_that_cannot_be_imported_is_reported_with_its_number(
    index: int, line: str | bytes, said: str
) -> None:
    async def attempt() -> None:
        async with open_store("memory:") as store, open_store("memory:") as other:
            await fill(store)
            lines: list[str | bytes] = [line async for line in exported(store)]
            lines.insert(index, line)
            with pytest.raises(StorageInputError) as refused:
                await import_lines(other, lines)
            assert said in str(refused.value)
            told = "this one has the lines before" in str(refused.value)
            assert told == bool(await other.entries())

    asyncio.run(attempt())


def test_a_store_that_holds_something_takes_no_import() -> None:
    async def attempt() -> None:
        async with open_store("memory:") as store:
            await fill(store)
            with pytest.raises(StorageInputError, match="an empty store, got log events"):
                await import_lines(store, [line async for line in exported(store)])

    asyncio.run(attempt())


def test_an_id_that_came_twice_is_not_a_repeat_for_the_import() -> None:
    lines = [
        json.dumps({"format": "kinwire store", "version": 1}),
        json.dumps({"log": "events", "durable": True}),
        *[json.dumps({"subject": "a", "value": n, "at": 0, "id": "same"}) for n in (1, 2)],
        json.dumps({"lines": 3}),
    ]

    async def values() -> list[int]:
        async with open_store("memory:") as store:
            await import_lines(store, lines)
            return [entry.value for entry in await (await store.log("events")).read()]

    assert asyncio.run(values()) == [1, 2]


@pytest.fixture
def url(tmp_path: Path) -> str:
    """A file with something in it."""
    url = f"sqlite:///{tmp_path}/one.db"

    async def make() -> None:
        async with open_store(url) as store:
            await fill(store)

    asyncio.run(make())
    return url


def test_the_command_checks_and_moves(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, other = str(tmp_path / "lines"), f"sqlite:///{tmp_path}/two.db"
    assert main(["store", "check", url]) == 0
    said = "log events: 5 entries\nrecords empty: 0 records\nrecords things: 2 records\n"
    assert capsys.readouterr().out == said
    assert main(["store", "export", url, file]) == 0
    assert main(["store", "import", other, file]) == 0
    assert capsys.readouterr().err == "wrote 12 lines\nread 12 lines\n"
    assert main(["store", "check", other]) == 0
    assert capsys.readouterr().out == said
    assert main(["store", "import", other, file]) == 2
    assert "Import into a new store" in capsys.readouterr().err


def test_the_command_names_what_is_damaged(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(sqlite3.connect(tmp_path / "one.db")) as connection, connection:
        connection.execute("UPDATE spaces SET last = 1 WHERE name = 'events'")
    assert main(["store", "check", url]) == 1
    assert "events: a number above the last one" in capsys.readouterr().out
    (tmp_path / "one.db").write_bytes(b"\0" * 9999)
    assert main(["store", "check", url]) == 1
    assert "one.db: expected an undamaged store" in capsys.readouterr().out


def test_unreadable_data_is_reported_with_its_place(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(sqlite3.connect(tmp_path / "one.db")) as connection, connection:
        connection.execute("UPDATE entries SET value = '{' WHERE sequence = 2")
        connection.execute("UPDATE records SET value = CAST(x'22ff22' AS TEXT) WHERE key = 'a'")
        connection.execute("UPDATE spaces SET options = '[]' WHERE name = 'empty'")
    assert main(["store", "check", url]) == 1
    said = capsys.readouterr().out
    for place in ("records things, key a", "log events, entry 2"):
        assert place in said
    assert main(["store", "export", url]) == 2
    assert "options of records 'empty'" in capsys.readouterr().err


def test_an_import_that_fails_leaves_no_store_that_it_has_made(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, target = tmp_path / "export.jsonl", f"sqlite:///{tmp_path}/new.db"
    assert main(["store", "export", url, str(file)]) == 0
    lines = file.read_bytes().splitlines(keepends=True)
    names = sorted(os.listdir(tmp_path))
    for wrong in ([], [b'{"x": 1}\n'], lines[:-1], [*lines[:4], b"\xff\n"]):
        file.write_bytes(b"".join(wrong))
        assert main(["store", "import", target, str(file)]) == 2
        assert capsys.readouterr().err.endswith("Export the store again; nothing was imported.\n")
        assert sorted(os.listdir(tmp_path)) == names
    file.write_bytes(b"".join(lines))
    assert main(["store", "import", target, str(file)]) == 0


def test_an_import_that_fails_leaves_a_store_that_was_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url, file = f"sqlite:///{tmp_path}/there.db", tmp_path / "a.jsonl"

    async def make() -> None:
        async with open_store(url):
            pass

    asyncio.run(make())
    heading = {"log": "events", "durable": True}
    head = {"format": "kinwire store", "version": 1}
    for lines, hint in (
        ([{}], "Export the store again.\n"),
        ([head, heading, {}], "the lines before.\n"),
    ):
        file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
        assert main(["store", "import", url, str(file)]) == 2
        assert capsys.readouterr().err.endswith(hint)
        assert (tmp_path / "there.db").exists()


@pytest.mark.parametrize("target", ["one.db", "a link", "another link"])
def test_an_export_does_not_overwrite_the_store_itself(
    url: str, target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.symlink("one.db", tmp_path / "a link")
    os.link(tmp_path / "one.db", tmp_path / "another link")
    before = (tmp_path / "one.db").read_bytes()
    assert main(["store", "export", url, str(tmp_path / target)]) == 2
    assert "a file of the store itself" in capsys.readouterr().err
    assert (tmp_path / "one.db").read_bytes() == before


def test_an_export_that_fails_leaves_the_one_before(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "one.db.jsonl"
    assert main(["store", "export", url, str(file)]) == 0
    before = file.read_bytes()
    with closing(sqlite3.connect(tmp_path / "one.db")) as connection, connection:
        connection.execute("UPDATE records SET value = '{' WHERE key = 'a'")
    names = sorted(os.listdir(tmp_path))
    assert main(["store", "export", url, str(file)]) == 2
    assert "records 'things', key 'a'" in capsys.readouterr().err
    assert file.read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == names


def test_an_empty_name_on_a_server_is_not_a_store(
    request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    server: NatsServer = request.getfixturevalue("nats_server")
    for words in (["check"], ["export"]):
        assert main(["store", *words, server.url]) == 2
        assert "this store does not exist on the server" in capsys.readouterr().err


WRONG = [
    (["check", "one.db"], 2, "A file is sqlite:///one.db"),
    (["check", "sqlite:///no.db"], 2, "there is no such file"),
    (["export", "sqlite:no.db"], 2, "sqlite:///notes.db is in this folder"),
    (["check", "redis://x"], 2, "expected memory:, sqlite:///file.db or nats://host:port"),
    (["import", "memory:", "no-such-file"], 2, "No such file"),
    (["check", "memory:", "file"], 2, "check takes no FILE"),
    (["check", "nats://127.0.0.1:9", "--timeout", "0.3"], 4, "This program need not be restarted"),
]


@pytest.mark.parametrize(("words", "code", "said"), WRONG, ids=[row[2] for row in WRONG])
def test_the_command_says_what_is_wrong(
    words: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if "nats:" in words[1]:
        pytest.importorskip("nats")
    assert main(["store", *words]) == code
    assert said in capsys.readouterr().err


def test_a_timeout_that_is_not_a_number_of_seconds_is_a_wrong_argument(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["store", "check", "memory:", "--timeout", "nan"])
    assert ended.value.code == 2
    assert "argument --timeout: expected seconds, more than 0" in capsys.readouterr().err


def test_import_kinwire_loads_nothing_of_it() -> None:
    async def loaded() -> bytes:
        program = (
            "import sys, kinwire\nassert 'kinwire.storage' not in sys.modules\n"
            "from kinwire.storage import open_store\n"
            "print(sorted({'sqlite3', 'nats', 'anyio'} & {*sys.modules}))"
        )
        import sys

        return (await anyio.run_process([sys.executable, "-c", program])).stdout

    assert asyncio.run(loaded()) == b"[]\n"
