"""The programs on the other side. One that is missing fails CI; elsewhere its tests are skipped."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from tests.interop import peers
from tests.interop.recording import Recorded

T = TypeVar("T")

DEMO_SERVER = (sys.executable, "-m", "kinwire", "serve", "demo", "mcp")


def required(install: Callable[[], T]) -> T:
    try:
        return install()
    except peers.PeerMissingError as error:
        reason = f"peer cannot be installed: {error}"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def mcp2_python() -> Path:
    """The interpreter that has PyPI's `mcp` 2.x."""
    return required(peers.mcp2_python)


@pytest.fixture(scope="session")
def everything_command() -> tuple[str, ...]:
    return required(peers.everything_command)


@pytest.fixture
def everything(everything_command: tuple[str, ...], tmp_path: Path) -> Iterator[Recorded]:
    """npm's server-everything; after the test none of its processes may be left."""
    yield from watched(everything_command, tmp_path)


@pytest.fixture
def demo_server(tmp_path: Path) -> Iterator[Recorded]:
    """Our demo server; after the test none of its processes may be left."""
    yield from watched(DEMO_SERVER, tmp_path)


def watched(command: tuple[str, ...], folder: Path) -> Iterator[Recorded]:
    recorded = Recorded(command, folder / "starts")
    yield recorded
    assert recorded.started(), "the test never started the server"
    assert recorded.left_over() == []
