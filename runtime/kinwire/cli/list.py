"""`kinwire list`: the methods of the protocols, or the tools of a server."""

from __future__ import annotations

__all__ = ("List",)

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any, ClassVar

from kinwire.cli.failure import UsageError
from kinwire.cli.layout import columns, json_text, printable

if TYPE_CHECKING:
    from kinwire.transports import Transport
    from kinwire_protocols import mcp
    from kinwire_protocols.peer import Method


class List:
    """`kinwire list [PROTOCOL | FILE.py] [-- command ...]`."""

    name: ClassVar[str] = "list"
    summary: ClassVar[str] = "list the methods of the protocols, or the tools of a server"

    @staticmethod
    def configure(parser: ArgumentParser) -> None:
        """Add the verb's arguments."""
        parser.usage = "kinwire list [PROTOCOL | FILE.py] [--format text|json] [-- command ...]"
        parser.add_argument(
            "what", nargs="?", metavar="PROTOCOL | FILE.py", help="one protocol, or a server's file"
        )
        parser.add_argument("--format", choices=("text", "json"), default="text")
        parser.set_defaults(command=None)

    def run(self, arguments: Namespace) -> int:
        """Print the list."""
        from kinwire.cli.target import is_file, target_from

        as_json: bool = arguments.format == "json"
        what: str | None = arguments.what
        if arguments.command is not None or (what is not None and is_file(what)):
            _print_tools(target_from(what, arguments.command), as_json=as_json)
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


def _print_tools(target: Transport, *, as_json: bool) -> None:
    import anyio

    from kinwire_protocols.base import to_wire

    tools = anyio.run(_tools, target)
    if as_json:
        print(json_text([to_wire(tool) for tool in tools]))
    elif tools:
        print(columns((_signature(tool), _first_line(tool.description)) for tool in tools))


async def _tools(target: Transport) -> list[mcp.Tool]:
    from kinwire.cli.target import all_tools, reach

    async with reach(target) as server:
        return await all_tools(server)


def _signature(tool: mcp.Tool) -> str:
    required = tool.input_schema.required or ()
    shown = [
        f"{name}: {_type(schema)}" + ("" if name in required else " = " + _default(schema))
        for name, schema in (tool.input_schema.properties or {}).items()
    ]
    return printable(f"{tool.name}({', '.join(shown)})")


def _type(schema: dict[str, Any]) -> str:
    match schema:
        case {"type": "array", "items": {"type": str(item)}}:
            return f"{item}[]"
        case {"enum": [*choices]}:
            return " | ".join(json_text(choice) for choice in choices)
        case {"type": str(kind)}:
            return kind
        case {"type": [*kinds]}:
            return " | ".join(map(str, kinds))
        case {"anyOf": [*choices]} | {"oneOf": [*choices]}:
            return " | ".join(_type(choice) for choice in choices)
        case {"$ref": str(reference)}:
            return reference.rpartition("/")[2]
        case _:
            return "any"


def _default(schema: dict[str, Any]) -> str:
    return json_text(schema["default"]) if "default" in schema else "..."


def _first_line(text: str | None) -> str:
    return printable((text or "").partition("\n")[0])
