"""The programs on the other side. One that is missing fails CI; elsewhere its tests are skipped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from tests.absent import absent
from tests.interop import peers, runs
from tests.interop.recording import Recorded
from tests.interop.runs import Run

T = TypeVar("T")

Runner = Callable[[str, str], Run]


def required(install: Callable[[], T]) -> T:
    try:
        return install()
    except peers.PeerMissingError as error:
        absent(f"peer cannot be installed: {error}")


@pytest.fixture(scope="session")
def run_of(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """Runs a peer as `runs.run` does, once; what that raised it raises again."""
    known: dict[tuple[str, str], Run | BaseException] = {}

    def run_of(peer: str, how: str) -> Run:
        if (peer, how) not in known:
            folder = tmp_path_factory.mktemp(peer.replace(" ", "-"))
            try:
                known[peer, how] = required(lambda: runs.run(peer, how, folder))
            except BaseException as error:
                known[peer, how] = error
        outcome = known[peer, how]
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    return run_of


@pytest.fixture(scope="session")
def everything_command() -> tuple[str, ...]:
    return required(lambda: peers.npm_server("everything"))


@pytest.fixture
def everything(everything_command: tuple[str, ...], tmp_path: Path) -> Iterator[Recorded]:
    """npm's server-everything; after the test none of its processes may be left."""
    recorded = Recorded(everything_command, tmp_path)
    yield recorded
    assert recorded.started(), "the test never started the server"
    assert recorded.left_over() == []
