"""What a process holds (Linux only)."""

from __future__ import annotations

__all__ = ("descriptors_of", "let_go", "memory_of")

import ctypes
import gc
import os
from pathlib import Path


def memory_of(pid: int) -> int:
    """Return how many bytes are resident."""
    pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def descriptors_of(pid: int) -> int:
    """Return how many files are open."""
    return len(os.listdir(f"/proc/{pid}/fd"))


def let_go() -> None:
    """Give back what this process has freed: the allocator keeps it in pieces between what is used.

    So a process seems to grow, for minutes and by megabytes, that holds nothing more than before.
    """
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it
    if trim is not None:
        trim(0)
