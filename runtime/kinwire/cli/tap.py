"""`kinwire tap`: stands between a host and its server, and records what they say.

Bytes pass as they come, before anything is made of them. `recorder.py` writes the recording,
`pump.py` carries the bytes.
"""

from __future__ import annotations

__all__ = ("Tap",)

import os
import signal
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Timer
from types import FrameType
from typing import TYPE_CHECKING, ClassVar

from kinwire.cli.failure import FINDINGS, UNREACHABLE, UsageError

if TYPE_CHECKING:
    from kinwire.cli.recorder import Recorder

_USAGE = "kinwire tap [--out FILE.jsonl] -- command ..."
_EPILOG = """\
Put it before the command of a server in the configuration of a host:
  command: kinwire, args: [tap, --out, /tmp/notes.jsonl, --, python, notes.py]

No recording is overwritten: the next one is called notes-2.jsonl. It ends with the exit code of
the command, and with 1 instead of 0 if the recording is not complete.
"""
_DEFAULT = "session.jsonl"
_KILL = 9  # not every platform has a name for it
_GRACE = 1.5  # seconds for a server that was told to end
_JUDGED = 4 * 1024 * 1024  # bytes of a recording that are judged at the end: about a second


class Tap:
    """`kinwire tap [--out FILE.jsonl] -- command ...`."""

    name: ClassVar[str] = "tap"
    summary: ClassVar[str] = "record what a host and a server say to each other"

    @staticmethod
    def configure(parser: ArgumentParser) -> None:
        """Add the verb's arguments."""
        parser.usage, parser.epilog = _USAGE, _EPILOG
        text = f"the recording (default: {_DEFAULT}); where it exists, a number is added"
        parser.add_argument("--out", default=_DEFAULT, metavar="FILE.jsonl", help=text)
        parser.set_defaults(command=None)

    def run(self, arguments: Namespace) -> int:
        """Pass everything on until the command ends; return its exit code."""
        from kinwire.cli.recorder import Recorder, opened_anew

        command: list[str] | None = arguments.command
        if command is None:
            raise UsageError("No command is named.", f"usage: {_USAGE}")
        fd, path = opened_anew(Path(arguments.out))
        try:
            process = _started(command)
        except OSError as error:
            os.close(fd)
            if path.is_file():
                path.unlink()
            print(f"error: Cannot start {command[0]!r}: {error.strerror}.", file=sys.stderr)
            return UNREACHABLE
        recorder = Recorder(fd, path)
        code = _carry(process, recorder)
        recorder.close()
        _tell(path, recorder)
        return code or (0 if recorder.complete else FINDINGS)


def _started(command: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
        start_new_session=sys.platform != "win32",
        preexec_fn=_dying_with_parent(),
    )


def _dying_with_parent() -> Callable[[], object] | None:
    """Return what a child calls so that it ends even if this process is killed (Linux only)."""
    if sys.platform != "linux":
        return None
    import ctypes

    set_option = ctypes.CDLL(None).prctl
    return lambda: set_option(1, _KILL)  # 1: PR_SET_PDEATHSIG


def _carry(process: subprocess.Popen[bytes], recorder: Recorder) -> int:
    from kinwire.cli.pump import Pump, private

    assert process.stdin is not None
    assert process.stdout is not None
    inward = Pump(private(0), process.stdin, lambda chunk: recorder.take("client", chunk))
    outward = Pump(process.stdout, private(1), lambda chunk: recorder.take("server", chunk))
    with _passed_on(process) as ending:
        inward.start()
        outward.start()
        code = process.wait()
        outward.drain(ending)
        _signal(process, _KILL)  # what it started and left behind
        outward.drain(ending)
    return 128 - code if code < 0 else code


@contextmanager
def _passed_on(process: subprocess.Popen[bytes]) -> Generator[Callable[[], bool]]:
    """Have the command get the signals that this process gets; yield whether its time is over."""
    over = False

    def force() -> None:
        nonlocal over
        over = True
        _signal(process, _KILL)

    def pass_on(number: int, _: FrameType | None) -> None:
        _signal(process, number)
        timer = Timer(_GRACE, force)
        timer.daemon = True
        timer.start()

    names = ("SIGINT", "SIGTERM", "SIGHUP")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    for number in numbers:
        if before[number] is not signal.SIG_IGN:
            signal.signal(number, pass_on)
    try:
        yield lambda: over
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _signal(process: subprocess.Popen[bytes], number: int) -> None:
    """Signal the command and what it started."""
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":  # no groups to signal there
            process.terminate()
        else:
            os.killpg(process.pid, number)


def _tell(path: Path, recorder: Recorder) -> None:
    frames = f"{recorder.frames} frame{'' if recorder.frames == 1 else 's'}"
    how = "" if recorder.complete else ", not complete"
    if path.is_file() and path.stat().st_size <= _JUDGED:
        how = f", {_invalid(path)} invalid{how}"
    print(f"wrote {path} ({frames}{how})", file=sys.stderr)


def _invalid(path: Path) -> int:
    from kinwire.cli.protocols import protocol_tables
    from kinwire.cli.verdicts import report_of
    from kinwire.judge import Judge

    judge = Judge(protocol_tables().values())
    with path.open("rb") as lines:
        return sum(bool(report_of(judge, line.rstrip(b"\n")).problems) for line in lines)
