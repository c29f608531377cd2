"""Counts steps: a step is a line of the runtime's Python that runs, on any machine the same."""

from __future__ import annotations

__all__ = ("assert_linear", "steps")

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import kinwire

_RUNTIME = kinwire.__file__.rpartition("/")[0]


def steps(work: Callable[[], object]) -> int:
    """Return how many lines of the runtime run."""
    count = 0

    def line(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return line

    def call(frame: FrameType, event: str, argument: Any) -> Any:
        return line if frame.f_code.co_filename.startswith(_RUNTIME) else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        work()
    finally:
        sys.settrace(before)
    assert count, "no line of the runtime ran"
    return count


def assert_linear(of_size: Callable[[int], Callable[[], object]], size: int) -> None:
    """Check that four times the input takes four times the steps, and hardly more."""
    one, four = steps(of_size(size)), steps(of_size(4 * size))
    assert one > size // 50
    assert four <= 4.2 * one
