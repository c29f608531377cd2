"""`kinwire list`: the methods of the protocols, or the tools of a server."""

from __future__ import annotations

__all__ = ("List",)

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any, ClassVar

from kinwire.cli.failure import UsageError
from kinwire.cli.layout import columns, json_text, printable
from kinwire.cli.target import Target, add_target, is_file, reach, target_from

if TYPE_CHECKING:
    from kinwire_protocols import mcp
    from kinwire_protocols.peer import Method

_USAGE = """\
kinwire list [PROTOCOL | FILE.py[:SERVER]] [--format text|json]
                    [--timeout SECONDS] [-- command ...]"""


class List:
    """`kinwire list [PROTOCOL | FILE.py] [-- command ...]`."""

    name: ClassVar[str] = "list"
    summary: ClassVar[str] = "list the methods of the protocols, or the tools of a server"

    @staticmethod
    def configure(parser: ArgumentParser) -> None:
        """Add the verb's arguments."""
        parser.usage = _USAGE
        parser.add_argument(
            "what", nargs="?", metavar="PROTOCOL | FILE.py", help="one protocol, or a server's file"
        )
        parser.add_argument("--format", choices=("text", "json"), default="text")
        add_target(parser)

    def run(self, arguments: Namespace) -> int:
        """Print the list."""
        as_json: bool = arguments.format == "json"
        what: str | None = arguments.what
        if arguments.command is not None or (what is not None and is_file(what)):
            _print_tools(target_from(what, arguments.command, arguments.timeout), as_json=as_json)
        else:
            _print_methods(what, as_json=as_json)
        return 0


def _print_methods(protocol: str | None, *, as_json: bool) -> None:
    from kinwire.cli.protocols import protocol_tables

    tables = protocol_tables()
    if protocol is not None and protocol not in tables:
        from difflib import get_close_matches

        near = get_close_matches(protocol, tables, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else f"There are: {', '.join(tables)}."
        raise UsageError(f"There is no protocol {protocol!r}.", hint)
    chosen = tables.values() if protocol is None else [tables[protocol]]
    rows = [_row(method) for table in chosen for method in table.methods.values()]
    if as_json:
        print(json_text(rows))
        return
    shown = ("protocol", "method", "kind", "from", "params", "result", "gate")
    print(columns([shown, *(tuple(row[name] or "-" for name in shown) for row in rows)]))


def _row(method: Method[Any, Any]) -> dict[str, Any]:
    return {
        "protocol": method.protocol,
        "method": method.name,
        "kind": method.kind,
        "from": method.sender,
        "params": method.params.__name__,
        "result": None if method.result is None else method.result.__name__,
        "errors": [error.name for error in method.errors],
        "gate": method.gate,
        "section": method.section,
    }


def _print_tools(target: Target, *, as_json: bool) -> None:
    import anyio

    from kinwire.cli.tool_lines import tool_lines
    from kinwire_protocols.base import to_wire

    tools = anyio.run(_tools, target)
    if as_json:
        print(json_text([to_wire(tool) for tool in tools]))
    elif tools:
        print("\n".join(tool_lines(tools)))


async def _tools(target: Target) -> list[mcp.Tool]:
    from kinwire.cli.patience import patience_with
    from kinwire_protocols.base import to_wire

    async with reach(target) as server:
        if server.capabilities.tools is None:
            others = ", ".join(to_wire(server.capabilities)) or "nothing else"
            print(printable(f"note: the server offers no tools; it has: {others}"), file=sys.stderr)
            return []
        async with patience_with("tools/list"):
            return [tool async for tool in server.tools()]
