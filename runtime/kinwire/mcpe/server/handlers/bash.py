"""Commands that work on events at the server: off unless the program allows some (MCPE 9.1, 11.4).

A command is a program and its arguments; no shell reads them. It runs in a process group of its
own, which is killed with it, sees a few harmless variables of this process, and writes to nowhere.
"""

from __future__ import annotations

__all__ = ("EVENT_VARIABLE", "BashHandlers", "CheckCommand")

import errno
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Callable, Collection, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import IO, Final

import anyio
from anyio import to_thread

from kinwire.mcpe.server.handlers.work import (
    HandlerFailedError,
    HandlerWork,
    RetryHandlerError,
    seconds_for,
)
from kinwire.support.arguments import (
    PLAIN_FUNCTION,
    SECONDS,
    TEXTS,
    ArgumentCheck,
    count_from,
)
from kinwire.transports.process import (
    end_with_this_program,
    environment,
    exit_code,
    kill_group,
    wait_for_exit,
)
from kinwire_protocols.mcpe.models import BashEventHandler
from kinwire_protocols.problems import Problem, shown

CheckCommand = Callable[[str, Sequence[str]], bool]
"""Whether a command may run with these arguments, which a client has chosen."""

EVENT_VARIABLE: Final = "MCPE_EVENT"
"""The variable that has the event, if `input` is `env`."""

_TRY_LATER = 75  # EX_TEMPFAIL of sysexits.h
_MAY_PASS = {
    getattr(errno, name)
    for name in ("EAGAIN", "EDQUOT", "EMFILE", "ENFILE", "ENOBUFS", "ENOMEM", "ENOSPC", "ETXTBSY")
    if hasattr(errno, name)
}
_NO_FILES = "the event cannot be handed to a command ({})"
_MOST_WORDS, _WORDS_SIZE = 100, 32 * 1024  # arguments and variables; characters in all
_LONGEST_WORD = 128 * 1024 - 1  # bytes: Linux takes no longer argument or variable

_BASH_HANDLERS = ArgumentCheck(
    "BashHandlers",
    'BashHandlers(["notify-send"])',
    {"commands": TEXTS},
    check=PLAIN_FUNCTION.or_none,
    variables=TEXTS,
    folders=TEXTS,
    timeout=SECONDS,
    memory=count_from(1).or_none,
)


class BashHandlers:
    """Runs commands for events: `EventHandlers(bash=BashHandlers(["notify-send"]))`.

    `commands` are the programs that may run, as clients write them. Arguments are the client's: an
    interpreter, such as a shell, runs whatever they say, so `check` of (command, arguments) can
    refuse some. The process group of a command ends with it, but what leaves the group, as `setsid`
    does, goes on. `variables` are those that a handler may set, and `folders` those in or below
    which it may run; without `cwd` it runs in the first one, else in an empty folder of its own,
    which is removed.

    The event is one JSON text, several events an array: on standard input, in the variable
    `MCPE_EVENT`, or as the last argument, as `input` says. `MCPE_DELIVERY_ID`, `MCPE_ATTEMPT` and
    `MCPE_SUBSCRIPTION_ID` are always set. Exit code 0 ends the work, and 75 means that it is tried
    again later; another one does not. `timeout` is the most seconds that a command has; a handler
    may ask for less. `memory` is the most bytes of address space of each process, on Linux.
    """

    def __init__(
        self,
        commands: Collection[str],
        *,
        check: CheckCommand | None = None,
        variables: Collection[str] = (),
        folders: Collection[str] = (),
        timeout: float = 30.0,
        memory: int | None = None,
    ) -> None:
        """Prepare to run commands.

        Raises:
            ValueError: a number is out of range.
            TypeError: an argument is not of its type.
        """
        _BASH_HANDLERS.check(
            commands=commands,
            check=check,
            variables=variables,
            folders=folders,
            timeout=timeout,
            memory=memory,
        )
        self._commands = frozenset(commands)
        self._check = check
        self._variables = frozenset(variables)
        self._folders = tuple(os.path.realpath(one) for one in folders)
        self._timeout = timeout
        self._memory = memory

    def problems(self, handler: BashEventHandler, at: str) -> Iterator[Problem]:
        """Yield why a handler is not taken, with pointers that begin with `at`."""
        if handler.command not in self._commands:
            yield Problem(f"{at}/command", "one that this server allows", shown(handler.command))
        elif self._check is not None and not self._check(handler.command, handler.args or []):
            yield Problem(f"{at}/args", "arguments that this server allows", "others")
        if not handler.timeout > 0:
            yield Problem(f"{at}/timeout", "milliseconds above 0", shown(handler.timeout))
        for name in handler.env or {}:
            if name not in self._variables:
                expected = "variables that this server allows"
                yield Problem(f"{at}/env", expected, shown(name))
        if handler.cwd is not None and not self._is_allowed_folder(handler.cwd):
            yield Problem(f"{at}/cwd", "a folder that this server allows", shown(handler.cwd))
        yield from _word_problems(handler, at)

    async def work(self, work: HandlerWork, handler: BashEventHandler) -> None:
        """Run the command once.

        Raises:
            RetryHandlerError: it asks to be tried again, or cannot be started now.
            HandlerFailedError: it has failed, or has taken too long.
        """
        seconds = seconds_for(handler.timeout, self._timeout)
        async with _places() as (own, given):
            if handler.input == "stdin":
                await to_thread.run_sync(_write, given, work.event_text().encode())
            command = _Command(work, handler, self._folder(handler, own))
            code = await self._run(command, given, seconds)
        if code is None:
            raise HandlerFailedError(f"the command was not done after {seconds:g} seconds")
        if code == _TRY_LATER:
            raise RetryHandlerError("the command has asked to be run again later")
        if code:
            raise HandlerFailedError(f"the command has ended with {code}")

    async def _run(self, command: _Command, given: IO[bytes], seconds: float) -> int | None:
        """Return the exit code of a command; None if its time was over.

        Raises:
            RetryHandlerError: this machine has too many processes or files open.
            HandlerFailedError: there is no such program or folder.
        """
        process = command.started(given)
        try:
            end_with_this_program(process)
            _limit(process.pid, self._memory)
            with anyio.move_on_after(seconds):
                await wait_for_exit(process)
                return exit_code(process)
            return None
        except OSError as error:
            reason = f"the command cannot be waited for ({type(error).__name__})"
            raise _failure_for(error, reason) from None
        finally:  # also what the command has left behind
            kill_group(process)

    def _folder(self, handler: BashEventHandler, own: str) -> str:
        if handler.cwd is None:
            return self._folders[0] if self._folders else own
        if not self._is_allowed_folder(handler.cwd):  # a link may lead elsewhere by now
            raise HandlerFailedError("the folder is not one that this server allows any more")
        return handler.cwd

    def _is_allowed_folder(self, folder: str) -> bool:
        if "\0" in folder or not os.path.isabs(folder):
            return False
        found = Path(os.path.realpath(folder))
        return any(found.is_relative_to(one) for one in self._folders)


