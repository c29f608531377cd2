"""Pseudo-terminals: for the command as a process of its own, and for the command in this one."""

from __future__ import annotations

__all__ = ("CTRL_C", "FAST", "KINWIRE", "Terminal", "on_terminal")

import fcntl
import io
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Thread
from types import MappingProxyType

import pytest

from kinwire_cli import main

KINWIRE = [sys.executable, "-m", "kinwire"]
CTRL_C = "\x03"
OF_THE_CALLER = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES")
FAST = """
import sys
from kinwire_cli import main, running

running.STATUS_AFTER = running._TICK = 0.2
sys.exit(main())
"""


def terminal_of(columns: int) -> tuple[int, int]:
    """Return our end of a new terminal, and the end of the command."""
    own, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    return own, theirs


class Terminal:
    """A command on a pseudo-terminal, which is its stderr and, unless it is piped, its stdout."""

    def __init__(
        self,
        words: list[str],
        folder: Path,
        columns: int = 80,
        *,
        piped: bool = False,
        env: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        own, theirs = terminal_of(columns)
        kept = {name: value for name, value in os.environ.items() if name not in OF_THE_CALLER}
        self._process = subprocess.Popen(
            words,
            stdin=theirs,
            stdout=subprocess.PIPE if piped else theirs,
            stderr=theirs,
            cwd=folder,
            env={**kept, "TERM": "xterm", **env},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(theirs)
        self._own = own
        self.text = ""

    def read(self, until: Callable[[str], object] = lambda _: False, timeout: float = 30) -> str:
        """Return what has been written, once `until` holds of it or the command has ended."""
        end = time.monotonic() + timeout
        while not until(self.text) and time.monotonic() < end:
            if select.select([self._own], [], [], 0.1)[0]:
                try:
                    self.text += os.read(self._own, 65536).decode()
                except OSError:  # everybody has closed it
                    break
        return self.text

    def settle(self) -> str:
        """Return what has been written, once the command waits; elsewhere than on Linux later."""
        used, since = "", time.monotonic()

        def waits(_: str) -> bool:
            nonlocal used, since
            before, used, now = used, self._used(), time.monotonic()
            since = since if used == before else now
            return used != "" and now > since + 0.5

        return self.read(waits, timeout=3)

    def _used(self) -> str:
        """Return the time on a processor, empty if it cannot be had."""
        stat = Path(f"/proc/{self._process.pid}/stat")
        return "-".join(stat.read_text().split()[13:15]) if stat.exists() else ""

    def type(self, text: str) -> None:
        """Press these keys."""
        os.write(self._own, text.encode())

    def end(self) -> tuple[int, str, str]:
        """Return exit code, what the terminal got, and what a pipe at stdout got."""
        self.read()
        try:
            with self._process:
                pipe = self._process.stdout
                out = pipe.read().decode() if pipe else ""
                code = self._process.wait(10)
        finally:
            self._process.kill()
            os.close(self._own)
        return code, self.text.replace("\r\n", "\n"), out


class Typist:
    """Reads what a terminal shows, and types each line once its prompt is there."""

    def __init__(self, own: int, lines: Sequence[tuple[str, str]]) -> None:
        self._own, self._lines = own, list(lines)
        self._shown = b""
        self._thread = Thread(target=self._work, daemon=True)
        self._thread.start()

    def _work(self) -> None:
        seen = 0
        while select.select([self._own], [], [], 30)[0]:
            try:
                self._shown += os.read(self._own, 65536)
            except OSError:  # the command has closed it
                return
            while self._lines and (at := self._shown.find(self._lines[0][0].encode(), seen)) >= 0:
                prompt, line = self._lines.pop(0)
                seen = at + len(prompt)
                os.write(self._own, f"{line}\n".encode())

    def end(self) -> str:
        """Return what was shown, once the command has closed the terminal."""
        self._thread.join(30)
        os.close(self._own)
        return self._shown.decode().replace("\r\n", "\n")


def on_terminal(
    monkeypatch: pytest.MonkeyPatch,
    *words: str,
    columns: int = 80,
    piped: bool = False,
    env: Mapping[str, str] = MappingProxyType({}),
    typed: Sequence[tuple[str, str]] = (),
) -> tuple[int, str, str]:
    """Run the command in this process, on a terminal; return exit code, its text, and the pipe's.

    `typed` has prompts, each with the line that answers it. stdout is a pipe if it is `piped`.
    """
    own, theirs = terminal_of(columns)
    pipe = io.StringIO()
    typist = Typist(own, typed)
    with (
        monkeypatch.context() as patch,
        open(theirs, encoding="utf-8", closefd=False) as reads,
        open(theirs, "w", buffering=1, encoding="utf-8") as writes,
    ):
        for name in OF_THE_CALLER:
            patch.delenv(name, raising=False)
        for name, value in {"TERM": "xterm", **env}.items():
            patch.setenv(name, value)
        for name in ("stdout", "__stdout__"):
            patch.setattr(sys, name, pipe if piped else writes)
        patch.setattr(sys, "stderr", writes)
        patch.setattr(sys, "stdin", reads)
        code = main(words)
    return code, typist.end(), pipe.getvalue()
