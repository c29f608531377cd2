"""The end of a process that no code has to agree to: a thread outside the event loop sees to it.

A handler may block the loop, swallow its cancellation, or leave a thread behind. None of them can
be stopped, but the process can.
"""

from __future__ import annotations

__all__ = ("Grace", "Watchdog", "exit_despite_threads")

import logging
import os
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from types import FrameType, TracebackType
from typing import NamedTuple, Self

from kinwire.support.background import CallSoon, call_soon
from kinwire.support.sanitize import sanitize_for_log

logger = logging.getLogger("kinwire.session")

_LOOK = 0.25  # seconds between two looks at a loop that has answered
_REPORT = 1.0  # seconds for the log, which a full pipe may hold up
_SLACK = 0.5  # seconds
_ALARM = 1.0  # seconds after which the system ends a process whose threads do not run
_THREADS = 0.2  # seconds for all threads together to end by themselves
_LONGEST_WAIT = 3600.0  # seconds; no deadline is that far away
_HANG_UP = getattr(select, "POLLRDHUP", 0)


def _nothing() -> Iterable[str]:
    return ()


class Grace(NamedTuple):
    """What handlers get once their process is asked to end."""

    seconds: float = 1.5
    """How long they may take to finish and to stop."""
    running: Callable[[], Iterable[str]] = _nothing
    """Names what runs, for the log; is called in a thread of its own."""


class Watchdog:
    """Ends this process if its event loop stands still once it should end, or if it stays.

    Use it as a context around the loop: nothing is watched before and after. The loop may stand
    still for the seconds of `grace`, and for `_SLACK` more on a machine that is busy.
    """

    def __init__(self, grace: Grace) -> None:
        self._seconds = grace.seconds + _SLACK
        self._running = grace.running
        self._reader, self._writer = socket.socketpair()
        self._post: CallSoon | None = None
        self._input: int | None = None
        self._exit_code = 0
        self._heeded = False
        self._released = False
        self._until: float | None = None  # when the process has to be gone
        self._answered = 0.0  # when the loop did so
        self._rings = False  # whether the system's alarm is set
        self._thread = threading.Thread(target=self._watch, name="kinwire watchdog", daemon=True)

    def __enter__(self) -> Self:
        self._writer.setblocking(False)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._released = True
        self._rouse()
        self._thread.join(1.0)
        self._set_alarm(None)
        self._writer.close()

    def watch_loop(self, input: int | None = None) -> None:
        """Watch the loop that runs here; call it in a task of that.

        Its end is asked for when the other end of the pipe or socket `input` has been closed, also
        if the loop stands still then.
        """
        self._post = call_soon()
        self._input = input
        self._rouse()

    def heed(self, exit_code: int = 0) -> None:
        """The end was asked for: from now on the loop must not stand still.

        A signal handler may call it.
        """
        if not self._heeded:
            self._exit_code = exit_code
            self._answered = time.monotonic()
            self._heeded = True
            self._set_alarm(self._seconds)
            self._rouse()

    def over(self, seconds: float | None = None) -> None:
        """All is done: the process has to be gone, or the watch at its end, within `seconds`.

        None takes those that the loop may stand still. A signal handler may call it.
        """
        until = time.monotonic() + (self._seconds if seconds is None else seconds)
        if self._until is None or until < self._until:
            self._until = until
            self._rouse()

    # In the thread.

    def _watch(self) -> None:
        with self._reader:
            while not self._released:
                self._wait()
                if self._released:
                    return
                if time.monotonic() >= self._end_at():
                    self._end()
                if self._heeded:
                    self._ping()

    def _end_at(self) -> float:
        """Return when the process has to be gone, as things are."""
        ends = [] if self._until is None else [self._until]
        if self._heeded:
            ends.append(self._answered + self._seconds)
        return min(ends, default=time.monotonic() + _LONGEST_WAIT)

    def _wait(self) -> None:
        """Wait for news, a hang-up, or the time to look again."""
        left = max(0.0, self._end_at() - time.monotonic())
        seconds = min(left, _LOOK) if self._heeded else left
        if not hasattr(select, "poll"):  # Windows, where a pipe cannot be watched
            if select.select([self._reader], [], [], seconds)[0]:
                self._reader.recv(4096)
            return
        poll = select.poll()
        poll.register(self._reader, select.POLLIN)
        if self._input is not None and not self._heeded:
            poll.register(self._input, _HANG_UP)  # and POLLHUP, which is always reported
        for descriptor, _ in poll.poll(seconds * 1000):
            if descriptor == self._reader.fileno():
                self._reader.recv(4096)
            else:
                self.heed()

    def _ping(self) -> None:
        self._set_alarm(self._end_at() - time.monotonic())
        if self._post is not None:
            with suppress(RuntimeError):  # the loop is closed
                self._post(self._answer)

    def _answer(self) -> None:
        self._answered = time.monotonic()

    def _end(self) -> None:
        """End the process."""
        reporter = threading.Thread(target=self._report, daemon=True)
        reporter.start()
        reporter.join(_REPORT)
        os._exit(self._exit_code)

    def _report(self) -> None:
        left = [*self._running(), *_places(threading.get_ident(), self._thread.ident)]
        stuck = sanitize_for_log("; ".join(left))
        logger.error("the process does not end by itself and is ended. What runs: %s", stuck)
        logging.shutdown()

    # Everywhere.

    def _rouse(self) -> None:
        with suppress(OSError):  # full: it is roused already
            self._writer.send(b"x")

    def _set_alarm(self, seconds: float | None) -> None:
        """Have the system end the process where no thread of it runs; None: not any more."""
        if not hasattr(signal, "setitimer"):
            return
        if not self._rings:
            taken = signal.getsignal(signal.SIGALRM) is not signal.SIG_DFL
            if seconds is None or taken or signal.getitimer(signal.ITIMER_REAL)[0]:
                return
        self._rings = seconds is not None
        signal.setitimer(signal.ITIMER_REAL, 0.0 if seconds is None else max(seconds, 0.0) + _ALARM)


def exit_despite_threads(exit_code: int) -> None:
    """Exit the process if a thread keeps it alive, such as one of a tool: it cannot be stopped."""
    others = (thread for thread in threading.enumerate() if thread is not threading.main_thread())
    running = [thread for thread in others if not thread.daemon]
    deadline = time.monotonic() + _THREADS
    for thread in running:
        thread.join(max(0.0, deadline - time.monotonic()))
    if any(thread.is_alive() for thread in running):
        logging.shutdown()  # `os._exit` runs no exit handlers; this one flushes the logs
        sys.stdout.flush()
        os._exit(exit_code)


def _places(*left_out: int | None) -> Iterable[str]:
    """Yield where each thread is, in code that is not of a library."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    frames = sys._current_frames()  # pyright: ignore[reportPrivateUsage]
    for ident, frame in frames.items():
        walked: FrameType | None = frame
        while walked is not None and _is_of_library(walked.f_code.co_filename):
            walked = walked.f_back
        if ident in left_out or walked is None:
            continue
        file = os.path.basename(walked.f_code.co_filename)
        yield f"{walked.f_code.co_qualname} ({file}:{walked.f_lineno}) in {names.get(ident)}"


def _is_of_library(file: str) -> bool:
    return "site-packages" in file or file.startswith((sys.base_prefix, "<"))