class _Command:
    """A command for one attempt."""

    def __init__(self, work: HandlerWork, handler: BashEventHandler, folder: str) -> None:
        self._folder = folder
        self._words = [handler.command, *(handler.args or [])]
        self._added = {
            **(handler.env or {}),
            "MCPE_DELIVERY_ID": work.delivery_id,
            "MCPE_ATTEMPT": str(work.attempt),
            "MCPE_SUBSCRIPTION_ID": work.subscription_id,
        }
        if handler.input == "stdin":
            return
        event = work.event_text()
        if len(event.encode()) > _LONGEST_WORD - len(EVENT_VARIABLE) - 1:
            raise HandlerFailedError("the event is too long for an argument or a variable")
        if handler.input == "env":
            self._added[EVENT_VARIABLE] = event
        else:
            self._words.append(event)

    def started(self, given: IO[bytes]) -> subprocess.Popen[bytes]:
        """Start it.

        Raises:
            RetryHandlerError: this machine has too many processes or files open.
            HandlerFailedError: there is no such program or folder.
        """
        try:
            return subprocess.Popen(
                self._words,
                stdin=given,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=self._folder,
                env=environment(self._added),
                start_new_session=sys.platform != "win32",
            )
        except (OSError, ValueError) as error:
            reason = f"the command cannot be started ({type(error).__name__})"
            raise _failure_for(error, reason) from None


@asynccontextmanager
async def _places() -> AsyncGenerator[tuple[str, IO[bytes]]]:
    """Yield an empty folder, and an empty file for the event; both are removed.

    What cannot be removed, as the command has done something to the folder, is left there.

    Raises:
        RetryHandlerError: this machine has too many files open, or no room.
        HandlerFailedError: there is no folder for such files.
    """
    try:
        given = tempfile.TemporaryFile()  # noqa: SIM115 - closed below
    except OSError as error:
        raise _failure_for(error, _NO_FILES.format(type(error).__name__)) from None
    with given:
        try:
            own = tempfile.mkdtemp(prefix="mcpe-")
        except OSError as error:
            raise _failure_for(error, _NO_FILES.format(type(error).__name__)) from None
        try:
            yield own, given
        finally:
            with anyio.CancelScope(shield=True):  # a command may have made many files
                await to_thread.run_sync(_remove, own)


def _remove(folder: str) -> None:
    with suppress(OSError):
        os.unlink(folder)  # a command may have put a link or a file there
    shutil.rmtree(folder, ignore_errors=True)


def _failure_for(error: Exception, reason: str) -> HandlerFailedError:
    may_pass = isinstance(error, OSError) and error.errno in _MAY_PASS
    return (RetryHandlerError if may_pass else HandlerFailedError)(reason)


def _write(given: IO[bytes], text: bytes) -> None:
    """Write the event into its file.

    Raises:
        RetryHandlerError: there is no room.
        HandlerFailedError: it cannot be written.
    """
    try:
        given.write(text)
        given.flush()
        given.seek(0)
    except OSError as error:
        raise _failure_for(error, _NO_FILES.format(type(error).__name__)) from None


def _limit(pid: int, memory: int | None) -> None:
    """Limit the address space of a process and what it starts, where that can be done."""
    if memory is None or sys.platform != "linux":
        return
    import resource

    with suppress(ProcessLookupError, PermissionError):
        resource.prlimit(pid, resource.RLIMIT_AS, (memory, memory))


def _word_problems(handler: BashEventHandler, at: str) -> Iterator[Problem]:
    args, env = handler.args or [], handler.env or {}
    words = [*args, *env, *env.values()]
    size = sum(map(len, words))
    if len(words) > _MOST_WORDS or size > _WORDS_SIZE:
        expected = f"at most {_MOST_WORDS} arguments and variables of {_WORDS_SIZE} characters"
        yield Problem(at, expected, f"{len(words)} of {size}")
    elif any("\0" in word for word in words) or any("=" in name for name in env):
        yield Problem(at, "arguments and variables that a process can have", "others")
