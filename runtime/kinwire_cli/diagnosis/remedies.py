"""Why a server does not start or does not answer, by what it wrote: the commonest causes first."""

from __future__ import annotations

__all__ = ("COPY_ID", "why_ended", "why_not_started", "why_silent")

import os
import re
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from kinwire_cli.listening import Listening
from kinwire_protocols.nearest import nearest

_MODULE = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
_HTTP = re.compile(r"https?://(localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\])", re.IGNORECASE)

COPY_ID = 'Copy the id of the request as it is, of the same type: 1 is not "1".'
"""What to do about a server that answers with ids of its own."""


def why_not_started(command: Sequence[str]) -> str:
    """Return what to do about a program that cannot be started."""
    program = command[0]
    if len(program.split()) > 1:
        return f"Write the program and its arguments as words of their own: -- {program}"
    if os.sep in program:
        return "Check that the file exists and is executable (chmod +x)."
    near = nearest(program, _programs(program[:1]))
    hint = f" Did you mean {near!r}?" if near else ""
    return f"Install {program!r}, or name it with its whole path.{hint}"


def why_ended(program: str, exit_code: int | None, stderr: Iterable[str]) -> str:
    """Return what to do about a server that ended, or closed its stdout, before it answered."""
    lines = list(stderr)
    missing = [found[1] for line in lines if (found := _MODULE.search(line))]
    if missing:
        python = shutil.which(program) or program
        return f"Install {missing[-1]!r} where {python} finds it, or name another interpreter."
    if any(line.strip() for line in lines):
        return "Fix what it reports on stderr; the last lines are below."
    if exit_code is not None and exit_code < 0:
        return "Its stderr is empty. It crashed or was killed: was there enough memory?"
    if exit_code is None:
        return "Its stderr is empty. A server keeps stdin and stdout open until its stdin ends."
    return "Its stderr is empty. A server runs until its stdin ends: does the file call its run()?"


def why_silent(heard: Listening, stderr: Iterable[str]) -> str:
    """Return what to do about a server that runs and does not answer."""
    if heard.foreign_ids:
        return COPY_ID
    if any(_HTTP.search(line) for line in (*stderr, *heard.strays)):
        return "It seems to serve over HTTP. Start it so that it speaks over stdin and stdout."
    if heard.strays:
        return "Its output on stdout is not JSON-RPC. Is it an MCP server? See stdout below."
    return (
        "Does it speak MCP over stdin and stdout, and flush after every message? "
        "A slow starter needs --timeout SECONDS."
    )


def _programs(first: str) -> set[str]:
    """Return the programs on the PATH that begin with that letter."""
    found: set[str] = set()
    for folder in os.get_exec_path():
        try:
            found.update(path.name for path in Path(folder).iterdir() if path.name[:1] == first)
        except OSError:  # a folder that is not there
            continue
    return found
