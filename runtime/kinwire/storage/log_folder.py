"""A log in a folder of text files: a line of JSON for each entry, and a new file from time to time.

Every tool can read, copy and compress such files. The name of a file is the sequence of its first
entry. A line that was not written whole, as after a power cut, stays as an entry of its own with
the subject `damaged`, and writing continues after it.
"""

from __future__ import annotations

__all__ = ("DAMAGED", "LogFolder")

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from errno import EACCES, EDQUOT, ENOSPC, EPERM, EROFS
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar, TypeVarTuple

import anyio.to_thread

from kinwire.storage.clock import Clock, forward
from kinwire.storage.errors import (
    StorageFullError,
    StorageReadOnlyError,
    StorageUnavailableError,
)
from kinwire.storage.file_lock import FileLock
from kinwire.storage.inputs import refused
from kinwire.storage.local_log import LocalLog, Row
from kinwire.storage.log import Appended, checked_page, encoded_entries
from kinwire.storage.subscription import WriteSignal
from kinwire.support.arguments import FLAG, FUNCTION, PATH, SECONDS, ArgumentCheck, count_from
from kinwire.support.bounded import LruDict

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

DAMAGED: Final = "damaged"
"""The subject of a line that is not an entry; its value has the beginning of the line."""

_SHOWN = 200  # characters of a damaged line
_PLACES = 100  # reading positions that are remembered
_FULL, _READ_ONLY = {ENOSPC, EDQUOT}, {EACCES, EPERM, EROFS}
_LOG_FOLDER = ArgumentCheck(
    "LogFolder",
    'LogFolder("audit")',
    {"path": PATH},
    max_bytes=count_from(1),
    max_files=count_from(1).or_none,
    durable=FLAG,
    timeout=SECONDS,
    clock=FUNCTION,
)


class _End(NamedTuple):
    """Where the next entry goes."""

    file: Path
    size: int
    last: int
    """The sequence of the newest entry."""
    is_torn: bool = False
    """Whether the last line lacks its end."""


