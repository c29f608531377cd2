"""State machines of the quick tests, run for longer."""

from __future__ import annotations

__all__ = ("BRIEF", "long_run")

from typing import Any

import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine

from tests.sample import rounds

BRIEF = settings(max_examples=3, stateful_step_count=12, deadline=None)
_LONG = settings(max_examples=rounds(120), stateful_step_count=30, deadline=None)


def long_run(machine: type[RuleBasedStateMachine]) -> Any:
    """Return the tests of a machine with many more and longer examples."""
    kind: Any = machine.TestCase
    case = type("LongRun", (kind,), {"settings": _LONG, "__module__": machine.__module__})
    return pytest.mark.faults(case)
