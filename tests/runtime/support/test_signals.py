"""Signals are heard by what waits, also those that another thread is given."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread, get_ident
from types import FrameType

import pytest

from kinwire.support.signals import heard_by_the_loop
from kinwire_cli.tap import ended

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals")


@contextmanager
def handled(act: Callable[[], object]) -> Iterator[None]:
    def handler(number: int, frame: FrameType | None) -> None:
        act()

    before = signal.signal(signal.SIGUSR1, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGUSR1, before)


def signalled_elsewhere() -> None:
    """Signal this process on a thread that has nothing to do with it, once the main one waits."""

    def act() -> None:
        time.sleep(0.2)  # nothing shows that a thread is in a system call
        signal.pthread_kill(get_ident(), signal.SIGUSR1)

    Thread(target=act, daemon=True).start()


def test_a_loop_that_waits_is_woken() -> None:
    async def use() -> None:
        heard, woken_by_the_clock = asyncio.Event(), list[bool]()
        with handled(heard.set), heard_by_the_loop():
            asyncio.get_running_loop().call_later(20, woken_by_the_clock.append, True)
            signalled_elsewhere()
            await heard.wait()
            await asyncio.sleep(0)
        assert not woken_by_the_clock

    asyncio.run(use())


def test_the_wait_for_a_command_is_interrupted() -> None:
    command = (sys.executable, "-c", "import time; time.sleep(60)")
    with subprocess.Popen(command) as process, handled(process.kill):
        signalled_elsewhere()
        assert ended(process) == -signal.SIGKILL


def test_who_had_the_wake_ups_before_has_them_again() -> None:
    async def use() -> int:
        with heard_by_the_loop():
            return signal.set_wakeup_fd(-1)

    assert asyncio.run(use()) != -1
    assert signal.set_wakeup_fd(-1) == -1
