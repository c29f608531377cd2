"""A plugin of pytest: it runs the collected tests again and again, each time in a fork.

Modules are imported and tests collected only once. A fork changes code before it runs tests.
"""

from __future__ import annotations

import os
import pickle
import time
from pathlib import Path
from typing import Any

import anyio
import hypothesis
import pytest

from tests.spec.mutation.mutants import Mutants
from tests.spec.mutation.switched import Switched
from tests.spec.mutation.task import TASK, Result, Task

_LONGEST = 3.0  # seconds that a test waits for what a wrong program never does

_fail_after: Any = anyio.fail_after


def _fail_soon(delay: float | None, *arguments: Any, **options: Any) -> Any:
    return _fail_after(_LONGEST if delay is None else min(delay, _LONGEST), *arguments, **options)


@pytest.hookimpl(trylast=True)
def pytest_configure() -> None:
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.setattr(anyio, "fail_after", _fail_soon)  # this process does nothing else
    found = hypothesis.settings.get_profile("quick")
    phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]
    hypothesis.settings.register_profile(
        "mutants", found, database=None, derandomize=True, phases=phases
    )
    hypothesis.settings.load_profile("mutants")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    began = time.monotonic()
    place = Path(os.environ[TASK])
    task: Task = pickle.loads(place.read_bytes())
    result = Result()
    Switched(session.items).run(task.managers, result)
    Mutants(session.items).run(task.conditions, result)
    result.seconds = time.monotonic() - began
    place.write_bytes(pickle.dumps(result))
    return True
