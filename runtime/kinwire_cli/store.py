"""`kinwire store`: look at a store of any engine, or move it to another."""

from __future__ import annotations

__all__ = ("StoreCommand",)

import os
import signal
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from secrets import token_hex
from threading import current_thread, main_thread
from typing import IO, TYPE_CHECKING, ClassVar

from kinwire_cli.failure import PROBLEMS_FOUND, UsageError
from kinwire_cli.layout import printable
from kinwire_cli.quantities import seconds_from
from kinwire_cli.store_files import new_file, path_of, refuse_new, refuse_nothing

if TYPE_CHECKING:
    from kinwire import storage

_USAGE = """\
kinwire store check URL [--timeout SECONDS]
       kinwire store export URL [FILE] [--timeout SECONDS]
       kinwire store import URL [FILE] [--timeout SECONDS]"""
_EPILOG = """\
URL is sqlite:///file.db (four slashes begin an absolute path) or nats://host:port. FILE has a line
of JSON a record or entry; without it, export writes to stdout and import reads stdin.
"""
_TIMEOUT = 10.0  # seconds


class StoreCommand:
    """`kinwire store check|export|import URL`."""

    name: ClassVar[str] = "store"
    summary: ClassVar[str] = "check a store, or move what is in it to another engine"
    group: ClassVar[str] = "storage"
    exit_codes: ClassVar[dict[int, str]] = {
        1: "the store is damaged",
        4: "the engine is locked or could not be reached",
    }
    examples: ClassVar[tuple[str, ...]] = (
        "kinwire store check sqlite:///notes.db",
        "kinwire store export sqlite:///notes.db notes.jsonl",
        "kinwire store export sqlite:///notes.db | kinwire store import sqlite:///copy.db",
    )

    @staticmethod
    def configure(parser: ArgumentParser) -> None:
        """Add the subcommand's arguments."""
        parser.usage, parser.epilog = _USAGE, _EPILOG
        parser.add_argument("action", choices=("check", "export", "import"))
        parser.add_argument("url", metavar="URL")
        parser.add_argument("file", nargs="?", metavar="FILE", default="-")
        text = f"how long to wait for an engine that is locked or away (default: {_TIMEOUT:g})"
        parser.add_argument("--timeout", type=seconds_from, default=_TIMEOUT, help=text)

    def run(self, arguments: Namespace) -> int:
        """Do it; `check` returns 1 if something is damaged."""
        from kinwire_cli.running import run

        action: str = arguments.action
        if action == "check" and arguments.file != "-":
            raise UsageError("check takes no FILE.", "Leave it out.")
        done = {"check": _check, "export": _export, "import": _import}[action]
        return run(done, arguments.url, arguments.timeout, arguments.file)


async def _check(url: str, timeout: float, _: str) -> int:
    from kinwire.storage import StorageDamagedError, open_store

    refuse_new(url)
    found: list[str] = []
    try:
        async with open_store(url, timeout=timeout) as store:
            await refuse_nothing(url, store)
            found = await store.check()
            for entry in await store.entries():
                print(f"{entry.kind} {entry.name}: {await _size(store, entry)}")
    except StorageDamagedError as error:
        found = found or [str(error)]
    for fault in found:
        print(printable(f"damaged: {fault}"))
    print(f"{len(found)} damaged" if found else "nothing damaged", file=sys.stderr)
    return PROBLEMS_FOUND if found else 0


async def _size(store: storage.Store, entry: storage.StoreEntry) -> str:
    if entry.kind == "log":
        log = await store.log(entry.name, durable=entry.durable)
        first, last = await log.bounds()
        return f"{last - first + 1} entries"
    records = await store.records(entry.name, durable=entry.durable)
    return f"{sum([1 async for _ in records.scan()])} records"


async def _export(url: str, timeout: float, file: str) -> int:
    from kinwire.storage import open_store
    from kinwire.storage.transfer import exported

    refuse_new(url)
    async with open_store(url, timeout=timeout) as store:
        await refuse_nothing(url, store)
        with _written(file, url) as out:
            count = 0
            async for line in exported(store):
                out.write(f"{line}\n")
                count += 1
    print(f"wrote {count} lines", file=sys.stderr)
    return 0


async def _import(url: str, timeout: float, file: str) -> int:
    from kinwire.storage import open_store

    new = new_file(url)
    with _read(file) as lines, _whole_or_not_there(new):
        async with open_store(url, timeout=timeout) as store:
            count = await _fill(store, lines, is_new=new is not None)
    print(f"read {count} lines", file=sys.stderr)
    return 0


async def _fill(store: storage.Store, lines: Iterable[bytes], *, is_new: bool) -> int:
    from kinwire.storage import StorageInputError
    from kinwire.storage.transfer import import_lines

    try:
        return await import_lines(store, lines)
    except StorageInputError as error:
        if is_new:  # so it is removed, and has nothing of what came before
            error.hint = "Export the store again; nothing was imported."
        raise


@contextmanager
def _whole_or_not_there(new: str | None) -> Generator[None]:
    """Remove the files of a `new` store if what makes and fills it fails."""
    try:
        yield
    except BaseException:
        for part in _parts(new) if new is not None else ():
            with suppress(OSError):
                os.unlink(part)
        raise


def _parts(path: str) -> tuple[str, ...]:
    """Return the files of a store, of which not all need be there."""
    return path, f"{path}-wal", f"{path}-shm"


@contextmanager
def _read(name: str) -> Generator[Iterable[bytes]]:
    if name == "-":
        yield _typed_lines()
        return
    try:
        file = open(name, "rb")  # noqa: SIM115 - closed below
    except OSError as error:
        raise UsageError(f"{name}: {error.strerror}.", "Name a file that can be read.") from None
    with file:
        yield file


def _typed_lines() -> Iterator[bytes]:
    """Yield the lines of stdin. A wait for one blocks the event loop, so a signal must end it."""
    while line := _interruptible(sys.stdin.buffer.readline):
        yield line


def _interruptible(read: Callable[[], bytes]) -> bytes:
    """Return what `read` returns. The handler of asyncio's would let it continue after Ctrl-C."""
    if current_thread() is not main_thread():  # signals are not handled here
        return read()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return read()
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _written(name: str, url: str) -> Generator[IO[str]]:
    """Yield what becomes that file once all is written: what was there stays until then."""
    if name == "-":
        yield sys.stdout
        return
    if os.path.exists(name) and not os.path.isfile(name):  # a pipe, or a device
        with open(name, "w", encoding="utf-8") as file:
            yield file
        return
    path = os.path.realpath(name)
    _refuse_itself(path, url)
    unfinished = f"{path}.{token_hex(4)}.new"
    try:
        with open(unfinished, "x", encoding="utf-8") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    except OSError as error:
        raise UsageError(f"{name}: {error.strerror}.", "Name a file that can be written.") from None
    finally:
        with suppress(OSError):
            os.unlink(unfinished)


def _refuse_itself(path: str, url: str) -> None:
    """Refuse to write over the store that is read."""
    store = path_of(url)
    if store is None or not os.path.exists(path):
        return
    for part in _parts(store):
        if os.path.exists(part) and os.path.samefile(part, path):
            raise UsageError(f"{path} is a file of the store itself.", "Name another file.")
