"""Two kernels, each a process, that share a registry: one runs a server, and one is killed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from queue import Empty, Queue
from threading import Thread

import pytest

from tests.runtime.mgp.kernel.test_registered_servers import SCRIPT
from tests.runtime.storage.conftest import nats_server as nats_server  # a fixture
from tests.runtime.storage.fixtures_engines import NatsServer

PROGRAM = Path(__file__).parents[1] / "programs" / "shared_kernel.py"
LEASE = 1.2  # seconds; a busy machine must not lose it
WITHIN = 20.0

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="kills by signals of POSIX"),
]


@pytest.fixture(params=["sqlite", "nats"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A store that several processes can open."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/store.db"
    server: NatsServer = request.getfixturevalue("nats_server")
    return server.url


class Kernels:
    """Two kernels, and what they say of the server: each line with the number of its kernel."""

    def __init__(self, url: str, folder: Path) -> None:
        command = [sys.executable, str(PROGRAM), url, str(folder), str(LEASE)]
        pipe = subprocess.PIPE
        self.running = [
            subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) for _ in range(2)
        ]
        self._said = Queue[tuple[int, str]]()
        for number in range(2):
            Thread(target=self._listen, args=(number,), daemon=True).start()

    def _listen(self, number: int) -> None:
        for line in self.running[number].stdout or ():
            self._said.put((number, line.strip()))

    def tell(self, number: int, line: str) -> None:
        print(line, file=self.running[number].stdin, flush=True)

    def hear(self, word: str, within: float = WITHIN) -> tuple[int, str]:
        """Return the next line that begins with a word, and whose it is."""
        while True:
            number, line = self._said.get(timeout=within)
            if line.startswith(word):
                return number, line

    def end(self) -> None:
        for one in self.running:
            one.kill()
            one.communicate()


@pytest.fixture
def kernels(url: str, tmp_path: Path) -> Iterator[Kernels]:
    folder = tmp_path / "scripts"
    folder.mkdir()
    (folder / "tool.py").write_text(SCRIPT, encoding="utf-8")
    made = Kernels(url, folder)
    yield made
    made.end()


def gone(pid: str) -> bool:
    """Return whether a process ends within some seconds; others have to reap it."""
    status = Path(f"/proc/{pid}/stat")
    until = time.monotonic() + WITHIN
    while time.monotonic() < until:
        try:
            os.kill(int(pid), 0)
            if status.exists() and status.read_text("utf-8").rpartition(")")[2].split()[0] == "Z":
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.005)
    return False


@pytest.mark.spec("mgp-15.4-1")
def test_one_kernel_runs_a_registered_server_and_the_other_after_it_is_killed(
    kernels: Kernels,
) -> None:
    assert {kernels.hear("ready")[0], kernels.hear("ready")[0]} == {0, 1}
    kernels.tell(0, "register")
    holder, line = kernels.hear("connected")
    with pytest.raises(Empty):  # for longer than another start takes
        kernels.hear("connected", within=0.5)
    kernels.running[holder].kill()
    other, later = kernels.hear("connected")
    assert (other, later != line) == (1 - holder, True)
    assert gone(line.split()[1])
    kernels.tell(other, "deregister")
    assert kernels.hear("gone") == (other, "gone")
    assert gone(later.split()[1])
