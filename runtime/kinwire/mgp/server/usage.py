"""What this process uses of the machine."""

from __future__ import annotations

__all__ = ("resident_bytes", "resource_usage")

import sys
import time
from pathlib import Path

from kinwire_protocols.base import JsonObject

_STATM = Path("/proc/self/statm")


def resource_usage() -> JsonObject:
    """Return the seconds of processor time and, where the system says it, the bytes of memory."""
    usage: JsonObject = {"cpu_seconds": round(time.process_time(), 3)}
    memory = resident_bytes()
    if memory is not None:
        usage["memory_bytes"] = memory
    return usage


def resident_bytes() -> int | None:
    """Return the resident memory of this process; None where the system does not say."""
    if sys.platform == "win32":
        return None
    import resource

    try:
        return int(_STATM.read_text("ascii").split()[1]) * resource.getpagesize()
    except OSError:
        return None
