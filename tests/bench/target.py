"""Programs under test: each in a process of its own, given the same loads, timed by its CPU clock.

A server is driven with bytes by this process, which costs it next to nothing. A client, or both
ends in memory, is a program that makes the calls itself when a line on its stdin says so.
"""

from __future__ import annotations

__all__ = ("INITIALIZE", "Driven", "Load", "Served", "Target", "TargetFailedError", "cpu_clock")

import os
import select
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import IO, NamedTuple

ROOT = Path(__file__).parents[2]

_PATIENCE = 60.0  # seconds without a sign of life

INITIALIZE = (
    b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2024-11-05",'
    b'"capabilities":{},"clientInfo":{"name":"bench","version":"0"}}}\n'
)
_INITIALIZED = b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
_CALL = (
    b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":'
    b'{"name":"echo","arguments":{"text":"%b"}}}\n'
)


class TargetFailedError(Exception):
    """A program did not do what it was asked."""


class Load(NamedTuple):
    """Calls of a tool that returns its one argument."""

    size: int
    """Characters of the argument."""
    at_once: int
    """Calls in flight."""
    calls: int
    """How many calls in all, a multiple of `at_once`."""

    def __str__(self) -> str:
        size = f"{self.size // 1000} kB" if self.size >= 1000 else f"{self.size} B"
        return f"{size}, " + ("sequential" if self.at_once == 1 else f"{self.at_once} in flight")


def cpu_clock(pid: int) -> float:
    """Return the CPU seconds that a process has used, in all its threads (Linux only)."""
    # How Linux makes the clock id of another process: clock_getcpuclockid(3).
    return time.clock_gettime(~pid << 3 | 2)


class Target(ABC):
    """A program that takes loads until it is closed."""

    def __init__(self, command: tuple[str, ...], env: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, **env},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )
        self.pid = self._process.pid
        self._name = " ".join(command)
        self._input = _descriptor(self._process.stdin)
        self._output = _descriptor(self._process.stdout)

    @abstractmethod
    def exchange(self, load: Load) -> None:
        """Make the calls, and see that the text comes back."""

    def close(self) -> None:
        """End the program."""
        with self._process as process:  # closes its pipes
            if process.stdin is not None:
                process.stdin.close()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()

    def _read(self) -> bytes:
        if not select.select([self._output], [], [], _PATIENCE)[0]:
            raise TargetFailedError(f"{self._name}: nothing came for {_PATIENCE:.0f} s")
        chunk = os.read(self._output, 1 << 20)
        if not chunk:
            raise TargetFailedError(f"{self._name}: it has ended")
        return chunk

    def _line(self) -> bytes:
        line = b""
        while not line.endswith(b"\n"):
            line += self._read()
        return line


class Driven(Target):
    """A program that makes the calls itself."""

    def __init__(self, command: tuple[str, ...], env: Mapping[str, str]) -> None:
        super().__init__(command, env)
        self._expect(b"ready\n")

    def exchange(self, load: Load) -> None:
        """See `Target.exchange`."""
        os.write(self._input, b"%d %d %d\n" % (load.calls, load.at_once, load.size))
        self._expect(b"done\n")

    def _expect(self, word: bytes) -> None:
        line = self._line()
        if line != word:
            raise TargetFailedError(f"{self._name}: expected {word!r}, got {line[:200]!r}")


class Served(Target):
    """A server on stdio."""

    def __init__(self, command: tuple[str, ...], env: Mapping[str, str]) -> None:
        super().__init__(command, env)
        os.write(self._input, INITIALIZE)
        self._line()
        os.write(self._input, _INITIALIZED)
        os.set_blocking(self._input, False)
        self._next = 1

    def exchange(self, load: Load) -> None:
        """See `Target.exchange`."""
        text = b"x" * load.size
        self._check_one(text)
        sent = answered = received = 0
        unsent = memoryview(b"")
        while answered < load.calls:
            if not unsent:
                more = min(load.at_once - (sent - answered), load.calls - sent)
                unsent = memoryview(self._requests(text, more))
                sent += more
            unsent = self._write(unsent)
            chunk = self._read_or_wait(unsent)
            answered += chunk.count(b"\n")
            received += len(chunk)
        if received < load.calls * load.size:
            raise TargetFailedError(f"{self._name}: only {received} bytes came")

    def _check_one(self, text: bytes) -> None:
        unsent = memoryview(self._requests(text, 1))
        while unsent := self._write(unsent):
            select.select([], [self._input], [], _PATIENCE)
        answer = self._line()
        if b'"result"' not in answer or text not in answer:
            raise TargetFailedError(f"{self._name}: {answer[:200]!r} is not an answer")

    def _requests(self, text: bytes, count: int) -> bytes:
        first, self._next = self._next, self._next + count
        return b"".join([_CALL % (number, text) for number in range(first, self._next)])

    def _write(self, unsent: memoryview) -> memoryview:
        try:
            return unsent[os.write(self._input, unsent) :] if unsent else unsent
        except BlockingIOError:
            return unsent

    def _read_or_wait(self, unsent: memoryview) -> bytes:
        """Return what came, b"" if there is room to write first."""
        writing = [self._input] if unsent else []
        readable, writable, _ = select.select([self._output], writing, [], _PATIENCE)
        return self._read() if readable or not writable else b""


def _descriptor(pipe: IO[bytes] | None) -> int:
    assert pipe is not None
    return pipe.fileno()
