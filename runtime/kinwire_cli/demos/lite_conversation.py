"""What happens in the demo of MCP-lite, step by step. It is the same each time, and ends.

A client calls the tools of one server over HTTP and, if its libraries are there, over gRPC.
"""

from __future__ import annotations

__all__ = ("converse",)

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio

from kinwire import LiteClient, LiteServer
from kinwire.mcplite import (
    LiteAnswer,
    LiteElicitation,
    LiteFailure,
    LiteOutcome,
    LitePart,
    LitePromise,
    UnknownToolError,
)
from kinwire_cli.demos.mcplite import server
from kinwire_cli.demos.narration import Line, Narrator
from kinwire_cli.extras import install_command, is_installed

_HOST = "127.0.0.1"


async def converse(narrator: Narrator) -> None:
    """Play it all, and tell it.

    Raises:
        ImportError: the extra `http` is not installed.
    """
    narrator.begin("One server, no session: each call is a request of its own")
    async with _over_http() as url:
        narrator.tell(Line("LiteServer(server).asgi().run(port=0)"))
        async with LiteClient(url) as client:
            await _show_tools(client, narrator)
            await _show_outcomes(client, narrator)
    narrator.begin("The same tools over gRPC")
    if not is_installed("grpc"):
        narrator.tell(
            Line(f"skipped: gRPC needs more, which this brings: {install_command('grpc')}")
        )
        return
    async with _over_grpc() as url, LiteClient(url) as client:
        await _call(client, narrator, "divide", a=1, b=4)


async def _show_tools(client: LiteClient, narrator: Narrator) -> None:
    for tool in await client.list_tools():
        kind = "" if tool.type is None else f" ({tool.type})"
        narrator.tell(Line(f"{tool.name}{kind}: {tool.description}", "server", "client"))


async def _show_outcomes(client: LiteClient, narrator: Narrator) -> None:
    narrator.begin("Answers and failures")
    await _call(client, narrator, "search_documents", query="protocol", limit=1)
    await _call(client, narrator, "divide", a=1, b=0)
    try:
        await _call(client, narrator, "search_document", query="protocol")
    except UnknownToolError as error:
        said = f"{error.message}: {error.requested_tool}. {error.suggestion}"
        narrator.tell(Line(said, "server", "client"))
    narrator.begin("A promise: the result is there later, in any process of the server")
    promised = await _call(client, narrator, "analyze_dataset", dataset_id="sales", seconds=0.2)
    if isinstance(promised, LitePromise):
        _tell(narrator, await promised)
    narrator.begin("Questions: the server keeps nothing until they are answered")
    asked = await _call(client, narrator, "write_letter", to="Ada")
    if isinstance(asked, LiteElicitation):
        answers = {"format": "short", "subject": "engines"}
        narrator.tell(Line(_text(answers), "client", "server", "answer"))
        _tell(narrator, await asked.answer(answers))
    narrator.begin("A result in parts")
    async for part in client.stream("generate_report", {"topic": "results"}):
        if isinstance(part, LitePart):
            narrator.tell(Line(repr(part.text), "server", "client", "part"))
        else:
            _tell(narrator, part)


async def _call(client: LiteClient, narrator: Narrator, name: str, **arguments: Any) -> LiteOutcome:
    narrator.tell(Line(_text(arguments), "client", "server", name))
    outcome = await client.call(name, arguments)
    _tell(narrator, outcome)
    return outcome


def _tell(narrator: Narrator, outcome: LiteOutcome) -> None:
    kind = str(outcome.meta.response_type)
    match outcome:
        case LiteAnswer(content):
            said = "\n".join(map(_text, content))
        case LiteFailure(code, message):
            said = f"{code}: {message}"
        case LiteElicitation(text, questions):
            said = "\n".join([text, *(f"{one.id}: {one.text}" for one in questions)])
        case _:
            said = "a token, to be redeemed"
    narrator.tell(Line(said, "server", "client", kind))


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


@asynccontextmanager
async def _over_http() -> AsyncGenerator[str]:
    """Serve the demo's tools on a free port."""
    from kinwire.transports.http.running import bound, host_and_port, serve_on

    stop, lite = anyio.Event(), LiteServer(server)
    with bound(_HOST, 0) as listener:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(serve_on, lite.asgi(), listener, stop)
            yield f"http://{host_and_port(listener)}/mcp-lite/v1/"
            stop.set()


@asynccontextmanager
async def _over_grpc() -> AsyncGenerator[str]:
    """Serve the demo's tools on a free port."""
    lite, started, urls = LiteServer(server), anyio.Event(), list[str]()

    def tell(url: str) -> None:
        urls.append(url)
        started.set()

    async def serve() -> None:
        await lite.serve_grpc(_HOST, 0, started=tell)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve)
        await started.wait()
        yield urls[0]
        tasks.cancel_scope.cancel()
