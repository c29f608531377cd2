"""How much memory the processes of a group have, children of children included."""

from __future__ import annotations

__all__ = ("GroupMemory", "MemoryUnknownError", "must_be_readable")

import os
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from importlib.util import find_spec

from anyio import to_thread

from kinwire.rpc.errors import KinwireError

_KEPT = 1.0  # seconds for which one look serves all servers


class MemoryUnknownError(KinwireError):
    """The memory of processes cannot be read here."""


def must_be_readable() -> None:
    """Check that the memory of groups can be read.

    Raises:
        ImportError: the extra `supervisor` is not installed.
        MemoryUnknownError: this system has no process groups.
    """
    if not hasattr(os, "getpgid"):
        raise MemoryUnknownError("max_memory_bytes: this system has no groups of processes.")
    if find_spec("psutil") is None:
        raise ModuleNotFoundError(
            "max_memory_bytes needs the library `psutil`. Install kinwire[supervisor].",
            name="psutil",
        )


class GroupMemory:
    """The resident memory of process groups: one look at all processes serves every server."""

    def __init__(self, read: Callable[[], Mapping[int, int]] | None = None) -> None:
        self._read = read or _resident_by_group
        self._found: Mapping[int, int] = {}
        self._looked = -_KEPT

    async def of(self, group: int) -> int:
        """Return the bytes that the processes of a group have in memory; 0 if it has none."""
        now = time.monotonic()
        if now - self._looked >= _KEPT:
            self._found = await to_thread.run_sync(self._read)
            self._looked = now
        return self._found.get(group, 0)


def _resident_by_group() -> Mapping[int, int]:
    import psutil

    found = defaultdict[int, int](int)
    for process in psutil.process_iter():
        try:
            found[os.getpgid(process.pid)] += process.memory_info().rss
        except (psutil.Error, ProcessLookupError, PermissionError):  # it is gone, or not ours
            continue
    return found
