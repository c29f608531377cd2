"""What the process of the tests is to do, and what it has found; both go through a file."""

from __future__ import annotations

__all__ = ("Result", "Task", "Tried", "run")

import os
import pickle
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.spec.ledger import FOLDER

TASK = "KINWIRE_TESTS_MUTATION"  # the file with the task, for the process that does it


@dataclass(frozen=True)
class Task:
    managers: tuple[str, ...] = ()
    """The managers to switch off."""
    conditions: tuple[str, ...] = ()
    """The ids of the mutants of conditions to try."""


@dataclass(frozen=True)
class Tried:
    """What became of one mutant."""

    tests: int
    """How many tests run its condition."""
    caught_by: str | None
    """The first of them that failed; None if they all passed."""


@dataclass
class Result:
    alive: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """The rows that no test misses while a manager is off, by the manager."""
    tried: dict[str, Tried] = field(default_factory=dict[str, Tried])
    unsound: list[str] = field(default_factory=list[str])
    """The tests that fail without any mutant: they were not used."""
    seconds: float = 0


def run(task: Task) -> Result:
    """Do a task in a process that has collected all tests.

    Raises:
        RuntimeError: the tests cannot be run; the message is what pytest says.
    """
    with TemporaryDirectory() as folder:
        place = Path(folder, "task")
        place.write_bytes(pickle.dumps(task))
        command = [sys.executable, "-m", "pytest", "-q", "-m", "", "-p", "no:cacheprovider"]
        command += ["-p", "tests.spec.mutation.plugin"]
        environment = {**os.environ, TASK: str(place)}
        root = FOLDER.parents[1]
        done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
        found = pickle.loads(place.read_bytes())
        if not isinstance(found, Result):
            raise RuntimeError(done.stdout + done.stderr)
        return found
