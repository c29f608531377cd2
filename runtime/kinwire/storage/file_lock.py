"""A lock on a file, which holds other processes back; the system ends it with its process."""

from __future__ import annotations

__all__ = ("FileLock",)

import os
import sys
import time
from pathlib import Path
from types import TracebackType

from kinwire.storage.errors import StorageLockedError

_PAUSE = 0.002  # seconds between two tries


class FileLock:
    """Holds a lock inside `with`, in a thread: it waits by sleeping, at most `timeout` seconds."""

    def __init__(self, path: Path, timeout: float) -> None:
        self._path = path
        self._timeout = timeout
        self._descriptor = -1

    def __enter__(self) -> None:
        """Take the lock.

        Raises:
            StorageLockedError: another process holds it for too long.
        """
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        deadline = time.monotonic() + self._timeout
        while not _locked(self._descriptor):
            if time.monotonic() >= deadline:
                os.close(self._descriptor)
                raise StorageLockedError(
                    str(self._path),
                    expected="the lock within the timeout",
                    got="another process that holds it",
                    hint="Look for a process that has stopped while it wrote.",
                )
            time.sleep(_PAUSE)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Let the lock go."""
        os.close(self._descriptor)


if sys.platform == "win32":
    import msvcrt

    def _locked(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _locked(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
