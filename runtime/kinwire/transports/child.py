"""A server in a child process, reached over its standard input and output (MCP, stdio).

The child gets a process group of its own, so that closing ends what it started as well; a
grandchild that leaves the group cannot be found. Its stderr is always read, or it would block.
"""

from __future__ import annotations

__all__ = ("ChildProcess", "stdio")

import json
import os
import subprocess
import sys
from asyncio import AbstractEventLoop
from collections.abc import Callable, Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import IO, cast

import anyio

from kinwire.rpc.errors import ConnectionClosedError
from kinwire.rpc.transport import SessionCallbacks
from kinwire.support.arguments import (
    PATH,
    SECRET,
    ArgumentCheck,
    ValueKind,
    WrongValue,
    table_of,
)
from kinwire.support.json_values import text
from kinwire.transports.descriptors import DescriptorTransport
from kinwire.transports.process import (
    end_group,
    end_with_this_program,
    environment,
    exit_code,
    kill_group,
    wait_for_exit,
)
from kinwire.transports.reading import FrameSink, Sink, read_all
from kinwire.transports.stderr import Stderr, StderrSink, is_stderr
from kinwire.transports.writing import FrameWriter

_WATCHABLE = sys.platform != "win32"  # whether an event loop can watch a pipe
_LAST_INPUT = 0.3  # seconds without the child reading, when its input is to be closed
_LAST_WORDS = 0.5  # seconds for exit code, output and stderr, once one of them has ended


class _WordsKind(ValueKind):
    """The arguments of a command. The parameters of `mcp` take them as one list."""

    def wrong(self, place: str, value: object) -> WrongValue | None:
        for index, word in enumerate(cast("tuple[object, ...]", value)):
            wrong = PATH.wrong(f"{place}[{index}]", word)
            if wrong is not None:
                return wrong._replace(
                    problem=wrong.problem.replace("a path", "a string"),
                    call='stdio("python", "server.py", "--option"), each word by itself',
                )
        return None


_STDIO = ArgumentCheck(
    "stdio",
    'stdio("python", "server.py")',
    {"command": PATH, "arguments": _WordsKind("strings", '"..."', bool)},
    env=table_of(SECRET, "a dictionary of strings", '"NAME"').or_none,
    cwd=PATH.or_none,
    stderr=ValueKind("'inherit', 'log', 'discard' or a plain function", '"log"', is_stderr),
)


def stdio(
    command: str | PathLike[str],
    *arguments: str | PathLike[str],
    env: Mapping[str, str] | None = None,
    cwd: str | Path | None = None,
    stderr: Stderr = "inherit",
) -> ChildProcess:
    """Return the connection to a server that is started as `command` with `arguments`.

    Pass each word as a string of its own: `stdio("python", "server.py", "--quiet")`. The child sees
    a short list of this process's variables (PATH, HOME, the locale and similar) and what `env`
    adds: a server has no business with your other secrets. `cwd` is the folder in which it starts.

    `stderr` is where lines go that the child writes to its stderr: "inherit" to the stderr of this
    process, "log" to the logger `kinwire.stderr` at level INFO, "discard" nowhere, and a plain
    function gets each line. Whichever it is, errors of the connection have the last of them.
    """
    _STDIO.check(command=command, arguments=arguments, env=env, cwd=cwd, stderr=stderr)
    words = tuple(fspath(word) for word in (command, *arguments))
    return ChildProcess(words, env=env, cwd=cwd, stderr=stderr)


