"""Writes a recording while a session goes on, in a thread, so that no disk slows the session.

A write error ends the recording with a warning; the session goes on.
"""

from __future__ import annotations

__all__ = ("Recorder", "open_new")

import os
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING

from kinwire_cli.failure import UsageError

if TYPE_CHECKING:
    from kinwire_cli.validation.validator import Side

_WAITING = 256 * 1024 * 1024  # bytes that may wait to be written
_LONGEST = 64 * 1024 * 1024  # of a frame; the session itself takes any
_LAST = 5.0  # seconds for what waits when the session has ended
_NAMES = 10_000  # that are tried


def open_new(path: Path) -> tuple[int, Path]:
    """Return a descriptor of a new file, and its path: if the file exists, a number is added.

    A host starts a server again and again, at times twice in parallel, with the same arguments: no
    recording may overwrite another. Something else, such as a pipe, is opened as it is.

    Raises:
        UsageError: a file cannot be created.
    """
    try:
        with suppress(FileNotFoundError):
            if not stat.S_ISREG(path.stat().st_mode):
                return os.open(path, os.O_WRONLY), path
        for number in range(1, _NAMES):
            tried = path if number == 1 else path.with_stem(f"{path.stem}-{number}")
            with suppress(FileExistsError):
                return os.open(tried, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), tried
    except OSError as error:
        raise UsageError(
            f"{path}: {error.strerror}.", "Name a file that can be written: --out FILE.jsonl"
        ) from None
    raise UsageError(f"{path}: {_NAMES} recordings have that name.", "Choose another --out.")


class Recorder:
    """Takes what each side sends, in the order in which it is handed over."""

    def __init__(self, fd: int, path: Path) -> None:
        self._fd = fd
        self._path = path
        self._size = 0  # of whole lines
        self._begun = monotonic()
        self._queue: SimpleQueue[tuple[Side, bytes, float] | None] = SimpleQueue()
        self._taken = self._done = 0  # bytes; each is counted by one side only
        self._thread = Thread(target=self._work, name="kinwire recorder", daemon=True)
        self.frames = 0
        self.complete = True
        """Whether everything was written."""
        self._thread.start()

    def take(self, sender: Side, chunk: bytes) -> None:
        """Keep the next bytes of a side; empty ones are its end. Does not block."""
        if self._taken - self._done > _WAITING:
            self._stop("it is not written as fast as it comes")
        if self.complete:
            self._taken += len(chunk)
            self._queue.put((sender, chunk, monotonic() - self._begun))

    def close(self) -> None:
        """Write what waits."""
        self._queue.put(None)
        self._thread.join(_LAST)
        if self._thread.is_alive():
            self._stop("it is not written as fast as it comes")
        else:
            os.close(self._fd)

    def _work(self) -> None:
        # Imported here: the session does not wait for it.
        from kinwire.transports.lines import Lines

        now = 0.0

        def writer(sender: Side) -> Lines:
            def add(frame: bytes) -> None:
                if frame.strip():
                    self._write(sender, frame, now)

            def cut(head: bytes) -> None:
                self._write(sender, head, now, f"a line of more than {_LONGEST} bytes")

            return Lines(_LONGEST, add, cut)

        lines: dict[Side, Lines] = {"client": writer("client"), "server": writer("server")}
        while (item := self._queue.get()) is not None:
            sender, chunk, now = item
            receive: Callable[[bytes], None] = lines[sender].receive
            receive(chunk) if chunk else lines[sender].end()
            self._done += len(chunk)

    def _write(self, sender: Side, frame: bytes, at: float, because: str | None = None) -> None:
        from kinwire_cli.recording.lines import recorded_line

        if not self.complete:
            return
        rest = memoryview(recorded_line(sender, frame, at, because))
        size = len(rest)
        try:
            while rest:
                rest = rest[os.write(self._fd, rest) :]
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._fd, self._size)  # a part of a line would be no recording
            self._stop(error.strerror or str(error))
            return
        self._size += size
        self.frames += 1

    def _stop(self, why: str) -> None:
        if self.complete:
            self.complete = False
            text = f"warning: {self._path}: {why}; the session goes on unrecorded"
            with suppress(OSError):  # the disk may be that of stderr, too
                print(text, file=sys.stderr)
