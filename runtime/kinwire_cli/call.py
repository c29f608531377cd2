"""`kinwire call`: one request to a server. `request.py` does the asking."""

from __future__ import annotations

__all__ = ("CallCommand",)

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar

from kinwire_cli.completion import complete_call, completed_by
from kinwire_cli.failure import PEER_ERROR, UsageError
from kinwire_cli.help import SERVER_CODES
from kinwire_cli.layout import json_text, printable
from kinwire_cli.lite.answers import add_answer
from kinwire_cli.lite.target import LITE_URL, add_protocol, is_lite
from kinwire_cli.protocols import add_package, package_tables
from kinwire_cli.target import add_target, is_server, is_url, reach, target_from

if TYPE_CHECKING:
    from kinwire.mcp.extension import Extension
    from kinwire_protocols.base import JsonObject

_USAGE = """\
kinwire call [--timeout SECONDS] [--raw] [--text] [--mgp] [--json FILE] [--package NAME]
                    [--frame-size BYTES] [--header HEADER] [--proxy URL] [--insecure]
                    [--protocol mcp|mcp-lite] [--answer ID=VALUE] ...
                    [FILE.py[:SERVER] | URL] METHOD
                    [NAME=VALUE | NAME:=JSON] ... [-- command ...]"""
_EPILOG = """\
A METHOD without a slash may be a tool: the words after it are its arguments then.
NAME=VALUE takes its type from the schema, NAME:=JSON is raw, A.B=VALUE nests.
FILE.py:SERVER chooses one of several servers in a file. What follows -- is the command that
starts the server, whichever program that is.
"""


class CallCommand:
    """`kinwire call [FILE.py | URL] METHOD k=v ... [-- command ...]`."""

    name: ClassVar[str] = "call"
    summary: ClassVar[str] = "send one request to a server and print the result"
    group: ClassVar[str] = "use a server"
    exit_codes: ClassVar[dict[int, str]] = SERVER_CODES
    examples: ClassVar[tuple[str, ...]] = (
        "kinwire call notes.py add_note text='Buy bread'",
        "kinwire call --text notes.py add_note text=Tea",
        "kinwire call http://127.0.0.1:8000/mcp tools/list",
        "kinwire call http://127.0.0.1:8000/mcp-lite/v1/ add a=1 b=2",
        "kinwire call add a=1 b=2 -- kinwire serve demo mcp",
        "kinwire call tools/call name=add arguments.a=1 arguments.b=2 -- kinwire serve demo mcp",
        'echo \'{"a": 1, "b": 2}\' | kinwire call --json - add -- kinwire serve demo mcp',
    )

    @staticmethod
    def configure(parser: ArgumentParser) -> None:
        """Add the subcommand's arguments."""
        parser.usage, parser.epilog = _USAGE, _EPILOG
        text = "a method, or a tool of the server; then its parameters"
        words = parser.add_argument("words", nargs="+", metavar="METHOD", help=text)
        completed_by(words, complete_call)
        text = "send METHOD whatever the server offers, and print the result as it came"
        parser.add_argument("--raw", action="store_true", help=text)
        text = "print only the text in the result of a tool, or of a resource that is read"
        parser.add_argument("--text", action="store_true", help=text)
        text = "a JSON object of parameters, to which the words are added; - for stdin"
        parser.add_argument("--json", metavar="FILE", help=text)
        text = "judge the call as a kernel of MGP does, and ask at the terminal what it has to ask"
        parser.add_argument("--mgp", action="store_true", help=text)
        add_package(parser)
        add_target(parser)
        add_protocol(parser)
        add_answer(parser)
        parser.set_defaults(strays=[])

    def run(self, arguments: Namespace) -> int:
        """Print the result as JSON or its text; a tool's own failure is a result, ends with 5."""
        from kinwire_cli.listening import other_ids_reported
        from kinwire_cli.request import TypedRequest

        _refuse(arguments.strays)
        package_tables(arguments.package)  # one that is not there is refused before a start
        raw: bool = arguments.raw
        given = _given(arguments.json)
        words: list[str] = arguments.words
        named, words = (words[0], words[1:]) if is_server(words[0]) else (None, words)
        if named is not None and is_lite(named, arguments):
            return _call_lite(named, words, given, arguments)
        if arguments.answer:
            raise UsageError("--answer is for servers of MCP-lite.", LITE_URL)
        target = target_from(named, arguments)
        before = () if named is None else (_shown_name(named),)
        after = ("--", *arguments.command) if named is None else ()
        _must_name_method(named, words)

        async def ask() -> object:
            async with (
                other_ids_reported(target) as heard,
                reach(heard, _extensions(arguments)) as server,
            ):
                request = TypedRequest(
                    server, words[0], words[1:], given, before, after, arguments.package
                )
                return await (request.raw_answer() if raw else request.answer())

        result = _result_of(ask, mgp=arguments.mgp)
        if result is not None:
            print(_shown_text(result) if arguments.text else json_text(result))
        match result:
            case {"isError": True}:
                return PEER_ERROR
            case _:
                return 0


