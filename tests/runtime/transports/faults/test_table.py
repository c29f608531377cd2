"""Every fault is tried on every transport where it can be, at each end that it can meet."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.runtime.transports.faults.table import ABSENT, FAULTS, MISSING, TRANSPORTS
from tests.runtime.transports.fixtures_processes import ROOT


@pytest.mark.faults
def test_no_place_of_the_table_is_empty() -> None:
    env = {**os.environ, "KINWIRE_FAULTS": "all"}
    command = [sys.executable, "-m", "tests.runtime.transports.faults.table"]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    missing = [line for line in done.stdout.splitlines() if line.endswith(MISSING)]
    assert (missing, done.returncode) == ([], 0), done.stderr


def test_what_is_said_to_be_absent_is_in_the_table() -> None:
    places = {(number, transport) for number in FAULTS for transport in TRANSPORTS}
    assert set(ABSENT) <= places
