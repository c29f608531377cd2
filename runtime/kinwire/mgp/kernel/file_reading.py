"""Reading a file of a kernel's configuration, if nobody else could have written it."""

from __future__ import annotations

__all__ = ("FileStamp", "read_config_text", "stamp_of")

import os
import stat
from pathlib import Path
from typing import Final, NamedTuple

from kinwire.mgp.rules.config_problem import ConfigError, ConfigProblem, Place

_MOST: Final = 256 * 1024  # bytes
_BOM: Final = b"\xef\xbb\xbf"


class FileStamp(NamedTuple):
    """What is different after a file was written or replaced."""

    device: int
    inode: int
    size: int
    modified: int
    """Nanoseconds since 1970."""


def stamp_of(name: str) -> FileStamp | None:
    """Return the stamp of the file at a path, None if there is no file."""
    try:
        found = os.stat(name)
    except OSError:
        return None
    return FileStamp(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def read_config_text(path: str, name: str | None = None) -> str:
    """Return the text of a file, which messages call `name`, or by its path.

    Raises:
        ConfigError: it is not UTF-8, is longer than 256 KiB, or other users of the machine could
            have written it.
        OSError: it cannot be read.
    """
    shown = path if name is None else name
    return _text_of(_bytes_of(path, shown), shown)


def _bytes_of(path: str, name: str) -> bytes:
    # A pipe would wait for a writer.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    try:
        _check_file(path, name, os.fstat(descriptor))
        with open(descriptor, "rb", closefd=False) as file:
            found = file.read(_MOST + 1)
    finally:
        os.close(descriptor)
    if len(found) > _MOST:
        raise _refused(name, f"expected at most {_MOST} bytes, got more")
    return found


def _text_of(found: bytes, name: str) -> str:
    if found.startswith(_BOM):
        raise _refused(name, "expected UTF-8 without a byte order mark. Save it without one")
    try:
        return found.decode()
    except UnicodeDecodeError as error:
        before = found[: error.start]
        column = len(before) - before.rfind(b"\n")
        place = Place(name, before.count(b"\n") + 1, column)
        raise ConfigError(ConfigProblem(place, "expected UTF-8")) from None


def _check_file(path: str, name: str, status: os.stat_result) -> None:
    """Raise if this is not a file, or if another user can change what the path leads to.

    Raises:
        ConfigError: the file, a link to it or the folder of either is in the hand of others.
    """
    if not stat.S_ISREG(status.st_mode):
        raise _refused(name, "expected a file, got a folder, a pipe or a device")
    if not hasattr(os, "getuid"):
        return
    mine = (os.getuid(), 0)
    if status.st_uid not in mine or status.st_mode & stat.S_IWOTH:
        raise _refused(name, "other users can write the file. Use chmod and chown")
    for place in {Path(path).absolute(), Path(path).resolve()}:
        if os.lstat(place).st_uid not in mine:
            raise _refused(name, f"another user owns the link {place}. Name the file itself")
        folder = os.stat(place.parent)
        free = folder.st_mode & stat.S_IWOTH and not folder.st_mode & stat.S_ISVTX
        if free or folder.st_uid not in mine:
            raise _refused(name, f"other users can replace files in {place.parent}. Use chmod")


def _refused(name: str, text: str) -> ConfigError:
    return ConfigError(ConfigProblem(Place(name, 1, 1), text))
