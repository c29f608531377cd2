"""`kinwire call` and `kinwire list` for servers of MCP-lite."""

from __future__ import annotations

__all__ = ("call_lite", "list_lite", "lite_tool")

import sys
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from kinwire_cli.failure import PEER_ERROR, UsageError, did_you_mean
from kinwire_cli.layout import fitted, json_text, one_line, printable
from kinwire_cli.lite.answers import GivenAnswers
from kinwire_cli.lite.target import lite_client, reaching

if TYPE_CHECKING:
    from kinwire.mcplite import LiteClient, LiteElicitation, LiteOutcome, LitePromise
    from kinwire_protocols import mcp
    from kinwire_protocols.base import JsonObject
    from kinwire_protocols.mcplite.models import Tool

_NAMED = 20  # tools that a hint names
_LIST, _RESOURCES = "tools/list", "request-for-more-resource"


def list_lite(url: str, arguments: Namespace) -> None:
    """Print the tools of a server.

    Raises:
        UsageError: an option is wrong.
        RpcError, KinwireError: see `LiteClient.list_tools`.
    """
    from kinwire_cli.running import run
    from kinwire_cli.shapes import tool_lines
    from kinwire_protocols.base import to_wire

    client = lite_client(url, arguments)

    async def ask() -> list[Tool]:
        async with client:
            return await _tools(client)

    with reaching():
        tools = run(ask)
    if arguments.format == "json":
        print(json_text([to_wire(tool) for tool in tools]))
    elif tools:
        print("\n".join(fitted(line, "        ") for line in tool_lines(map(lite_tool, tools))))


def call_lite(url: str, words: Sequence[str], given: JsonObject, arguments: Namespace) -> int:
    """Call a tool, print what came of it, and return the exit code: 5 for a failure.

    A promise is awaited, unless --raw wants the result as it came. Questions are answered by what
    --answer says.

    Raises:
        UsageError: the words do not make a call, or an option is wrong.
        RpcError, KinwireError: see `LiteClient.call`.
    """
    from kinwire_cli.running import run

    name, *members = words
    if "/" in name and name != _LIST:
        hint = f"kinwire list {url} shows the tools." if "?" not in url else ""
        raise UsageError(f"A server of MCP-lite has tools, no method {name!r}.", hint)
    answers = GivenAnswers(arguments.answer, raw=arguments.raw)
    client = lite_client(url, arguments)

    async def ask() -> tuple[object, str, str]:
        async with client:
            if name == _LIST:
                return await _listed(client), "answer", ""
            outcome = await _outcome(client, name, members, given, arguments)
            return _result(await _followed(outcome, answers, raw=arguments.raw), answers)

    with reaching():
        result, kind, note = run(ask)
    _print_result(result, arguments)
    if note:
        print(one_line(f"note: {note}"), file=sys.stderr)
    return PEER_ERROR if kind == "failure" else 0


async def _listed(client: LiteClient) -> object:
    from kinwire_protocols.base import to_wire

    return {"tools": [to_wire(tool) for tool in await _tools(client)]}


def _result(outcome: LiteOutcome, answers: GivenAnswers) -> tuple[object, str, str]:
    """Return what came, of which kind it is, and what to say about it."""
    kind = str(outcome.meta.response_type)
    note = "the server asks for more resources" if kind == _RESOURCES else answers.note(outcome)
    return outcome.result, kind, note


async def _followed(outcome: LiteOutcome, answers: GivenAnswers, *, raw: bool) -> LiteOutcome:
    """Await promises, and answer questions as long as there are answers to them."""
    from kinwire.mcplite import LiteElicitation, LitePromise
    from kinwire_cli.running import patience_with

    while not raw:
        if isinstance(outcome, LitePromise):
            outcome = await _kept(outcome)
        elif isinstance(outcome, LiteElicitation) and (given := answers.to(outcome)):
            async with patience_with("the answers"):
                outcome = await _answered(outcome, given)
        else:
            break
    return outcome


async def _answered(asked: LiteElicitation, given: JsonObject) -> LiteOutcome:
    try:
        return await asked.answer(given)
    except ValueError as error:
        raise UsageError(f"--answer: {str(error).removeprefix('answers: ')}") from None


async def _outcome(
    client: LiteClient,
    name: str,
    members: Sequence[str],
    given: JsonObject,
    arguments: Namespace,
) -> LiteOutcome:
    from kinwire_cli.members import members_from
    from kinwire_cli.request import whole_arguments
    from kinwire_cli.running import patience_with

    if arguments.raw:
        async with patience_with(name):
            return await client.call(name, members_from(members, {}, given=given))
    tools = {tool.name: tool for tool in await _tools(client)}
    tool = tools.get(name)
    if tool is None:
        known = ", ".join(list(tools)[:_NAMED])
        hint = did_you_mean(name, tools, f"It has: {known}." if tools else "It has no tools.")
        raise UsageError(f"The server has no tool {name!r}.", printable(hint))
    whole = whole_arguments(name, tool.input_schema, members, given)
    async with patience_with(name):
        return await client.call(name, whole)


async def _kept(promise: LitePromise) -> LiteOutcome:
    """Await a promise; a call that is interrupted leaves the work to the server."""
    from kinwire_cli.running import patience_with

    soon = promise.estimated_completion
    until = "" if soon is None else f" until about {soon}"
    print(one_line(f"note: the server works on it{until}"), file=sys.stderr)
    async with patience_with("redeem"):
        return await promise


async def _tools(client: LiteClient) -> list[Tool]:
    from kinwire_cli.running import patience_with

    async with patience_with(_LIST):
        return await client.list_tools()


def lite_tool(tool: Tool) -> mcp.Tool:
    """Return a tool as MCP has it."""
    from kinwire_protocols import mcp
    from kinwire_protocols.base import from_wire, to_wire

    return from_wire(mcp.Tool, {**to_wire(tool), "inputSchema": mcp_schema(tool.input_schema)})


def mcp_schema(schema: JsonObject) -> JsonObject:
    """Return a schema with the type that MCP demands."""
    return {**schema, "type": "object"}


def _print_result(result: object, arguments: Namespace) -> None:
    from kinwire.mcplite.client.outcomes import text_in

    blocks = _text_blocks(result) if arguments.text else None
    if blocks is not None:
        text = text_in(blocks)
        on_terminal = sys.stdout.isatty()
        print("\t".join(map(printable, text.split("\t"))) if on_terminal else text)
        return
    if arguments.text:
        print("note: --text is for results of text: this is JSON", file=sys.stderr)
    print(json_text(result))


def _text_blocks(result: object) -> list[JsonObject] | None:
    """Return the content of a result if that is text alone."""
    from kinwire.rpc.codec import is_object

    content = result.get("content") if is_object(result) else None
    if not isinstance(content, list):
        return None
    items = cast("list[object]", content)
    blocks = [one for one in items if is_object(one) and one.get("type") == "text"]
    return blocks if len(blocks) == len(items) else None
