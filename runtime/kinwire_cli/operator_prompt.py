"""Questions of a kernel of MGP to the person at the terminal: its own, and those of servers."""

from __future__ import annotations

__all__ = ("OperatorPrompt", "kernel_at_terminal", "kernel_refusals")

import logging
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import anyio

from kinwire_cli.failure import KernelRefusalError
from kinwire_cli.layout import one_line
from kinwire_cli.status_line import status_held

if TYPE_CHECKING:
    from kinwire.mgp import (
        CallbackQuestion,
        ConfirmationAnswer,
        ConfirmationRequest,
        MgpKernel,
        PermissionAnswer,
        PermissionQuestion,
    )

_START_PART = 0.9  # of the time of a handshake, for questions while a server connects
_CALL = 300.0  # seconds for a question about a call


def kernel_at_terminal(timeout: float) -> MgpKernel:
    """Return a kernel that asks at the terminal, if stdin and stderr are one.

    `timeout` is the time of the handshake, in seconds. Elsewhere nobody can be asked: what is
    undecided is refused.
    """
    from kinwire.mgp import Callbacks, Confirmations, MgpKernel, Permissions

    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        note = "note: no terminal, so nobody can be asked; a call that needs a person is refused"
        print(note, file=sys.stderr)
        return MgpKernel()
    prompt = OperatorPrompt()
    start = timeout * _START_PART
    return MgpKernel(
        permissions=Permissions(ask=prompt.permission, start_timeout=start, timeout=_CALL),
        confirmations=Confirmations(confirm=prompt.confirm, timeout=_CALL),
        callbacks=Callbacks(answer=prompt.answer, show=prompt.show, timeout=_CALL),
    )


@contextmanager
def kernel_refusals() -> Generator[None]:
    """Raise a KernelRefusalError for an error in the block that the kernel has made itself.

    Its audit events say so: the error looks the same as one of the server.
    """
    from kinwire_protocols.base import RpcError

    heard = _Refusals()
    logger = logging.getLogger("kinwire.mgp.audit")
    before = logger.level
    logger.addHandler(heard)
    logger.setLevel(logging.INFO)
    try:
        yield
    except RpcError as error:
        if heard.any:
            raise KernelRefusalError(f"the kernel refused: {error}") from error
        raise
    finally:
        logger.removeHandler(heard)
        logger.setLevel(before)


class _Refusals(logging.Handler):
    """Notices whether the kernel has refused a call; a server's own events say `reported_by`."""

    any: bool = False

    def emit(self, record: logging.LogRecord) -> None:
        event: dict[str, Any] = record.__dict__.get("event", {})
        details: dict[str, Any] = event.get("details") or {}
        mine = "reported_by" not in details
        self.any = self.any or (mine and event.get("result") == "BLOCKED")


class OperatorPrompt:
    """Asks one question after the other on stderr, and reads answers from stdin.

    Texts of servers are shown on one line, with escapes for what would steer the terminal.
    """

    def __init__(self) -> None:
        self._turn = anyio.Lock()

    async def permission(self, question: PermissionQuestion) -> PermissionAnswer | bool:
        """Ask about a permission; what is neither yes nor no decides later."""
        from kinwire.mgp import PermissionAnswer

        wants = f"{question.server} wants the permission {question.permission}"
        if question.tool is not None:
            wants = f"{wants} for {question.agent}, who calls {question.tool}"
        text = f"{wants} ({question.risk}): {question.allows}"
        answer = await self._ask(text, "Approve it? (y)es, (n)o, (l)ater: ")
        if answer in ("y", "yes", "n", "no"):
            return answer.startswith("y")
        return PermissionAnswer("deferred")

    async def confirm(self, request: ConfirmationRequest) -> ConfirmationAnswer | bool:
        """Ask about a call; only yes lets it through."""
        calls = f"{request.agent} calls {request.tool} of {request.server} ({request.risk})"
        answer = await self._ask(f"{calls}: {request.shown}", "Make this call? (y)es, (n)o: ")
        return answer in ("y", "yes")

    async def answer(self, question: CallbackQuestion) -> str | bool | None:
        """Ask what a server wants to know; an empty line answers nothing."""
        text = f"{question.tool} of {question.server} asks: {question.shown}"
        if question.is_yes_or_no:
            answer = await self._ask(text, "Your answer? (y)es, (n)o: ")
            return answer in ("y", "yes")
        if not question.options:
            return await self._typed(text, "Your answer, or nothing: ") or None
        listed = [f"{number} {one}" for number, one in enumerate(question.options, 1)]
        answer = await self._ask(f"{text} {', '.join(listed)}", "The number, or nothing: ")
        at = int(answer) if answer.isdecimal() else 0
        return question.options[at - 1] if 1 <= at <= len(question.options) else None

    async def show(self, question: CallbackQuestion) -> None:
        """Show a message of a server, when no question is on the screen."""
        async with self._turn:
            print(one_line(f"{question.server}: {question.shown}"), file=sys.stderr)

    async def _ask(self, text: str, prompt: str) -> str:
        """Ask for a word, whose case does not count."""
        return (await self._typed(text, prompt)).lower()

    async def _typed(self, text: str, prompt: str) -> str:
        async with self._turn:
            with status_held():
                print(one_line(text), file=sys.stderr)
                _drop_typed_before()
                print(prompt, end="", file=sys.stderr, flush=True)
                try:
                    return await _line()
                except anyio.get_cancelled_exc_class():
                    print(file=sys.stderr)
                    raise


def _drop_typed_before() -> None:
    """Drop what was typed before the question was shown: it answers something else."""
    with suppress(ImportError, OSError):
        import termios

        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


async def _line() -> str:
    """Return the next line that is typed; empty at the end of input."""
    await anyio.wait_readable(sys.stdin)
    typed = os.read(sys.stdin.fileno(), 1024)
    if not typed:
        print(file=sys.stderr)
    return typed.decode(errors="replace").strip()