class ChildProcess(DescriptorTransport):
    """The connection to a child process, and its life."""

    peer_may_emit_noise = True

    def __init__(
        self,
        command: tuple[str, ...],
        *,
        env: Mapping[str, str] | None,
        cwd: str | Path | None,
        stderr: Stderr,
    ) -> None:
        self.address: str | None = f"command:{text([command, cwd and os.path.abspath(cwd)])}"
        self._command = command
        self._env = environment(env)
        self._cwd = cwd
        self._process: subprocess.Popen[bytes] | None = None
        self._stderr = StderrSink(Path(command[0]).name, stderr)
        self._torn = False

    @property
    def pid(self) -> int | None:
        """The child's process id, None before it was started."""
        return None if self._process is None else self._process.pid

    @property
    def exit_code(self) -> int | None:
        """The child's exit code (negative: the signal that ended it), None while it runs."""
        return None if self._process is None else exit_code(self._process)

    async def run(self, callbacks: SessionCallbacks, /) -> None:
        """See `Transport.run`."""
        try:
            self._process = process = self._started()
            end_with_this_program(process)
        except OSError as error:
            callbacks.end(ConnectionClosedError(self._why_not_started(error)))
            return
        ends = _Ends()
        async with anyio.create_task_group() as tasks:
            self._sink = sink = FrameSink(callbacks)
            self._writer = writer = FrameWriter(
                _descriptor(process.stdin),
                callbacks,
                watchable=_WATCHABLE,
                broken=lambda _: ends.input.set(),  # also when all of this is over
                patience=_LAST_INPUT,
            )
            if callbacks.loop is None:
                tasks.start_soon(writer.run)
            writer.wake()  # for what was called before the child was there
            tasks.start_soon(self._watch, process, callbacks, ends)
            tasks.start_soon(self._watch_input, callbacks, ends)
            tasks.start_soon(self._read_stderr, process, callbacks.loop, ends)
            await _read(process.stdout, sink, callbacks.loop)
            self._torn = sink.torn
            if not self._torn:
                sink.end()
            ends.output.set()
            await self._finish(callbacks, ends)
            await anyio.sleep_forever()

    async def aclose(self) -> None:
        """Write what waits, close the child's input, and see it and its group end.

        If this is cancelled all the same, as when the event loop ends, they are killed.
        """
        process, writer = self._process, self._writer
        if process is None or writer is None:
            return
        try:
            await writer.flush()
            if process.stdin is not None:
                process.stdin.close()
            async with anyio.create_task_group() as tasks:
                # A child that cannot write could not end either.
                tasks.start_soon(_read, process.stdout, _Discard(), None)
                tasks.start_soon(_read, process.stderr, self._stderr, None)
                await end_group(process)
                tasks.cancel_scope.cancel()
        finally:
            kill_group(process)
            for pipe in (process.stdin, process.stdout, process.stderr):
                if pipe is not None:
                    pipe.close()

    def _started(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd=self._cwd,
            env=self._env,
            start_new_session=sys.platform != "win32",
        )

    def _why_not_started(self, error: OSError) -> str:
        command = self._command[0]
        why = error.strerror or error
        if self._cwd is not None and error.filename == os.fspath(self._cwd):
            return f"Cannot start {command!r} in the folder {error.filename!r}: {why}."
        reason = f"Cannot start {command!r}: {why}."
        if isinstance(error, FileNotFoundError) and len(words := command.split()) > 1:
            reason += f" Write stdio({', '.join(map(json.dumps, words))})."
        return reason

    async def _watch(
        self, process: subprocess.Popen[bytes], callbacks: SessionCallbacks, ends: _Ends
    ) -> None:
        # A grandchild may hold the pipes open although the child is gone.
        await wait_for_exit(process)
        ends.process.set()
        await self._finish(callbacks, ends)

    async def _watch_input(self, callbacks: SessionCallbacks, ends: _Ends) -> None:
        await ends.input.wait()
        await self._finish(callbacks, ends)

    async def _read_stderr(
        self, process: subprocess.Popen[bytes], loop: AbstractEventLoop | None, ends: _Ends
    ) -> None:
        await _read(process.stderr, self._stderr, loop)
        self._stderr.end()
        ends.stderr.set()

    async def _finish(self, callbacks: SessionCallbacks, ends: _Ends) -> None:
        with anyio.move_on_after(_LAST_WORDS):
            await ends.process.wait()
            await ends.output.wait()
            await ends.stderr.wait()
        callbacks.end(self._why())

    def _why(self) -> ConnectionClosedError:
        code = self.exit_code
        if code is None:
            reason = "The server closed its standard input or output"
        elif code < 0:
            reason = f"The server was ended by signal {-code}"
        else:
            reason = f"The server exited with code {code}"
        when = " in the middle of a message" if self._torn else ""
        return ConnectionClosedError(f"{reason}{when}.", code, self._stderr.tail)


class _Ends:
    """What of a child has ended."""

    def __init__(self) -> None:
        self.process, self.stderr = anyio.Event(), anyio.Event()
        self.input, self.output = anyio.Event(), anyio.Event()


class _Discard:
    """Takes bytes that nobody wants any more."""

    paused = False
    on_resume: Callable[[], object] | None = None

    def receive(self, chunk: bytes, /) -> int:
        return 64 * 1024


def _descriptor(pipe: IO[bytes] | None) -> int:
    if pipe is None:
        raise ValueError("the child was started without a pipe")
    if _WATCHABLE:
        os.set_blocking(pipe.fileno(), False)
    return pipe.fileno()


async def _read(pipe: IO[bytes] | None, sink: Sink, loop: AbstractEventLoop | None) -> None:
    await read_all(_descriptor(pipe), sink, loop=loop, watchable=_WATCHABLE)
