"""Servers that a test scripts, as the commands of a subcommand."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from kinwire_cli import main

PROGRAM = Path(__file__).parents[1] / "runtime" / "programs" / "scripted.py"
DEMO = ["--", sys.executable, "-m", "kinwire", "serve", "demo", "mcp"]

Captured = pytest.CaptureFixture[str]


def scripted(**script: Any) -> list[str]:
    """Return the words that name a server of that script; `scripted.py` says what may be in it."""
    return ["--", sys.executable, str(PROGRAM), json.dumps(script)]


def spoken(*lines: object) -> list[str]:
    """Return the words that name a server which reads a line before each of these, then is silent.

    It starts immediately, for tests that wait for what never comes.
    """
    said = "".join(
        f"read line; echo {shlex.quote(line if isinstance(line, str) else json.dumps(line))}; "
        for line in lines
    )
    return ["--", "sh", "-c", f"{said}cat > /dev/null"]


def greeting(capabilities: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a result of `initialize`."""
    info = {"name": "scripted", "version": "1"}
    base = {"protocolVersion": "2024-11-05", "capabilities": capabilities, "serverInfo": info}
    return {**base, **more}


def ran(capsys: Captured, *arguments: str) -> tuple[int, str, str]:
    """Run the command in this process; return exit code, stdout and stderr."""
    try:
        code = main(arguments)
    except SystemExit as end:  # argparse
        code = end.code if isinstance(end.code, int) else 1
    said = capsys.readouterr()
    return code, said.out, said.err
