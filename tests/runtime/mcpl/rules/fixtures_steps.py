"""Counts steps: a step is a line of Python of the rules that runs, on any machine the same."""

from __future__ import annotations

__all__ = ("steps",)

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from kinwire.mcpl import rules

_RULES = rules.__file__.rpartition("/")[0]
_SUPPORT = "/kinwire/support/"


def steps(work: Callable[[], object]) -> int:
    """Return how many lines of the rules run."""
    count = 0

    def line(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return line

    def call(frame: FrameType, event: str, argument: Any) -> Any:
        name = frame.f_code.co_filename
        return line if name.startswith(_RULES) or _SUPPORT in name else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        work()
    finally:
        sys.settrace(before)
    return count
