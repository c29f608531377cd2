"""The server that a verb talks to: a file, which `kinwire serve` serves, or a command."""

from __future__ import annotations

__all__ = ("Target", "add_target", "file_and_name", "is_file", "reach", "target_from")

import os
import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kinwire.cli.failure import USAGE, UsageError
from kinwire.cli.layout import printable

if TYPE_CHECKING:
    from kinwire.connection import Connection
    from kinwire.host import Host
    from kinwire.transports import Transport

_TIMEOUT = 60.0  # seconds


class Target(NamedTuple):
    """A server as a command line names it."""

    transport: Transport
    file: str | None = None
    """What `kinwire serve` was given to start it; None if it is a command."""
    timeout: float = _TIMEOUT


def add_target(parser: ArgumentParser) -> None:
    """Add the arguments of a verb that talks to a server."""
    text = f"how long to wait for each answer or progress report (default: {_TIMEOUT:g})"
    parser.add_argument("--timeout", type=_seconds, default=_TIMEOUT, metavar="SECONDS", help=text)
    parser.set_defaults(command=None)


def is_file(word: str) -> bool:
    """Return whether `word` names a Python file, or an object in one as FILE.py:NAME."""
    return file_and_name(word)[0].endswith(".py")


def file_and_name(word: str) -> tuple[str, str]:
    """Return FILE.py and NAME of FILE.py:NAME; no name is an empty one."""
    file, colon, name = word.rpartition(".py:")
    return (f"{file}.py", name) if colon else (word, "")


def target_from(file: str | None, command: list[str] | None, timeout: float = _TIMEOUT) -> Target:
    """Return the server that the command line names.

    Raises:
        UsageError: it names none, or two, or a file that is not there.
    """
    from kinwire.transports.child import stdio

    if file is not None and command is not None:
        raise UsageError("Two servers are named.", "Leave out the file or the command after --.")
    if command is None:
        if file is None:
            raise UsageError("No server is named.", "Name a FILE.py, or end with: -- command ...")
        path = file_and_name(file)[0]
        if not Path(path).is_file():
            raise UsageError(f"There is no Python file {path!r}.")
        # -P: modules of the working folder are none of the server's, as with `python FILE.py`.
        command = [sys.executable, "-P", "-m", "kinwire", "serve", file]
    # Typed into a shell, so it runs with what the shell gives its programs.
    return Target(stdio(*command, env=os.environ, on_stderr=_pass_on), file, timeout)


@asynccontextmanager
async def reach(target: Target) -> AsyncGenerator[Connection]:
    """Yield a connection to `target`.

    Raises:
        UsageError: the file holds nothing that can be served.
        KinwireError, RpcError: as for `Host.connect`.
    """
    from kinwire.host import Host
    from kinwire.limits import Limits

    limits = Limits(request_timeout=target.timeout)
    async with Host("kinwire-cli", "0.1.0", limits=limits) as host:
        yield await _connected(host, target)


async def _connected(host: Host, target: Target) -> Connection:
    from kinwire.cli.patience import patience_with
    from kinwire.errors import ConnectionClosedError

    try:
        async with patience_with("initialize"):
            return await host.connect(target.transport)
    except ConnectionClosedError as error:
        if target.file is None or error.exit_code != USAGE:
            raise
    # `kinwire serve` has said on stderr, which is this command's, what is wrong.
    raise UsageError(f"{target.file} cannot be served, for the reason above.")


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.0 < seconds < inf:
        raise ArgumentTypeError(f"expected seconds, more than 0, got {text!r}")
    return seconds


def _pass_on(line: str) -> None:
    print(printable(line), file=sys.stderr)
