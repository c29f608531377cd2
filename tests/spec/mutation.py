"""Run the tests that claim the rows of a manager while it is switched off."""

from __future__ import annotations

__all__ = ("OFF", "survivors")

import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.spec.claims import Claims
from tests.spec.ledger import FOLDER
from tests.spec.managers import MANAGERS

OFF = "KINWIRE_TESTS_WITHOUT"  # the name of the manager, for the process that runs without it

PATIENCE = 60  # seconds for one test; one that hangs ends the run and is shown, not counted


def survivors(name: str, claims: Claims) -> list[str]:
    """Return the rows of a manager that no test misses while it is off."""
    rows = MANAGERS[name].rows
    tests = sorted({test for row in rows for test in claims.get(row, ())})
    failed = failing_without(name, tests) if tests else set()
    return [row for row in rows if not claims.get(row, set()) & failed]


def failing_without(name: str, tests: list[str]) -> set[str]:
    """Return those of the tests that fail when the manager is off, without parameters."""
    with TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.spec.without", *tests]
        command += ["-m", "", f"--junitxml={report}", "-o", "junit_family=xunit1"]
        command += ["-o", f"faulthandler_timeout={PATIENCE}"]
        environment = {**os.environ, OFF: name}
        root = FOLDER.parents[1]
        done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
        if not report.is_file():
            raise RuntimeError(done.stdout + done.stderr)
        cases = ElementTree.parse(report).iter("testcase")
        return {
            f"{case.get('file')}::{str(case.get('name')).partition('[')[0]}"
            for case in cases
            if case.find("failure") is not None or case.find("error") is not None
        }
