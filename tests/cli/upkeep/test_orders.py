"""What signals ask of `kinwire up`."""

from __future__ import annotations

import os
import signal

import anyio
import pytest

pytest.importorskip("fcntl", reason="needs the signals of POSIX")

from kinwire_cli.upkeep.orders import Orders

pytestmark = pytest.mark.anyio


async def test_a_first_signal_drains_a_second_one_ends_and_hangup_reads_again() -> None:
    orders = Orders()
    orders.note(signal.SIGHUP)
    await orders.wait_reload()
    with anyio.move_on_after(0) as again:
        await orders.wait_reload()
    assert (again.cancelled_caught, orders.drain.is_set(), orders.number) == (True, False, None)
    orders.note(signal.SIGINT)
    assert (orders.drain.is_set(), orders.end.is_set(), orders.number) == (True, False, 2)
    orders.note(signal.SIGTERM)
    assert (orders.end.is_set(), orders.number) == (True, 15)


async def test_a_terminal_that_is_closed_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "isatty", lambda _: True)
    orders = Orders()
    monkeypatch.setattr(os, "isatty", lambda _: False)
    orders.note(signal.SIGHUP)
    assert (orders.drain.is_set(), orders.number) == (True, signal.SIGHUP)


async def test_signals_are_taken_except_for_those_that_a_shell_ignores() -> None:
    orders = Orders()
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(orders.follow)
            await anyio.wait_all_tasks_blocked()
            os.kill(os.getpid(), signal.SIGTERM)
            os.kill(os.getpid(), signal.SIGHUP)
            await orders.wait_reload()
            assert not orders.drain.is_set()
            os.kill(os.getpid(), signal.SIGINT)
            await orders.drain.wait()
            tasks.cancel_scope.cancel()
    finally:
        signal.signal(signal.SIGTERM, before)
