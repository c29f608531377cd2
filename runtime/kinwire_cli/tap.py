"""`kinwire tap`: stands between a host and its server, and records what they say.

Bytes pass as they come, before anything is made of them. `recording/` has the parts.
"""

from __future__ import annotations

__all__ = ("TapCommand", "ended")

import os
import shlex
import signal
import subprocess
import sys
from argparse import SUPPRESS, ArgumentParser, Namespace
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Thread, Timer
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Self

from kinwire.support.signals import wakeups
from kinwire_cli.failure import PROBLEMS_FOUND, UnreachableError, UsageError
from kinwire_cli.layout import counted

if TYPE_CHECKING:
    import socket

    from kinwire_cli.recording.recorder import Recorder

_USAGE = "kinwire tap [--out FILE.jsonl] -- command ..."
_EPILOG = """\
Put it before the command of a server in the configuration of a host:
  command: kinwire, args: [tap, --out, /tmp/notes.jsonl, --, python, notes.py]

No recording is overwritten: the next one is called notes-2.jsonl. It ends with the exit code of
the command, and with 1 instead of 0 if the recording is not complete.
"""
_DEFAULT = "session.jsonl"
_KILL = 9  # not every platform has a name for it
_GRACE = 1.5  # seconds for a server to end after a signal
_VALIDATED = 4 * 1024 * 1024  # bytes of a recording that are validated at the end: about a second


class TapCommand:
    """`kinwire tap [--out FILE.jsonl] -- command ...`."""

    name: ClassVar[str] = "tap"
    summary: ClassVar[str] = "record what a host and a server say to each other"
    group: ClassVar[str] = "recordings"
    exit_codes: ClassVar[dict[int, str]] = {
        1: "the recording is not complete",
        4: "the command could not be started",
    }
    examples: ClassVar[tuple[str, ...]] = (
        "kinwire tap -- python notes.py",
        "kinwire call add_note text=Tea -- kinwire tap --out notes.jsonl -- python notes.py",
    )

    @staticmethod
    def configure(parser: ArgumentParser) -> None:
        """Add the subcommand's arguments."""
        parser.usage, parser.epilog = _USAGE, _EPILOG
        text = f"the recording (default: {_DEFAULT}); where it exists, a number is added"
        parser.add_argument("--out", default=_DEFAULT, metavar="FILE.jsonl", help=text)
        # Without the two dashes, the error shows where they go.
        parser.add_argument("words", nargs="*", help=SUPPRESS)
        parser.set_defaults(command=None)

    def run(self, arguments: Namespace) -> int:
        """Pass everything on until the command ends; return its exit code."""
        from kinwire_cli.recording.recorder import Recorder, open_new

        command: list[str] | None = arguments.command
        words: list[str] = arguments.words
        if words:
            hint = f"kinwire tap -- {shlex.join([*words, *(command or ())])}"
            raise UsageError("The command stands behind two dashes.", hint)
        if command is None:
            raise UsageError("No command is named.", f"usage: {_USAGE}")
        fd, path = open_new(Path(arguments.out))
        with _Signals() as signals:
            try:
                process = signals.start(command)
            except OSError as error:
                os.close(fd)
                if path.is_file():
                    path.unlink()
                from kinwire_cli.diagnosis.remedies import why_not_started

                text = f"Cannot start {command[0]!r}: {error.strerror}."
                raise UnreachableError(text, why_not_started(command)) from None
            recorder = Recorder(fd, path)
            code = _carry(process, recorder, lambda: signals.too_late)
        recorder.close()
        _tell(path, recorder)
        return code or (0 if recorder.complete else PROBLEMS_FOUND)


def _dying_with_parent() -> Callable[[], object] | None:
    """Return what a child calls so that it ends even if this process is killed (Linux only)."""
    if sys.platform != "linux":
        return None
    import ctypes

    set_option = ctypes.CDLL(None).prctl
    return lambda: set_option(1, _KILL)  # 1: PR_SET_PDEATHSIG


def _carry(
    process: subprocess.Popen[bytes], recorder: Recorder, too_late: Callable[[], bool]
) -> int:
    from kinwire_cli.recording.pump import Pump, private

    assert process.stdin is not None
    assert process.stdout is not None
    inward = Pump(private(0), process.stdin, lambda chunk: recorder.take("client", chunk))
    outward = Pump(process.stdout, private(1), lambda chunk: recorder.take("server", chunk))
    inward.start()
    outward.start()
    code = ended(process)
    outward.drain(too_late)
    _signal(process, _KILL)  # what it started and left behind
    outward.drain(too_late)
    return 128 - code if code < 0 else code


def ended(process: subprocess.Popen[bytes]) -> int:
    """Return the exit code once the command has ended; signals are handled while waiting."""

    def wait(writer: socket.socket) -> None:
        process.wait()
        with suppress(OSError):  # full: then the reader wakes anyway
            writer.send(b"\0")

    with wakeups() as (reader, writer):
        Thread(target=wait, args=[writer], name="kinwire wait", daemon=True).start()
        while process.returncode is None:
            reader.recv(4096)
    return process.returncode


class _Signals:
    """A context in which the command gets the signals that this process gets."""

    def __init__(self) -> None:
        self._before: dict[int, Any] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._early: list[int] = []
        self.too_late = False
        """Whether the command has had its time to end after the first of them."""

    def __enter__(self) -> Self:
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._pass_on)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def start(self, command: list[str]) -> subprocess.Popen[bytes]:
        """Return the started command, which gets what has come already.

        Raises:
            OSError: it cannot be started.
        """
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            start_new_session=sys.platform != "win32",
            preexec_fn=_dying_with_parent(),
        )
        for number in self._early:
            self._pass_on(number, None)
        return self._process

    def _pass_on(self, number: int, _: FrameType | None) -> None:
        if self._process is None:  # the command may run already, and be heard of by the sender
            self._early.append(number)
            return
        _signal(self._process, number)
        timer = Timer(_GRACE, self._force, [self._process])
        timer.daemon = True
        timer.start()

    def _force(self, process: subprocess.Popen[bytes]) -> None:
        self.too_late = True
        _signal(process, _KILL)


def _signal(process: subprocess.Popen[bytes], number: int) -> None:
    """Signal the command and what it started."""
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":  # no groups to signal there
            process.terminate()
        else:
            os.killpg(process.pid, number)


def _tell(path: Path, recorder: Recorder) -> None:
    how = "" if recorder.complete else ", not complete"
    if path.is_file() and path.stat().st_size <= _VALIDATED:
        how = f", {_invalid(path)} invalid{how}"
    print(f"wrote {path} ({counted(recorder.frames, 'frame')}{how})", file=sys.stderr)


def _invalid(path: Path) -> int:
    from kinwire_cli.protocols import protocol_tables
    from kinwire_cli.validation.validator import MessageValidator, report_of

    validator = MessageValidator(protocol_tables().values(), lenient=True)
    with path.open("rb") as lines:
        return sum(bool(report_of(validator, line.rstrip(b"\n")).problems) for line in lines)
