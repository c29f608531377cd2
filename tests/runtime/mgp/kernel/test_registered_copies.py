"""Folders with scripts that killed kernels have left behind, and those that are in use."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import anyio
import pytest

from kinwire import Host
from kinwire.mgp import MgpKernel
from kinwire.mgp.kernel.registered_copies import ScriptCopies
from kinwire.mgp.rules.registration import Registration

pytestmark = pytest.mark.skipif(not hasattr(os, "getuid"), reason="links and locks of POSIX")

REGISTRATION = Registration(
    id="one",
    by_kind="operator",
    by="ann",
    at=0.0,
    command="python",
    args=("tool.py",),
    script="print(1)",
)


def of_yesterday(folder: Path) -> Path:
    (folder / "0123").mkdir(parents=True, exist_ok=True)
    (folder / "0123" / "server.py").write_text("1", encoding="utf-8")
    os.utime(folder, (time.time() - 86_400,) * 2)
    return folder


async def started() -> None:
    """Run a kernel until it has looked once."""
    kernel = MgpKernel()
    async with Host("h", "1", extensions=[kernel]) as host, kernel.supervise(host):
        await anyio.wait_all_tasks_blocked()


def test_a_kernel_removes_what_killed_ones_have_left_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    copies = ScriptCopies()
    script = Path(copies.command_of(REGISTRATION)[1][0])
    used = of_yesterday(script.parents[1])
    of_yesterday(tmp_path / "kinwire-registered-left")
    (tmp_path / "kinwire-registered-locked").mkdir()
    (tmp_path / "kinwire-registered-locked" / "lock").touch()  # and then its kernel was killed
    of_yesterday(tmp_path / "kinwire-registered-locked")
    (tmp_path / "kinwire-registered-new").mkdir()
    other = of_yesterday(tmp_path / "other")
    (tmp_path / "kinwire-registered-link").symlink_to(other)
    (tmp_path / "kinwire-registered-file").touch()
    anyio.run(started)
    kept = ["other", *(f"kinwire-registered-{name}" for name in ("file", "link", "new"))]
    assert {one.name for one in tmp_path.iterdir()} == {used.name, *kept}
    assert script.read_text("utf-8") == REGISTRATION.script
    assert (other / "0123" / "server.py").exists()
    copies.close()
    assert not used.exists()
