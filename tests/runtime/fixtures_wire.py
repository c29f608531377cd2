"""A program at the other end of pipes, spoken to in bytes, with a limit on every wait."""

from __future__ import annotations

__all__ = ("PROGRAMS", "Wire")

import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

PROGRAMS = Path(__file__).parent / "programs"

_PATIENCE = 30.0  # seconds; a test that waits so long has failed
_ENDING = 10.0  # seconds until a server has ended: five times what is promised


class Wire:
    """A child process and what it has written."""

    def __init__(self, *command: str, **options: Any) -> None:
        self.process = subprocess.Popen(
            command,
            **{
                "stdin": subprocess.PIPE,
                "stdout": subprocess.PIPE,
                "stderr": subprocess.PIPE,
                "bufsize": 0,
                **options,
            },
        )
        self._rest = b""
        self.stderr = b""

    @classmethod
    def server(cls, backend: str, **options: Any) -> Self:
        """Start the server of `programs/server.py`."""
        return cls(sys.executable, "-W", "error", str(PROGRAMS / "server.py"), backend, **options)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()
        self.process.wait(_PATIENCE)

    def send(self, *lines: bytes) -> None:
        """Write lines."""
        self.write(b"".join(line + b"\n" for line in lines))

    def write(self, data: bytes) -> None:
        """Write bytes without reading."""
        assert self.process.stdin is not None
        view = memoryview(data)
        while view:
            view = view[os.write(self.process.stdin.fileno(), view) :]

    def close_input(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def line(self) -> bytes:
        """Return the next line, without its end."""
        assert self.process.stdout is not None
        until = time.monotonic() + _PATIENCE
        while b"\n" not in self._rest:
            ready = select.select([self.process.stdout], [], [], until - time.monotonic())[0]
            assert ready, f"no line within {_PATIENCE} s"
            chunk = os.read(self.process.stdout.fileno(), 65536)
            assert chunk, f"the output ended, with {self._rest!r}; stderr: {self.words()!r}"
            self._rest += chunk
        line, self._rest = self._rest.split(b"\n", 1)
        return line

    def message(self) -> dict[str, Any]:
        """Return the next line as JSON."""
        message = json.loads(self.line())
        assert isinstance(message, dict)
        return message

    def ask(self, id: object, method: str = "ping", **params: Any) -> dict[str, Any]:
        """Send a request and return the next message."""
        request = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
        self.send(json.dumps(request).encode())
        return self.message()

    def call(self, tool: str, **arguments: Any) -> str:
        """Call a tool and return its text."""
        answer = self.ask("call", "tools/call", name=tool, arguments=arguments)
        text = answer["result"]["content"][0]["text"]
        assert isinstance(text, str)
        return text

    def hear(self, word: bytes) -> None:
        """Wait until the program has said a word on stderr."""
        assert self.process.stderr is not None
        until = time.monotonic() + _PATIENCE
        while word not in self.stderr:
            ready = select.select([self.process.stderr], [], [], until - time.monotonic())[0]
            assert ready, f"{word!r} not said within {_PATIENCE} s"
            chunk = os.read(self.process.stderr.fileno(), 65536)
            assert chunk, f"stderr ended, with {self.stderr!r}"
            self.stderr += chunk

    def words(self) -> bytes:
        """Return all that the program has said on stderr, at its end."""
        if self.process.stderr is not None:
            self.stderr += self.process.stderr.read()
        return self.stderr

    def remaining(self) -> bytes:
        """Return what is left of the output, at the program's end."""
        assert self.process.stdout is not None
        rest: bytes = self.process.stdout.read()
        return self._rest + rest

    def exit_code(self) -> int:
        return self.process.wait(_ENDING)
