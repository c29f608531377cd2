"""Writers of an audit log are killed at each moment of a write: nothing promised is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

MOST = int(os.environ.get("KINWIRE_KILLS", "18"))  # 90 for `nox -s kills`
PROGRAM = Path(__file__).parents[1] / "programs" / "killed_writers.py"


@pytest.mark.skipif(sys.platform == "win32", reason="processes are forked")
@pytest.mark.parametrize("kills", [3, pytest.param(MOST, marks=pytest.mark.slow)])
def test_the_chain_verifies_after_kill_9_at_every_write(tmp_path: Path, kills: int) -> None:
    command = [sys.executable, str(PROGRAM), str(tmp_path), str(kills)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    for kind in ("sqlite", "folder"):
        assert (kind, found[kind]["killed"], found[kind]["missing"]) == (kind, kills, [])
        assert found[kind]["promised"] >= 6  # three of them before a kill
    assert found["sqlite"]["problems"] == []
    torn = kills // 3  # a third of the writers died with half a line
    assert found["folder"]["problems"] == ["damaged"] * torn
    assert found["folder"]["marks"] == torn
