"""What this process uses of the machine."""

from __future__ import annotations

__all__ = ("resource_usage",)

import os
import time
from pathlib import Path

from kinwire_protocols.base import JsonObject

_PAGES = Path("/proc/self/statm")  # Linux only


def resource_usage() -> JsonObject:
    """Return the seconds of processor time and, where the system says it, the bytes of memory."""
    usage: JsonObject = {"cpu_seconds": round(time.process_time(), 3)}
    try:
        resident = _PAGES.read_text("ascii").split()[1]
    except OSError:
        return usage
    usage["memory_bytes"] = int(resident) * os.sysconf("SC_PAGE_SIZE")
    return usage
