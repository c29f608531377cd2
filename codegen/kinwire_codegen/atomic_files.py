"""Writes files of which readers see the old text or the new one, also if the run is killed."""

from __future__ import annotations

__all__ = ("FileChange", "apply_changes", "write_file")

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

_UNFINISHED = ".kinwire-unfinished-"
_ABANDONED = 60.0  # seconds after which an unfinished file belongs to a run that was killed


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file that differs from what the documents say."""

    path: str
    old: str | None
    """None where the file is new."""
    new: str | None
    """None where the file must go."""


def apply_changes(found: list[FileChange], out: Path) -> None:
    """Make the changes in the folder `out`, file by file.

    Raises:
        OSError: a file cannot be written; its name is that file's.
    """
    changes = [(os.path.join(out, change.path), change.new) for change in found]
    for folder in {os.path.dirname(path) for path, _ in changes}:
        os.makedirs(folder, exist_ok=True)
        _sweep(folder)
    for path, text in changes:
        if text is None:
            os.unlink(path)
        else:
            _replace(path, text)


def write_file(path: Path, text: str) -> None:
    """Write one file, whose folder exists; a link remains a link.

    Raises:
        OSError: the file cannot be written; its name is that file's.
    """
    path = path.resolve()
    _sweep(str(path.parent))
    _replace(str(path), text)


def _sweep(folder: str) -> None:
    """Remove the unfinished files of runs that were killed, but not those of a run at work."""
    with os.scandir(folder) as entries:
        unfinished = [entry for entry in entries if entry.name.startswith(_UNFINISHED)]
    for entry in unfinished:
        with suppress(FileNotFoundError):
            if time.time() - entry.stat().st_mtime > _ABANDONED:
                os.unlink(entry)


def _replace(path: str, text: str) -> None:
    mode = _mode(path)
    unfinished = os.path.join(os.path.dirname(path), f"{_UNFINISHED}{os.urandom(8).hex()}")
    opener = partial(os.open, mode=0o666 if mode is None else 0o600)
    try:
        try:
            with open(unfinished, "xb", opener=opener) as file:
                file.write(text.encode())
            if mode is not None:
                os.chmod(unfinished, mode)
            os.replace(unfinished, path)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(unfinished)
            raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from error


def _mode(path: str) -> int | None:
    """Return the mode of the file, None if it does not exist."""
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None
