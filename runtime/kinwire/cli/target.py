"""The server that a verb talks to: a file that this Python runs, or a command."""

from __future__ import annotations

__all__ = ("all_tools", "is_file", "reach", "target_from")

import os
import sys
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

from kinwire.cli.failure import UsageError
from kinwire.cli.layout import printable

if TYPE_CHECKING:
    from kinwire.host import Connection
    from kinwire.transports import Transport
    from kinwire_protocols import mcp


def is_file(word: str) -> bool:
    """Return whether `word` names a Python file, or an object in one as FILE.py:NAME."""
    return word.partition(":")[0].endswith(".py")


def target_from(file: str | None, command: list[str] | None) -> Transport:
    """Return the server that the command line names.

    Raises:
        UsageError: it names none, or two.
    """
    from kinwire.transports.child import stdio

    if file is not None and command is not None:
        raise UsageError("Two servers are named.", "Leave out the file or the command after --.")
    if command is None:
        if file is None:
            raise UsageError("No server is named.", "Name a FILE.py, or end with: -- command ...")
        served = ["-m", "kinwire", "serve", file] if ":" in file else [file]
        command = [sys.executable, *served]
    # Typed into a shell, so it runs with what the shell gives its programs.
    return stdio(*command, env=os.environ, on_stderr=_pass_on)


def reach(target: Transport) -> AbstractAsyncContextManager[Connection]:
    """Return a connection to `target`, made on entering."""
    from kinwire.host import connect

    return connect(target, name="kinwire-cli")


async def all_tools(server: Connection) -> list[mcp.Tool]:
    """Return the tools of all pages; a cursor that comes again ends the list."""
    page = await server.mcp.tools_list()
    tools, cursors = list(page.tools), set[str]()
    while page.next_cursor is not None and page.next_cursor not in cursors:
        cursors.add(page.next_cursor)
        page = await server.mcp.tools_list(cursor=page.next_cursor)
        tools += page.tools
    return tools


def _pass_on(line: str) -> None:
    print(printable(line), file=sys.stderr)
