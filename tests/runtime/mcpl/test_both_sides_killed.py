"""An outbox and a durable inbox in processes that are killed, by turns: nothing is lost."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

import pytest

from tests.runtime.fixtures_wire import PROGRAMS

EVENTS = 60
PATIENCE = 30.0  # seconds
KILLS = ("server", "host")


class Sides:
    """Both processes, and what they have written."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def lines(self, role: str) -> list[str]:
        file = self._folder / f"{role}.txt"
        return file.read_text(encoding="ascii").splitlines() if file.exists() else []

    def start(self, role: str, first: int = 0, last: int = 0) -> None:
        store, output = f"sqlite:///{self._folder}/{role}.db", self._folder / f"{role}.txt"
        arguments = [role, store, self._port, output, first, last]
        command = [sys.executable, str(PROGRAMS / "sides.py"), *map(str, arguments)]
        self.running[role] = subprocess.Popen(command)

    def kill(self, role: str) -> None:
        self.running[role].send_signal(signal.SIGKILL)
        self.running[role].wait()

    def wait_for(self, happened: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not happened():
            assert time.monotonic() < deadline, (self.lines("server"), self.lines("host"))
            time.sleep(0.01)


@pytest.mark.slow
def test_events_survive_the_kills_of_both_sides(tmp_path: Path) -> None:
    sides = Sides(tmp_path)
    try:
        sides.start("server", 0, EVENTS)
        sides.start("host")
        for count, role in enumerate(KILLS, 1):
            enough = count * EVENTS // (len(KILLS) + 2)
            sides.wait_for(lambda: len(sides.lines("host")) >= enough)  # noqa: B023
            sides.kill(role)
            sides.start(role, len(sides.lines("server")), EVENTS)
        sides.wait_for(lambda: "59" in [line.partition(" ")[0] for line in sides.lines("host")])
    finally:
        for role in sides.running:
            sides.kill(role)
    seen = [line.split(" ") for line in sides.lines("host")]
    assert [number for number, _ in groupby(seen, lambda one: one[0])] == [
        str(number) for number in range(EVENTS)
    ]
    repeats = [again for _, same in groupby(seen, lambda one: one[0]) for _, again in [*same][1:]]
    assert set(repeats) <= {"True"}
