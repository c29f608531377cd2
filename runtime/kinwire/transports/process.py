"""A child process and its group: what it may see of this one, and how all of it ends."""

from __future__ import annotations

__all__ = (
    "BY_ITSELF",
    "end_group",
    "end_with_this_program",
    "environment",
    "exit_code",
    "kill_group",
    "wait_for_exit",
)

import atexit
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from subprocess import Popen, TimeoutExpired

import anyio
from anyio import to_thread

# fmt: off
_VARIABLES = (
    "HOME", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR",
    "TZ", "USER",
    # What Windows programs do not start without.
    "APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "PROGRAMFILES",
    "PROCESSOR_ARCHITECTURE", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE",
)
# fmt: on

# Seconds: until a child whose input ended gets SIGTERM, until it is killed, and until what
# else lives in its group is.
BY_ITSELF = 2.0
_AFTER_TERM = 1.0
_REST_OF_GROUP = 0.5
_LOOK_AGAIN = 0.02
_AFTER_KILL = 0.2

_alive: set[Popen[bytes]] = set()


def environment(added: Mapping[str, str] | None) -> dict[str, str]:
    """Return the variables of a child: the harmless ones of this process, then `added`."""
    inherited = {name: os.environ[name] for name in _VARIABLES if name in os.environ}
    return {**inherited, **(added or {})}


async def wait_for_exit(process: Popen[bytes]) -> None:
    """Return when the process has exited. On Linux it stays a zombie: its group keeps its name."""
    if process.returncode is not None:
        return
    if not hasattr(os, "pidfd_open"):
        # One thread a process: the shared ones would run out.
        await to_thread.run_sync(
            process.wait, abandon_on_cancel=True, limiter=anyio.CapacityLimiter(1)
        )
        return
    try:
        fd = os.pidfd_open(process.pid)
    except ProcessLookupError:  # reaped by somebody else
        return
    try:
        await anyio.wait_readable(fd)
    finally:
        os.close(fd)


def exit_code(process: Popen[bytes]) -> int | None:
    """Return the exit code (negative: the signal), None while it runs; a zombie stays one."""
    if process.returncode is not None or not hasattr(os, "waitid"):
        return process.poll()
    with suppress(ChildProcessError):  # reaped by somebody else
        ended = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if ended is not None:
            return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status
    return None


async def end_group(process: Popen[bytes]) -> None:
    """See the process and its group end, first by themselves, then by force.

    Its standard input has to be closed already: that is what asks it to end.
    """
    try:
        with anyio.move_on_after(BY_ITSELF):
            await wait_for_exit(process)
        _signal(process, signal.SIGTERM)
        with anyio.move_on_after(_AFTER_TERM):
            await wait_for_exit(process)
        if process.poll() is not None:
            with anyio.move_on_after(_REST_OF_GROUP):
                while _signal(process, 0):  # noqa: ASYNC110 - a group reports its end to nobody
                    await anyio.sleep(_LOOK_AGAIN)
    finally:  # also of a group whose first process is gone, where nobody waits any more
        _signal(process, 9)
    await wait_for_exit(process)
    process.poll()


def kill_group(process: Popen[bytes]) -> None:
    """Kill the process and its group, unless it has been seen to end."""
    _alive.discard(process)
    if process.returncode is None:
        _signal(process, 9)
        with suppress(TimeoutExpired):  # no loop may be there to wait on; it takes a moment
            process.wait(_AFTER_KILL)


def end_with_this_program(process: Popen[bytes]) -> None:
    """Have the group killed when this program ends without having ended it."""
    _alive.add(process)


@atexit.register
def _kill_all() -> None:
    while _alive:
        kill_group(_alive.pop())


if hasattr(os, "register_at_fork"):  # a copy of this program has no part in its children
    os.register_at_fork(after_in_child=_alive.clear)


def _signal(process: Popen[bytes], number: int) -> bool:
    """Signal the group; say whether there is one."""
    if sys.platform == "win32":  # no groups to signal there
        if number:
            process.kill()
        return False
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
        return True
    return False
