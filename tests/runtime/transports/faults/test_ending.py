"""A server that is asked to end while it works: what runs gets one grace period."""

from __future__ import annotations

import os
import signal
import socket
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

from kinwire import ConnectionClosedError, connect, stdio
from kinwire.rpc.transport import Transport
from tests.runtime.programs import everywhere
from tests.runtime.transports.faults.table import SERVER
from tests.runtime.transports.fixtures_processes import Program, serving
from tests.runtime.transports.fixtures_serving import NETWORK

pytestmark = pytest.mark.faults

FILE = Path(everywhere.__file__)
CALLS = 100
SOON = 5.0  # seconds
EVERY = pytest.mark.parametrize("transport", ["stdio", *NETWORK])

PATIENT = """
import sys
from pathlib import Path

import anyio

from kinwire import Context, Limits, Server

server = Server("patient", "1", limits=Limits(drain=30))


@server.tool
async def wait(context: Context) -> str:
    await context.progress(1)
    while not Path({go_on!r}).exists():
        if context.session.closed:
            print("ending", file=sys.stderr, flush=True)
        await anyio.sleep(0.01)
    return "done"


if __name__ == "__main__":
    server.run()
"""


class Running(ABC):
    """A server in a process of its own."""

    target: Transport | str

    @abstractmethod
    def tell(self) -> None:
        """Tell it to end."""

    @abstractmethod
    async def is_ending(self) -> None:
        """Return when it has heard that."""


class Listening(Running):
    def __init__(self, program: Program, transport: str) -> None:
        self._program = program
        self.target = program.url(transport)

    def tell(self) -> None:
        self._program.process.send_signal(signal.SIGTERM)

    async def is_ending(self) -> None:
        while True:
            try:
                socket.create_connection(("127.0.0.1", self._program.port), SOON).close()
            except ConnectionRefusedError:
                return
            await anyio.sleep(0.01)


class Child(Running):
    def __init__(self, file: Path, number: int = signal.SIGTERM) -> None:
        self._number = number
        self._ending = anyio.Event()
        self.target = self._child = stdio(sys.executable, str(file), stderr=self._heard)

    def _heard(self, line: str) -> None:
        if line == "ending":
            self._ending.set()

    def tell(self) -> None:
        assert self._child.pid is not None
        os.kill(self._child.pid, self._number)

    async def is_ending(self) -> None:
        await self._ending.wait()


@contextmanager
def running(file: Path, transport: str) -> Iterator[Running]:
    """Yield a server; it has ended with 0 when the block is left."""
    if transport == "stdio":
        yield Child(file)
        return
    with serving(file, transport) as program:
        yield Listening(program, transport)
        assert program.process.wait(2 * SOON) == 0


def ended_well(error: ConnectionClosedError) -> bool:
    return error.exit_code in (None, 0)  # over a network nobody knows


@pytest.mark.fault(38, SERVER)
@EVERY
def test_calls_and_streams_that_do_not_end_fail_immediately(transport: str) -> None:
    async def use(server: Running) -> None:
        errors: list[ConnectionClosedError] = []
        begun = 0

        def count(report: object) -> None:
            nonlocal begun
            begun += 1
            if begun == CALLS:
                server.tell()

        async with connect(server.target) as connection:
            asking = connection.with_options(on_progress=count, timeout=None)

            async def call() -> None:
                with pytest.raises(ConnectionClosedError) as caught:
                    await asking.mcp.tools_call(name="wait")
                errors.append(caught.value)

            with anyio.fail_after(3 * SOON):
                async with anyio.create_task_group() as tasks:
                    for _ in range(CALLS):
                        tasks.start_soon(call)
        assert [ended_well(error) for error in errors] == [True] * CALLS

    with running(FILE, transport) as server:
        anyio.run(use, server)


@pytest.fixture
def patient(tmp_path: Path) -> tuple[Path, Path]:
    """A server whose calls wait for a file, and that file."""
    file, go_on = tmp_path / "patient.py", tmp_path / "go_on"
    file.write_text(PATIENT.format(go_on=str(go_on)), encoding="utf-8")
    return file, go_on


async def call_and(
    server: Running, then: Callable[[], object]
) -> list[str | ConnectionClosedError]:
    """Return the outcomes of a call that waits, while `then` is done."""
    found: list[str | ConnectionClosedError] = []
    async with connect(server.target) as connection:
        began = anyio.Event()
        asking = connection.with_options(on_progress=lambda report: began.set())

        async def call() -> None:
            try:
                content = (await asking.mcp.tools_call(name="wait")).content[0]
                found.append(getattr(content, "text", ""))
            except ConnectionClosedError as error:
                found.append(error)

        with anyio.fail_after(3 * SOON):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(call)
                await began.wait()
                server.tell()
                await server.is_ending()
                then()
    return found


@pytest.mark.fault(38, SERVER)
@EVERY
def test_what_runs_gets_its_moment(transport: str, patient: tuple[Path, Path]) -> None:
    file, go_on = patient
    with running(file, transport) as server:
        assert anyio.run(call_and, server, go_on.touch) == ["done"]


def test_a_hang_up_is_the_same_word(patient: tuple[Path, Path]) -> None:
    file, go_on = patient
    assert anyio.run(call_and, Child(file, signal.SIGHUP), go_on.touch) == ["done"]


@pytest.mark.fault(38, SERVER)
@EVERY
def test_a_second_signal_ends_it_immediately(transport: str, patient: tuple[Path, Path]) -> None:
    file, _ = patient
    with running(file, transport) as server:
        (error,) = anyio.run(call_and, server, server.tell)
        assert isinstance(error, ConnectionClosedError)
        assert error.exit_code in (None, -signal.SIGTERM)
