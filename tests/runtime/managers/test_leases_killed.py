"""Several processes want one lease; some of them are killed or stopped while they have it."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from tests.runtime.storage.fixtures_engines import Engine, NatsServer

PROGRAM = Path(__file__).parent / "programs" / "hold_lease.py"
LASTS = 0.4
Times = dict[int, list[float]]


@pytest.fixture(params=["sqlite", "nats"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A store that several processes can open."""
    if request.param == "sqlite":
        return Engine("sqlite", f"sqlite:///{tmp_path}/store.db").url
    server: NatsServer = request.getfixturevalue("nats_server")
    return server.url


@contextmanager
def process(url: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, str(PROGRAM), url, str(LASTS)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        try:
            assert running.stdout is not None
            assert running.stdout.readline() == "ready\n"
            yield running
        finally:
            running.kill()


@pytest.mark.slow
def test_one_process_has_the_lease_at_a_time_though_others_are_killed_and_stopped(url: str) -> None:
    chance, times = random.Random(1), Times()
    with process(url) as first, process(url) as second, process(url) as third:
        time.sleep(chance.uniform(0.1, 0.3))  # what is killed must not know when
        first.kill()
        second.send_signal(signal.SIGSTOP)
        time.sleep(3 * LASTS)
        second.send_signal(signal.SIGCONT)
        time.sleep(LASTS)
        for one in (first, second, third):
            one.kill()
            take_in(one, times)
    assert len(times) > 5
    spans = [(fence, times[fence][0], times[fence][-1]) for fence in sorted(times)]
    for before, after in pairwise(spans):
        assert before[2] < after[1], (before, after)
    waited = [after[1] - before[2] for before, after in pairwise(spans)]
    assert max(waited) < 10


def take_in(running: subprocess.Popen[str], times: Times) -> None:
    assert running.stdout is not None
    for line in running.stdout.read().splitlines():
        fence, _, moment = line.partition(" ")
        if moment:
            times.setdefault(int(fence), []).append(float(moment))
