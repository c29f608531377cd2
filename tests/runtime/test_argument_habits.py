"""Mistakes, above all of people who know `mcp` or FastMCP, are answered with the right call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest

from kinwire import (
    Connection,
    Context,
    Host,
    Limits,
    Server,
    pair,
    stdio,
)
from kinwire.mcpl import (
    ChatCompletions,
    McplHost,
    McplServer,
    ScriptedProvider,
)
from tests.each import each
from tests.runtime.fixtures_arguments import (
    URL,
    awaited,
    complete,
    connected,
    handler,
    hosted,
    in_a_tool,
    paired,
    server,
)

HABITS: list[tuple[str, Callable[[], Any], str]] = [
    (
        "resource without parentheses",
        lambda: server().resource(handler),  # type: ignore[arg-type]
        'got the function handler. Write @server.resource("notes://all")',
    ),
    (
        "the name of a tool as FastMCP takes it",
        lambda: server().tool("add"),  # type: ignore[call-overload]
        "function: expected a function, got 'add'. Write @server.tool(name='add')",
    ),
    (
        "the name of a prompt as FastMCP takes it",
        lambda: server().prompt("plan"),  # type: ignore[call-overload]
        "function: expected a function, got 'plan'. Write @server.prompt(name='plan')",
    ),
    (
        "arguments of a command as one list",
        lambda: stdio("python", ["x.py"]),  # type: ignore[arg-type]
        'arguments[0]: expected a string, got a list. Write stdio("python", "server.py", ',
    ),
    (
        "the whole command as one list",
        lambda: stdio(["python", "x.py"]),  # type: ignore[arg-type]
        'command: expected a path, got a list. Write stdio("python", "server.py")',
    ),
    (
        "a number in the environment",
        lambda: stdio("python", env={"A": 1}),  # type: ignore[dict-item]
        'env[\'A\']: expected a string, got a number. Write stdio("python", "server.py", env={',
    ),
    (
        "a file for stderr",
        lambda: stdio("python", stderr=2),  # type: ignore[arg-type]
        "expected 'inherit', 'log', 'discard' or a plain function, got 2. Write stdio(",
    ),
    (
        "a header as a string",
        partial(connected, URL, headers="Authorization: s3cret"),
        'Write connect("http://127.0.0.1:8000/mcp", headers={"Authorization": "..."})',
    ),
    (
        "a header as a number, at a host",
        partial(hosted, URL, headers={"X": 5}),
        "headers['X']: expected a string, got a number. Write await host.connect(\"http://",
    ),
    (
        "a token where a function belongs",
        partial(connected, URL, auth="s3cret"),
        'auth: expected a function that returns "Bearer ..." or None, got a string. Write connect(',
    ),
    (
        "the class of servers",
        lambda: connected(Server),
        "a Server, a URL or another transport, got the class Server. Write connect(stdio(",
    ),
    (
        "host and server the wrong way round",
        lambda: paired(Host("h", "1"), server()),
        "server: expected a Server, got a Host. Write pair(server, host)",
    ),
    (
        "a command as one string",
        partial(connected, "python server.py"),
        'got \'python server.py\'. Write connect(stdio("python", "server.py"))',
    ),
    (
        "a URL without its beginning",
        partial(connected, "127.0.0.1:8000/mcp"),
        "got '127.0.0.1:8000/mcp'. Write connect(\"http://127.0.0.1:8000/mcp\")",
    ),
    (
        "the time for the handshake as text",
        partial(hosted, URL, handshake_timeout="3"),
        "handshake_timeout: expected seconds or None, got '3'. Write await host.connect(",
    ),
    (
        "another transport for run",
        lambda: server().run(transport="http"),  # type: ignore[arg-type]
        "transport: expected 'stdio', got 'http'. Write server.run() for stdio, and server.asgi().",
    ),
    (
        "a port for run",
        lambda: server().run(port=8000),  # type: ignore[arg-type]
        "got port. Write server.run() for stdio, and server.asgi().run(host=..., port=...)",
    ),
    (
        "one host as a string",
        lambda: server().asgi(allowed_hosts="a.example"),
        "allowed_hosts: expected a list of strings, got one. Write server.asgi(allowed_hosts=['a.",
    ),
    (
        "the class of an extension",
        lambda: Server("s", "1", extensions=[McplServer]),  # type: ignore[list-item]
        "extensions[0]: expected an extension, got the class McplServer. Write Server(",
    ),
    (
        "one extension without a list",
        lambda: Host("h", "1", extensions=McplHost()),  # type: ignore[arg-type]
        "extensions: expected several extensions, got a McplHost. Write Host(",
    ),
    (
        "a feature set as a dictionary",
        lambda: McplServer(feature_sets={"a.b": {}}),  # type: ignore[dict-item]
        "feature_sets['a.b']: expected FeatureSet, got a dictionary. Write McplServer(",
    ),
    (
        "feature sets as a list",
        lambda: McplServer(feature_sets=["a.b"]),  # type: ignore[arg-type]
        "feature_sets: expected a dictionary of feature sets, got a list. Write McplServer(",
    ),
    (
        "a version as a number",
        lambda: Server("s", 1.0),  # type: ignore[arg-type]
        'Server.version: expected a string, got 1.0. Write Server("notes", "1.0")',
    ),
    (
        "one root without a list",
        lambda: Host("h", "1", roots="file:///a"),
        "Host.roots: expected several roots or None, got one. Write Host(",
    ),
    (
        "seconds where limits belong",
        lambda: Server("s", "1", limits=5),  # type: ignore[arg-type]
        "Server.limits: expected Limits, got 5. Write Server(",
    ),
    (
        "a limit as text",
        lambda: Limits(request_timeout="3"),  # type: ignore[arg-type]
        "request_timeout: expected seconds or None, got '3'. Write Limits(request_timeout=30.0)",
    ),
    (
        "an answer as a string",
        lambda: ScriptedProvider("Hello"),  # type: ignore[arg-type]
        "answers[0]: expected a ModelAnswer, got 'Hello'. Write ScriptedProvider(ModelAnswer(",
    ),
    (
        "a key that is bytes",
        lambda: ChatCompletions("https://a.example/v1", api_key=b"s3cret"),  # type: ignore[arg-type]
        "api_key: expected a string or None, got a bytes. Write ChatCompletions(",
    ),
]


@pytest.mark.parametrize(
    ("call", "line"), [one[1:] for one in HABITS], ids=[one[0] for one in HABITS]
)
def test_a_habit_is_answered_with_the_right_call(call: Callable[[], Any], line: str) -> None:
    with pytest.raises(Exception, match="expected") as caught:
        complete(call())
    assert line in str(caught.value)
    assert "s3cret" not in str(caught.value)


CONNECTION_HABITS: list[tuple[Callable[[Connection], Any], str]] = [
    (
        lambda one: one.with_options(timeout="3"),  # type: ignore[arg-type]
        "timeout: expected seconds or None, got '3'. Write connection.with_options(timeout=30.0)",
    ),
    (
        lambda one: one.with_options(on_progress=handler),
        "on_progress: expected a plain function or None, got the function handler. Write ",
    ),
    (
        lambda one: one.call("ping", {}),  # type: ignore[arg-type]
        "method: expected a method of kinwire_protocols, got 'ping'. Write await connection.call(",
    ),
    (
        lambda one: one.subscription(5),  # type: ignore[arg-type]
        'uri: expected a string, got 5. Write connection.subscription("notes://all")',
    ),
]


@pytest.mark.parametrize(("call", "line"), CONNECTION_HABITS)
@pytest.mark.anyio
async def test_a_wrong_call_of_a_connection_sends_nothing(
    call: Callable[[Connection], Any], line: str
) -> None:
    async with pair(server()) as connection:
        before = len(connection.frames)
        with pytest.raises((TypeError, ValueError), match="expected") as caught:
            await awaited(call(connection))
        assert line in str(caught.value)
        assert len(connection.frames) == before


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("call_tool", 'await connection.mcp.tools_call(name="...", arguments={...})'),
        ("list_tools", "async for tool in connection.tools()"),
        ("initialize", "connect(...) has done the handshake"),
    ],
)
@pytest.mark.anyio
async def test_a_name_of_another_client_is_answered_with_the_right_call(
    name: str, call: str
) -> None:
    async with pair(server()) as connection:
        with pytest.raises(AttributeError) as caught:
            getattr(connection, name)
        assert call in str(caught.value)
        assert not hasattr(connection, "tolos")


def test_a_name_of_another_server_is_answered_with_the_right_call() -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'http_app'\. Write server\.asgi\(\)"):
        server().http_app()  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match=r"'Server' object has no attribute 'tol'$"):
        server().tol  # type: ignore[attr-defined]  # noqa: B018


def test_a_name_of_another_context_is_answered_with_the_right_call() -> None:
    errors = in_a_tool(lambda context: context.report_progress(1))  # type: ignore[attr-defined]
    assert "no attribute 'report_progress'. Write await context.progress(3, 10)" in errors


@each(
    ("call", "line"),
    [
        (
            lambda context: context.progress("1"),
            "progress: expected a number, got '1'. Write await context.progress(3, 10)",
        ),
        (lambda context: context.progress(float("nan")), "progress: expected a number, got nan."),
        (
            lambda context: context.log("Hello", "info"),
            "level: expected 'debug', ",
        ),
        (
            lambda context: context.sample(["Hello"], max_tokens=5),
            "messages[0]: expected mcp.SamplingMessage, got 'Hello'. Write await context.sample(",
        ),
    ],
)
def test_a_wrong_call_of_a_context_is_answered(
    call: Callable[[Context], Awaitable[Any]], line: str
) -> None:
    assert line in in_a_tool(call)
