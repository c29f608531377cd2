"""The demo shows the whole line and ends well."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kinwire.cli.extras import is_installed

STEPS = [
    "1. Bindings from the protocol documents",
    "   $ kinwire generate",
    "   written: ",
    "2. A server in a child process",
    "   $ kinwire serve demo mcp",
    "3. Negotiated",
    "   protocol      mcp 2024-11-05",
    "   server        kinwire-demo 1.0",
    "   capabilities  logging, tools",
    "4. Called through the generated client",
    "     add, echo, countdown, divide",
    "     result: 3",
    "     result: hello",
    "     progress 3/3  1 ...",
    "     result: Lift-off",
    "     error of the tool: Nothing can be divided by zero.",
    "     InvalidParamsError: Tool 'add': /arguments/a: expected a valid integer",
    "Next: kinwire list mcp",
]


@pytest.mark.skipif(not is_installed("codegen"), reason="the first step needs the generator")
@pytest.mark.slow
def test_the_demo_generates_negotiates_and_calls(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "kinwire", "demo"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    lines = iter(done.stdout.splitlines())
    missing = [step for step in STEPS if not any(line.startswith(step) for line in lines)]
    assert missing == []
    assert list(tmp_path.iterdir()) == []
