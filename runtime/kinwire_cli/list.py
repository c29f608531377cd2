"""`kinwire list`: the methods of the protocols, or the tools of a server."""

from __future__ import annotations

__all__ = ("ListCommand",)

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from kinwire_cli.completion import complete_listed, completed_by
from kinwire_cli.help import SERVER_CODES
from kinwire_cli.layout import columns, fitted, json_text, printable
from kinwire_cli.lite.calls import list_lite
from kinwire_cli.lite.target import add_protocol, is_lite
from kinwire_cli.protocols import add_package, chosen_tables
from kinwire_cli.target import Target, add_target, is_server, reach, target_from

if TYPE_CHECKING:
    from kinwire_protocols import mcp
    from kinwire_protocols.peer import Method, ProtocolTable
    from kinwire_protocols.tool_methods import ToolMethod

_USAGE = """\
kinwire list [PROTOCOL | FILE.py[:SERVER] | URL] [--format text|json] [--package NAME]
                    [--timeout SECONDS] [--frame-size BYTES] [--header HEADER] [--proxy URL]
                    [--insecure] [--protocol mcp|mcp-lite] [-- command ...]"""


class ListCommand:
    """`kinwire list [PROTOCOL | FILE.py | URL] [-- command ...]`."""

    name: ClassVar[str] = "list"
    summary: ClassVar[str] = "list the methods of the protocols, or the tools of a server"
    group: ClassVar[str] = "use a server"
    exit_codes: ClassVar[dict[int, str]] = SERVER_CODES
    examples: ClassVar[tuple[str, ...]] = (
        "kinwire list mcp",
        "kinwire list notes.py",
        "kinwire list --format json -- python notes.py",
    )

    @staticmethod
    def configure(parser: ArgumentParser) -> None:
        """Add the subcommand's arguments."""
        parser.usage = _USAGE
        text = "one protocol, or a server's file or address"
        what = parser.add_argument("what", nargs="?", metavar="PROTOCOL | FILE.py | URL", help=text)
        completed_by(what, complete_listed)
        parser.add_argument("--format", choices=("text", "json"), default="text")
        add_package(parser)
        add_target(parser)
        add_protocol(parser)

    def run(self, arguments: Namespace) -> int:
        """Print the list."""
        as_json: bool = arguments.format == "json"
        what: str | None = arguments.what
        if what is not None and is_lite(what, arguments):
            list_lite(what, arguments)
        elif arguments.command is not None or (what is not None and is_server(what)):
            _print_tools(target_from(what, arguments), as_json=as_json)
        else:
            _print_methods(what, arguments.package, as_json=as_json)
        return 0


def _print_methods(protocol: str | None, package: str | None, *, as_json: bool) -> None:
    tables = chosen_tables(None if protocol is None else [protocol], package)
    rows = [row for table in tables for row in _rows(table)]
    if as_json:
        print(json_text(rows))
        return
    shown = ("protocol", "method", "kind", "from", "params", "result", "gate")
    print(columns([shown, *(tuple(row[name] or "-" for name in shown) for row in rows)]))


def _rows(table: ProtocolTable) -> Iterator[dict[str, Any]]:
    """Yield the rows of the methods of a protocol and of the tools that it defines."""
    for method in table.methods.values():
        yield _row(method, method.kind, method.sender, method.gate)
    for tool in table.tools.values():
        yield _row(tool, "tool", tool.caller.sender, tool.caller.gate)


def _row(
    row: Method[Any, Any] | ToolMethod[Any, Any], kind: str, sender: str, gate: str | None
) -> dict[str, Any]:
    return {
        "protocol": row.protocol,
        "method": row.name,
        "kind": kind,
        "from": sender,
        "params": row.params.__name__,
        "result": None if row.result is None else row.result.__name__,
        "errors": [error.name for error in row.errors],
        "gate": gate,
        "section": row.section,
        "aliases": list(row.aliases),
        "status": row.status,
    }


def _print_tools(target: Target, *, as_json: bool) -> None:
    from kinwire_cli.running import run
    from kinwire_cli.shapes import tool_lines
    from kinwire_protocols.base import to_wire

    tools = run(_tools, target)
    if as_json:
        print(json_text([to_wire(tool) for tool in tools]))
    elif tools:
        print("\n".join(fitted(line, "        ") for line in tool_lines(tools)))


async def _tools(target: Target) -> list[mcp.Tool]:
    from kinwire_cli.listening import other_ids_reported
    from kinwire_cli.running import patience_with
    from kinwire_protocols.base import to_wire

    async with other_ids_reported(target) as heard, reach(heard) as server:
        if server.capabilities.tools is None:
            others = ", ".join(to_wire(server.capabilities)) or "nothing else"
            print(printable(f"note: the server offers no tools; it has: {others}"), file=sys.stderr)
            return []
        async with patience_with("tools/list"):
            return [tool async for tool in server.tools()]
