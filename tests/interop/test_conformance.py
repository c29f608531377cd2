"""The protocol's own conformance suite against our server, on its 2025-11-25 wire.

It offers 2025-11-25 and gets 2024-11-05: the server may answer any version, and the scenarios go on
with that. What they need beyond 2024-11-05 stands in `expected_failures.yml`.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.interop import peers
from tests.interop.conftest import required
from tests.interop.listening import HERE, listening, ours

pytestmark = pytest.mark.interop

REQUIREMENTS = "2025-11-25"
PASSED = 29  # scenarios in which nothing fails, including two that are not required
TIMEOUT = 120.0  # seconds; it takes five

_SUITE = "@modelcontextprotocol/conformance/dist/index.js"
_PASSED = re.compile(r"^✓ ([\w-]+): \d+ passed, 0 failed", re.MULTILINE)
_FAILED = re.compile(r"^✗ ([\w-]+): \d+ passed, [1-9]\d* failed", re.MULTILINE)


def test_every_scenario_passes_that_needs_nothing_of_a_later_version(tmp_path: Path) -> None:
    suite = required(peers.npm_packages) / _SUITE
    failures = HERE / "expected_failures.yml"
    served = ours("http", HERE / "servers" / "conformance_server.py")
    with listening(served, tmp_path) as server:
        command = (str(peers.node()), str(suite), "server", "--url", server.url("/mcp"))
        options = ("--requirements", REQUIREMENTS, "--expected-failures", str(failures))
        done = subprocess.run(
            (*command, *options, "-o", str(tmp_path / "results")),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
        )
    expected = re.findall(r"^  - ([\w-]+)$", failures.read_text(encoding="utf-8"), re.MULTILINE)
    assert done.returncode == 0, done.stdout[-6000:]
    assert sorted(_FAILED.findall(done.stdout)) == sorted(expected)
    assert len(_PASSED.findall(done.stdout)) == PASSED
