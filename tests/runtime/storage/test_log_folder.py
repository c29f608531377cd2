"""A log in a folder of files: lines, several files, several processes, and what is torn."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from math import nan
from pathlib import Path
from typing import Any

import anyio
import pytest

from kinwire.storage import (
    Appended,
    CursorLostError,
    LogFolder,
    StorageFullError,
    StorageInputError,
    StorageLockedError,
    StorageReadOnlyError,
)
from kinwire.storage.file_lock import FileLock

pytestmark = pytest.mark.anyio


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "audit"


def files_of(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.jsonl"))


def write(file: Path, data: bytes) -> None:
    file.parent.mkdir(exist_ok=True)
    with file.open("ab") as out:
        out.write(data)


def run_writers(folder: Path) -> list[int]:
    command = [sys.executable, "-c", WRITER, str(folder)]
    writers = [subprocess.Popen([*command, name]) for name in "xy"]
    return [writer.wait(60) for writer in writers]


async def values_of(log: LogFolder, subjects: str = ">", after: int = 0) -> list[Any]:
    return [entry.value for entry in await log.read(subjects, after=after)]


async def test_an_entry_is_a_line_of_json(folder: Path) -> None:
    log = LogFolder(folder, clock=lambda: 7.5)
    assert await log.bounds() == (1, 0)
    assert await log.read() == []
    assert files_of(folder) == []
    assert await log.append("a.b", {"x": "é\n"}) == Appended(1)
    assert await log.append_after(1, [("a.c", [1]), ("d", None)]) == 2
    (file,) = files_of(folder)
    assert file.name == "0000000000000001.jsonl"
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert lines == [
        {"at": 7.5, "subject": "a.b", "value": {"x": "é\n"}},
        {"at": 7.5, "subject": "a.c", "value": [1]},
        {"at": 7.5, "subject": "d", "value": None},
    ]
    assert file.stat().st_mode & 0o077 == 0
    entries = await log.read("a.*")
    assert [(one.sequence, one.subject, one.at) for one in entries] == [
        (1, "a.b", 7.5),
        (2, "a.c", 7.5),
    ]
    assert await log.bounds() == (1, 3)


async def test_entries_follow_the_one_that_is_expected(folder: Path) -> None:
    log, other = LogFolder(folder), LogFolder(folder)
    assert await log.append_after(1, [("a", 1)]) == 0
    assert await log.append_after(0, [("a", 1)]) == 1
    assert await other.append_after(0, [("a", 2)]) == 0
    assert await other.append_after(1, [("a", 2), ("a", 3)]) == 2
    assert await log.append_after(1, [("a", 4)]) == 0
    assert await log.append_after(3, [("a", 4)]) == 1
    assert await values_of(other) == [1, 2, 3, 4]


async def test_what_no_log_takes_is_refused(folder: Path) -> None:
    log = LogFolder(folder)
    for refused in (("*", 1), ("a", nan), ("a", {1: 2})):
        with pytest.raises(StorageInputError):
            await log.append(*refused)
    with pytest.raises(StorageInputError, match="does not recognize repeats"):
        await log.append("a", 1, id="x")
    with pytest.raises(ValueError, match="max_bytes: expected a whole number"):
        LogFolder(folder, max_bytes=0)
    assert await log.bounds() == (1, 0)


async def test_a_new_file_begins_when_one_is_big(folder: Path) -> None:
    log = LogFolder(folder, max_bytes=100)
    for number in range(20):
        await log.append("a", number)
    files = files_of(folder)
    assert len(files) > 3
    assert all(file.stat().st_size <= 160 for file in files)
    assert await values_of(LogFolder(folder)) == list(range(20))
    assert await values_of(log, after=13) == list(range(13, 20))
    pages, after = list[Any](), 0
    while page := await log.read(after=after, limit=3):
        pages += [entry.value for entry in page]
        after = page[-1].sequence
    assert pages == list(range(20))


async def test_the_oldest_files_go(folder: Path) -> None:
    log = LogFolder(folder, max_bytes=60, max_files=2)
    for number in range(20):
        await log.append("a", number)
        assert len(files_of(folder)) <= 2
    first, last = await log.bounds()
    assert (first > 10, last) == (True, 20)
    assert await values_of(log) == list(range(first - 1, 20))
    with pytest.raises(CursorLostError):
        await log.read(after=2)


@pytest.mark.parametrize(
    "tail", [b'{"at":1.0,"subj', b'{"at":1.0,"subject":"a","value":5}', b"x\x00"]
)
async def test_a_torn_line_is_kept_and_writing_goes_on(folder: Path, tail: bytes) -> None:
    await LogFolder(folder).append("a", 1)
    (file,) = files_of(folder)
    write(file, tail)
    log = LogFolder(folder)
    assert await values_of(log) == [1]
    assert await log.bounds() == (1, 1)
    assert await log.append_after(1, [("a", 3)]) == 0
    assert await log.bounds() == (1, 2)
    assert await log.append_after(2, [("a", 3)]) == 1
    entries = await log.read()
    assert [one.sequence for one in entries] == [1, 2, 3]
    assert entries[2].value == 3
    whole = tail.endswith(b"}")  # only its line break was missing
    assert entries[1].subject == ("a" if whole else "damaged")
    assert entries[1].value == (5 if whole else {"line": tail.decode().replace("\0", "\0")})


async def test_lines_that_are_no_entries_are_read_as_damaged(folder: Path) -> None:
    lines = ["", "[]", "null", '{"at":1,"subject":5,"value":1}', "\x1b[31m" + "y" * 500, "[" * 9999]
    write(folder / "0000000000000005.jsonl", ("\n".join(lines) + "\n").encode())
    log = LogFolder(folder)
    entries = await log.read()
    assert [one.sequence for one in entries] == [5, 6, 7, 8, 9, 10]
    assert {one.subject for one in entries} == {"damaged"}
    assert max(len(one.value["line"]) for one in entries) <= 200
    assert await log.bounds() == (5, 10)


async def test_a_follower_sees_what_other_processes_append(folder: Path) -> None:
    log, other = LogFolder(folder), LogFolder(folder)
    await other.append("a", 1)
    async with log.follow("a") as entries:
        with anyio.fail_after(10):
            assert (await anext(entries)).value == 1
            await log.append("b", 0)
            await other.append("a", 2)
            assert (await anext(entries)).value == 2


WRITER = """
import sys, anyio
from kinwire.managers.chained_log import ChainedLog
from kinwire.storage import LogFolder