class LogFolder(LocalLog):
    """A `Log` in a folder, for any number of processes: `LogFolder("audit")`.

    After `max_bytes` a new file begins; with `max_files` the oldest is then removed if there are
    more. With `durable` an append returns when the disk has it. `timeout` is how long, in seconds,
    an append waits for those of other processes. An `id` is not supported.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        max_bytes: int = 64 * 1024 * 1024,
        max_files: int | None = None,
        durable: bool = True,
        timeout: float = 10.0,
        clock: Clock = time.time,
    ) -> None:
        """Prepare; the folder is made with the first entry.

        Raises:
            TypeError, ValueError: an argument is not of its type, or out of range.
        """
        given = {"max_bytes": max_bytes, "max_files": max_files, "durable": durable}
        _LOG_FOLDER.check(path=path, timeout=timeout, clock=clock, **given)
        self._folder = Path(path)
        super().__init__(str(self._folder), WriteSignal())
        self._max_bytes, self._max_files = max_bytes, max_files
        self._durable, self._timeout = durable, timeout
        self._now = forward(clock)
        self._known: _End | None = None
        self._places = LruDict[int, tuple[Path, int]](_PLACES)  # by the sequence before
        self._turn = anyio.Lock()

    async def append(self, subject: str, value: Any, *, id: str | None = None) -> Appended:
        """See `Log.append`.

        Raises:
            StorageInputError: an `id` is given.
        """
        if id is not None:
            raise refused("id", "None", "an id", "A folder of files does not recognize repeats.")
        rows = encoded_entries([(subject, value)])
        sequence = await self._write(None, rows)
        return Appended(sequence)

    async def append_after(self, sequence: int, entries: Sequence[tuple[str, Any]]) -> int:
        """See `Log.append_after`."""
        checked_page(sequence)
        rows = encoded_entries(entries)
        return len(rows) if await self._write(sequence, rows) else 0

    async def bounds(self) -> tuple[int, int]:
        """See `Log.bounds`."""
        return await self._in_thread(self._bounds)

    async def _rows(self, after: int, count: int) -> list[Row]:
        return await self._in_thread(self._read_rows, after, count)

    async def _write(self, after: int | None, rows: list[tuple[str, str]]) -> int:
        """Append rows and return the sequence of the last one; 0 if `after` is not the newest."""
        written = 0
        async with self._turn:
            with anyio.CancelScope(shield=True):
                written = await self._in_thread(self._append_rows, after, rows)
        self._signal.fire()
        return written

    async def _in_thread(self, work: Callable[[*Ts], T], *arguments: *Ts) -> T:
        try:
            return await anyio.to_thread.run_sync(work, *arguments)
        except OSError as error:
            self._known = None
            raise _typed(error, self._name) from None

    # What follows runs in threads.

    def _append_rows(self, after: int | None, rows: list[tuple[str, str]]) -> int:
        self._folder.mkdir(0o700, parents=True, exist_ok=True)
        with FileLock(self._folder / "lock", self._timeout):
            end = self._end()
            if end.is_torn:
                end = self._close_line(end)
            if after is not None and after != end.last:
                return 0
            if end.size >= self._max_bytes:
                end = self._next_file(end)
            return self._add(end, rows)

    def _add(self, end: _End, rows: list[tuple[str, str]]) -> int:
        now = self._now()
        lines = [
            f'{{"at":{now!r},"subject":{json.dumps(subject)},"value":{text}}}\n'
            for subject, text in rows
        ]
        size = _extend(end.file, "".join(lines).encode(), end.size, durable=self._durable)
        self._known = _End(end.file, size, end.last + len(rows))
        return end.last + len(rows)

    def _end(self) -> _End:
        """Return the end of the log, from memory if no other process has written."""
        files = self._files()
        if not files:
            return _End(self._folder / _name(1), 0, 0)
        size = files[-1].stat().st_size
        if self._known is None or self._known[:2] != (files[-1], size):
            self._known = _counted(files[-1])
        return self._known

    def _close_line(self, end: _End) -> _End:
        """End a line that was not written whole: it counts as an entry."""
        size = _extend(end.file, b"\n", end.size, durable=self._durable)
        return _End(end.file, size, end.last + 1)

    def _next_file(self, end: _End) -> _End:
        files = self._files()
        if self._max_files is not None:
            for old in files[: max(0, len(files) + 1 - self._max_files)]:
                old.unlink(missing_ok=True)
        return _End(self._folder / _name(end.last + 1), 0, end.last)

    def _files(self) -> list[Path]:
        if not self._folder.is_dir():
            return []
        return sorted(one for one in self._folder.glob("*.jsonl") if one.stem.isdecimal())

    def _bounds(self) -> tuple[int, int]:
        files = self._files()
        return (int(files[0].stem), self._end().last) if files else (1, 0)

    def _read_rows(self, after: int, count: int) -> list[Row]:
        rows: list[Row] = []
        for file, first, offset in self._parts(after):
            for row, end in _rows_of(file, first, offset):
                if row[0] > after:
                    rows.append(row)
                if len(rows) == count:
                    self._places.put(row[0], (file, end))
                    return rows
        return rows

    def _parts(self, after: int) -> list[tuple[Path, int, int]]:
        """Return the files with entries above `after`, each with its first one and where it is."""
        files = self._files()
        later = [file for file in files if int(file.stem) > after + 1]
        parts = [(file, int(file.stem), 0) for file in files[max(0, len(files) - len(later) - 1) :]]
        place = self._places.get(after)
        if place is not None and parts and parts[0][0] == place[0]:
            parts[0] = (place[0], after + 1, place[1])
        return parts


def _name(sequence: int) -> str:
    return f"{sequence:016d}.jsonl"


def _counted(file: Path) -> _End:
    data = file.read_bytes()
    lines, is_torn = data.count(b"\n"), bool(data) and not data.endswith(b"\n")
    return _End(file, len(data), int(file.stem) - 1 + lines, is_torn)


def _rows_of(file: Path, first: int, offset: int) -> Iterator[tuple[Row, int]]:
    """Yield the whole lines of a file as rows, each with where the next one begins."""
    with file.open("rb") as lines:
        lines.seek(offset)
        for sequence, line in enumerate(lines, first):
            if not line.endswith(b"\n"):
                return
            offset += len(line)
            yield _row(sequence, line), offset


def _row(sequence: int, line: bytes) -> Row:
    try:
        match json.loads(line):
            case {"at": int() | float() as at, "subject": str(subject), "value": value, **more} if (
                not more
            ):
                return sequence, subject, json.dumps(value), at, None
            case _:
                pass
    except (ValueError, RecursionError):
        pass
    shown = line[:_SHOWN].decode("ascii", "backslashreplace").rstrip("\n")
    return sequence, DAMAGED, json.dumps({"line": shown}), 0.0, None


def _extend(file: Path, data: bytes, size: int, *, durable: bool) -> int:
    """Append data to a file of a known size, whole or not at all, and return its new size."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        written = 0
        try:
            while written < len(data):
                written += os.write(descriptor, data[written:])
            if durable:
                os.fsync(descriptor)
        except OSError:
            os.ftruncate(descriptor, size)
            raise
    finally:
        os.close(descriptor)
    if durable and not size:
        _sync_folder(file.parent)
    return size + len(data)


def _sync_folder(folder: Path) -> None:
    """Have the disk keep the name of a new file; Windows does that by itself."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _typed(error: OSError, folder: str) -> StorageUnavailableError:
    kind, expected, hint = StorageUnavailableError, "an answer from the disk", "Check the disk."
    if error.errno in _FULL:
        kind, expected = StorageFullError, "space for the write"
        hint = "Free some space. This program need not be restarted."
    elif error.errno in _READ_ONLY:
        kind, expected = StorageReadOnlyError, "a folder that this process can write to"
        hint = "Give it write permission, or name another folder."
    return kind(folder, expected=expected, got=error.strerror or type(error).__name__, hint=hint)
