"""Copies of the scripts of registered servers, from which they run.

What runs is what was checked and approved: neither the file nor a module next to it can take its
place later. Other kernels that share the records have the script too.
"""

from __future__ import annotations

__all__ = ("ScriptCopies", "remove_left_copies")

import os
import shutil
import stat
import sys
import tempfile
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Final

from kinwire.mgp.rules.registration import Registration
from kinwire.storage.errors import StorageLockedError
from kinwire.storage.file_lock import FileLock

_PREFIX: Final = "kinwire-registered-"
_LOCK: Final = "lock"
_NEW: Final = 60.0  # seconds in which a folder may be without its lock


class ScriptCopies:
    """Copies of approved scripts in a folder that other users cannot read, while it is open."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._open = ExitStack()

    def command_of(self, registration: Registration) -> tuple[str, list[str]]:
        """Write the script, and return the program and the arguments that run it."""
        if self._folder is None:
            made = self._open.enter_context(tempfile.TemporaryDirectory(prefix=_PREFIX))
            self._open.enter_context(FileLock(Path(made) / _LOCK, 0))
            self._folder = Path(made)
        assert registration.script is not None  # it has a command
        folder = self._folder / registration.digest
        folder.mkdir(mode=0o700, exist_ok=True)
        copy = folder / "server.py"
        copy.unlink(missing_ok=True)
        copy.write_text(registration.script, encoding="utf-8")
        args = [*registration.args]
        args[registration.script_at] = str(copy)
        return sys.executable, args

    def close(self) -> None:
        """Remove the copies."""
        self._open.close()
        self._folder = None


def remove_left_copies() -> None:
    """Remove the folders that kernels of this user have left behind: those that were killed."""
    with suppress(OSError):  # there is no place for such folders
        for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
            _remove_if_left(folder)


def _remove_if_left(folder: Path) -> None:
    with suppress(OSError, StorageLockedError):  # it is gone in the meantime, or in use
        if _is_ours_and_old(folder):
            with FileLock(folder / _LOCK, 0):
                shutil.rmtree(folder, ignore_errors=True)


def _is_ours_and_old(folder: Path) -> bool:
    found = folder.lstat()
    ours = not hasattr(os, "getuid") or found.st_uid == os.getuid()
    return ours and stat.S_ISDIR(found.st_mode) and time.time() - found.st_mtime > _NEW