async def main(folder, name):
    chain = ChainedLog(LogFolder(folder, max_bytes=2000, durable=False))
    for number in range(40):
        await chain.append("a", {"by": name, "n": number})

anyio.run(main, *sys.argv[1:])
"""


async def test_two_processes_write_one_log(folder: Path) -> None:
    assert run_writers(folder) == [0, 0]
    values = await values_of(LogFolder(folder))
    assert [value["seq"] for value in values] == list(range(1, 81))
    for name in "xy":
        numbers = [one["event"]["n"] for one in values if one["event"]["by"] == name]
        assert numbers == list(range(40))


@pytest.fixture
def no_writes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Errors for the next writes; a write before the last one is a part only."""
    errors = list[int]()
    real = os.write

    def write(descriptor: int, data: bytes) -> int:
        if errors:
            if errors[0] == 0:
                errors.pop(0)
                return real(descriptor, data[:5])
            raise OSError(errors.pop(0), "as the test wants")
        return real(descriptor, data)

    monkeypatch.setattr(os, "write", write)
    return errors


async def test_a_full_disk_leaves_no_part_of_an_entry(folder: Path, no_writes: list[int]) -> None:
    log = LogFolder(folder)
    await log.append("a", 1)
    no_writes += [0, 28]
    with pytest.raises(StorageFullError, match="space for the write") as raised:
        await log.append("a", 2)
    assert not raised.value.outcome_unknown
    no_writes += [0]
    assert await log.append("a", 3) == Appended(2)
    assert await values_of(LogFolder(folder)) == [1, 3]


async def test_a_folder_that_cannot_be_written_is_named(folder: Path, no_writes: list[int]) -> None:
    no_writes += [30]
    with pytest.raises(StorageReadOnlyError, match="audit: expected a folder that this process"):
        await LogFolder(folder).append("a", 1)


async def test_a_lock_that_is_held_ends_the_wait(folder: Path) -> None:
    log = LogFolder(folder, timeout=0.01)
    await log.append("a", 1)
    with FileLock(folder / "lock", 1.0), pytest.raises(StorageLockedError, match="another process"):
        await log.append("a", 2)
    assert await log.append("a", 2) == Appended(2)