def _must_name_method(named: str | None, words: Sequence[str]) -> None:
    if not words:
        shown = None if named is None else _shown_name(named)
        hint = f"kinwire list {shown} shows the tools, kinwire list mcp the methods."
        raise UsageError("No method is named.", hint)


def _call_lite(url: str, words: Sequence[str], given: JsonObject, arguments: Namespace) -> int:
    from kinwire_cli.lite.calls import call_lite

    if arguments.mgp:
        raise UsageError("--mgp is for servers of MCP.", "Leave it out.")
    _must_name_method(url, words)
    return call_lite(url, words, given, arguments)


def _result_of(ask: Callable[[], Awaitable[object]], *, mgp: bool) -> Any:
    from kinwire_cli.running import run

    if not mgp:
        return run(ask)
    from kinwire_cli.operator_prompt import kernel_refusals

    with kernel_refusals():
        return run(ask)


def _extensions(arguments: Namespace) -> Sequence[Extension]:
    if not arguments.mgp:
        return ()
    from kinwire_cli.operator_prompt import kernel_at_terminal

    return (kernel_at_terminal(arguments.timeout),)


def _shown_text(result: object) -> str:
    """Return the text in a result, as it is unless it goes to a terminal; else its JSON."""
    from pydantic import ValidationError

    from kinwire.mcp.result_text import result_text
    from kinwire_protocols import mcp
    from kinwire_protocols.base import from_wire

    kinds: list[type[mcp.CallToolResult | mcp.ReadResourceResult]]
    kinds = [mcp.CallToolResult, mcp.ReadResourceResult]
    for kind in kinds:
        with suppress(ValidationError):
            text = result_text(from_wire(kind, result))
            return "\t".join(map(printable, text.split("\t"))) if sys.stdout.isatty() else text
    print("note: --text is for results of tools and resources: this is JSON", file=sys.stderr)
    return json_text(result)


def _given(file: str | None) -> JsonObject:
    """Return the members in the file of --json."""
    from kinwire_cli.members import members_from_file

    return {} if file is None else members_from_file(file)


def _shown_name(server: str) -> str:
    # A URL with a user or a query may hold a secret.
    return "URL" if is_url(server) and set("@?") & set(server) else server


def _refuse(strays: Sequence[str]) -> None:
    """Refuse what looks like an option: it is a member, as a rule."""
    if strays:
        name, equals, value = strays[0].partition("=")
        if not equals:
            value = next((word for word in strays[1:2] if _is_value(word)), "...")
        member = f"{name.lstrip('-').replace('-', '_')}={value}"
        hint = f"A parameter is written {member}. kinwire call --help lists the options."
        raise UsageError(f"There is no option {name}.", hint)


def _is_value(word: str) -> bool:
    return not word.startswith("-") and "=" not in word
