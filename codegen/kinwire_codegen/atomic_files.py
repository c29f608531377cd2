"""Writes files of which readers see the old text or the new one, also if the run is killed."""

from __future__ import annotations

__all__ = ("FileChange", "apply_changes", "write_file")

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile

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
    for folder in {(out / change.path).parent for change in found}:
        _sweep(folder)
    for change in found:
        path = out / change.path
        if change.new is None:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            _replace(path, change.new)


def write_file(path: Path, text: str) -> None:
    """Write one file, whose folder exists; a link remains a link.

    Raises:
        OSError: the file cannot be written; its name is that file's.
    """
    path = path.resolve()
    _sweep(path.parent)
    _replace(path, text)


def _sweep(folder: Path) -> None:
    """Remove the unfinished files of runs that were killed, but not those of a run at work."""
    for path in folder.glob(f"{_UNFINISHED}*"):
        with suppress(FileNotFoundError):
            if time.time() - path.stat().st_mtime > _ABANDONED:
                path.unlink()


def _replace(path: Path, text: str) -> None:
    written: Path | None = None
    try:
        with NamedTemporaryFile("wb", dir=path.parent, prefix=_UNFINISHED, delete=False) as file:
            written = Path(file.name)
            file.write(text.encode())
        written.chmod(path.stat().st_mode if path.exists() else 0o666 & ~_umask())
        written.replace(path)
    except BaseException as error:
        if written is not None:
            written.unlink()
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def _umask() -> int:
    mask = os.umask(0)  # there is no call that only reads it
    os.umask(mask)
    return mask
