"""Wrong arguments are answered at the line of the mistake, with the right call.

`HABITS` lists mistakes, above all those of people who know `mcp` or FastMCP. Each public parameter
gets an object of a wrong type, too: one without a check needs a line in `UNCHECKED` that says why.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any

import anyio
import pytest

import kinwire
import kinwire.mcpl
import kinwire.mgp
from kinwire import (
    Connection,
    Context,
    ExtensionHandlers,
    Host,
    HttpLimits,
    Limits,
    ModelProfile,
    RpcError,
    Sampling,
    Server,
    Session,
    choose_model,
    connect,
    pair,
    result_text,
    serve_websocket,
    stdio,
    unattended,
)
from kinwire.mcp.profile import PROFILE
from kinwire.mcpl import (
    Channels,
    ChatCompletions,
    Hooks,
    Inference,
    McplHost,
    McplServer,
    ModelAnswer,
    ProviderError,
    ScopeAnswer,
    Scopes,
    ScriptedProvider,
    ServerPeer,
    UnsupportedMessageError,
    UrlGuard,
    Verdict,
)
from kinwire.mcplite.client.options import LiteOptions
from kinwire.support.arguments import (
    COUNT,
    NUMBER,
    SECRET,
    TEXT,
    TEXTS,
    ArgumentCheck,
    one_of,
    table_of,
)
from kinwire.transports.memory import memory_pair
from kinwire.transports.url_options import UrlOptions
from kinwire_protocols import mcp, mcpl
from kinwire_protocols.mcp.methods import PING, ROOTS_LIST, TOOLS_LIST
from kinwire_protocols.mgp import AccessDeniedError, ToolSecurity
from tests.each import each

CLASSES = (
    Server,
    Host,
    Connection,
    Context,
    McplServer,
    McplHost,
    kinwire.mgp.MgpServer,
    kinwire.mgp.MgpKernel,
)
URL = "http://127.0.0.1:9/mcp"
ROUTING = mcpl.RoutingPolicy(default="m")


async def handler(params: Any) -> Any: ...


def server() -> Server:
    return Server("s", "1")


def any_connection() -> Connection:
    """Return one that is never used: what is called refuses another argument first."""
    return object.__new__(Connection)


def guarded_server() -> kinwire.mgp.GuardedServer:
    """Return one that is never used."""
    made = object.__new__(kinwire.mgp.GuardedServer)
    return vars(made).update(extensions=frozenset(), offer=None) or made


async def connected(target: Any, **options: Any) -> None:
    async with connect(target, **options):
        raise AssertionError("it is connected")


async def paired(first: Any, second: Any) -> None:
    async with pair(first, second):
        raise AssertionError("they are connected")


async def hosted(target: Any, **options: Any) -> None:
    async with Host("h", "1") as host:
        await host.connect(target, **options)


# -- habits --

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


def in_a_tool(call: Callable[[Context], Any]) -> str:
    """Return the text of what `call` raises inside a tool."""
    raised: list[str] = []

    async def body() -> None:
        served = server()

        @served.tool
        async def use(context: Context) -> None:
            try:
                await awaited(call(context))
            except Exception as error:
                raised.append(str(error))

        async with pair(served) as connection:
            await connection.mcp.tools_call(name="use")

    anyio.run(body)
    return raised[0]


# -- every public function --

BY_KINWIRE = "kinwire makes it, and passes it to functions of the user"
IN_HANDSHAKE = "kinwire calls it during the handshake"
RAISED = "kinwire raises it"

UNCHECKED: dict[str, str] = {
    "AccessExplanation": BY_KINWIRE,
    "Policy": "load_policy makes it",
    "KernelConfig": "load_config makes it",
    "ConfiguredServer": "load_config makes it",
    "AccessPrincipal": BY_KINWIRE,
    "CallbackQuestion": BY_KINWIRE,
    "ConfirmationRequest": BY_KINWIRE,
    "GuardedCall": BY_KINWIRE,
    "GuardedServer": BY_KINWIRE,
    "KernelPeer": BY_KINWIRE,
    "KnownTool": BY_KINWIRE,
    "PendingPermission": BY_KINWIRE,
    "PermissionDecision": BY_KINWIRE,
    "PermissionQuestion": BY_KINWIRE,
    "ConfigProblem": BY_KINWIRE,
    "Registration": BY_KINWIRE,
    "RegistrationApproval": BY_KINWIRE,
    "StandingAnswer": BY_KINWIRE,
    "ServerStatus": BY_KINWIRE,
    "SupervisedServer": BY_KINWIRE,
    "Supervisor": "MgpKernel.supervise makes it",
    "ToolSession": "MgpKernel.tool_session makes it",
    "CallStream": "MgpKernel.stream makes it",
    "StreamChunk": BY_KINWIRE,
    "ConfigError": RAISED,
    "ContextBudgetError": RAISED,
    "Embedder": "a protocol, which classes of users have",
    "ModelFileError": RAISED,
    "MgpContext": BY_KINWIRE,
    "ServerEvents": BY_KINWIRE,
    "ServerHealth": BY_KINWIRE,
    "Shutdown": BY_KINWIRE,
    "StreamUnreadError": RAISED,
    "MgpKernel.add_manager": "a gateway calls it",
    "MgpKernel.attach": IN_HANDSHAKE,
    "MgpKernel.join": IN_HANDSHAKE,
    "MgpKernel.must_be_only_session": IN_HANDSHAKE,
    "MgpKernel.negotiated": IN_HANDSHAKE,
    "MgpKernel.offer": IN_HANDSHAKE,
    "MgpKernel.served_by": IN_HANDSHAKE,
    "MgpKernel.understood": IN_HANDSHAKE,
    "MgpKernel.left": "kinwire calls it at the end of a session",
    "MgpServer.attach": IN_HANDSHAKE,
    "MgpServer.join": IN_HANDSHAKE,
    "MgpServer.must_be_only_session": IN_HANDSHAKE,
    "MgpServer.negotiated": IN_HANDSHAKE,
    "MgpServer.offer": IN_HANDSHAKE,
    "MgpServer.served_by": IN_HANDSHAKE,
    "MgpServer.understood": IN_HANDSHAKE,
    "MgpServer.left": "kinwire calls it at the end of a session",
    "CallState": BY_KINWIRE,
    "CapabilityNotNegotiatedError": RAISED,
    "ChannelMessage": BY_KINWIRE,
    "Connection": BY_KINWIRE,
    "ConnectionClosedError": RAISED,
    "Context": BY_KINWIRE,
    "Connection.shape_error": "generated stubs call it",
    "Context.log data": "any JSON; a value that is not JSON is an UnsendableError",
    "Draft": BY_KINWIRE,
    "DuplicateServerError": RAISED,
    "Extension": "a protocol, which classes of users have",
    "Next": "a type",
    "HandlerDefinitionError": RAISED,
    "HookFailedError": RAISED,
    "HostPeer": BY_KINWIRE,
    "IdentityRefusedError": RAISED,
    "InboxItem": BY_KINWIRE,
    "InferenceStream": BY_KINWIRE,
    "Injection": BY_KINWIRE,
    "Injections": BY_KINWIRE,
    "InsecureAddressError": RAISED,
    "InvalidResponseError": RAISED,
    "KinwireError": RAISED,
    "McplHost.attach": IN_HANDSHAKE,
    "McplHost.join": IN_HANDSHAKE,
    "McplHost.left": "kinwire calls it at the end of a session",
    "McplHost.must_be_only_session": IN_HANDSHAKE,
    "McplHost.negotiated": IN_HANDSHAKE,
    "McplHost.offer": IN_HANDSHAKE,
    "McplHost.served_by": IN_HANDSHAKE,
    "McplHost.understood": IN_HANDSHAKE,
    "McplServer.attach": IN_HANDSHAKE,
    "McplServer.join": IN_HANDSHAKE,
    "McplServer.left": "kinwire calls it at the end of a session",
    "McplServer.must_be_only_session": IN_HANDSHAKE,
    "McplServer.negotiated": IN_HANDSHAKE,
    "McplServer.offer": IN_HANDSHAKE,
    "McplServer.served_by": IN_HANDSHAKE,
    "McplServer.understood": IN_HANDSHAKE,
    "ModelRequest": BY_KINWIRE,
    "Moderate": "the type of a function",
    "NotPublishedError": RAISED,
    "OutgoingResponse": BY_KINWIRE,
    "PaginationError": RAISED,
    "ProtocolVersionError": RAISED,
    "Provider": "a protocol, which classes of users have",
    "PushedEvent": BY_KINWIRE,
    "RefusedItem": BY_KINWIRE,
    "Request": BY_KINWIRE,
    "Restrictions": BY_KINWIRE,
    "RequestCancelledError": RAISED,
    "RequestTimeoutError": RAISED,
    "RpcError data": "any JSON; a value that is not JSON is an internal error",
    "SamplingRequest": BY_KINWIRE,
    "ScopeDeniedError": RAISED,
    "ScopeRequest": BY_KINWIRE,
    "Server.add_registered_tool": "extensions call it",
    "Server.run options": "the type is Never: every option is refused",
    "ServerPeer": BY_KINWIRE,
    "ServerState": BY_KINWIRE,
    "SessionCallbacks": BY_KINWIRE,
    "SessionStateError": RAISED,
    "Transport": "a protocol, which classes of users have",
    "ShapeError": RAISED,
    "StateNotRecordedError": RAISED,
    "StateRefusedError": RAISED,
    "ToolDefinitionError": RAISED,
    "NeedsAnswers state": "any JSON value",
    "ToolError data": "any JSON value",
    "ToolError text": "an exception takes any values, and shows them as text",
    "UnsendableError": RAISED,
    "UserTurn": BY_KINWIRE,
    "WorkItem": BY_KINWIRE,
    "unattended": "kinwire calls it, as an argument of Sampling",
}

VALID: dict[str, Callable[[], dict[str, Any]]] = {
    "Agent": lambda: {"id": "a"},
    "CallLimit": lambda: {"calls": 1, "seconds": 1},
    "ConfigFile": lambda: {"may_be_absent": True},
    "ConfirmationAnswer": lambda: {"approved": True},
    "MgpKernel.add_access_tools": lambda: {"server": server(), "agent_of": handler},
    "Gateway": lambda: {"kernel": kinwire.mgp.MgpKernel(), "servers": Host("h", "1")},
    "HealthMonitor": lambda: {"server": guarded_server()},
    "LiteClient": lambda: {"url": "http://127.0.0.1:1/"},
    "LiteServer": lambda: {"server": server()},
    "MgpKernel.events": lambda: {"connection": any_connection(), "channels": []},
    "MgpKernel.stream": lambda: {"connection": any_connection(), "tool": "t"},
    "MgpServer.emit": lambda: {"channel": "tool.started"},
    "MgpKernel.add_discovery_tools": lambda: {"server": server(), "agent_of": handler},
    "MgpKernel.add_tool_search_tools": lambda: {"server": server(), "agent_of": handler},
    "MgpKernel.reset_quota": lambda: {"agent": "a", "server": "s"},
    "MgpKernel.supervise": lambda: {"host": Host("h", "1")},
    "ServerSpec": lambda: {"id": "a", "command": "python"},
    "MgpServer.tool": lambda: {"security": ToolSecurity(risk_level="safe")},
    "PermissionAnswer": lambda: {"decision": "approved"},
    "code_rejection": lambda: {"code": ""},
    "refusal": lambda: {"error": AccessDeniedError, "message": "m"},
    "ChatCompletions": lambda: {"base_url": "https://a.example/v1"},
    "Connection.call": lambda: {"method": PING, "params": mcp.RequestParams()},
    "Connection.notify": lambda: {"method": PING, "params": mcp.RequestParams()},
    "Connection.subscription": lambda: {"uri": "a:b"},
    "Context.log": lambda: {"level": "info", "data": "x"},
    "Context.progress": lambda: {"progress": 1},
    "Context.sample": lambda: {"messages": "x", "max_tokens": 1},
    "Host": lambda: {"name": "h", "version": "1"},
    "Host.connect": lambda: {"target": memory_pair()[0]},
    "Host.keep_connected": lambda: {"target": URL},
    "Host.remove_handler": lambda: {"method": ROOTS_LIST},
    "Host.set_roots": lambda: {"roots": []},
    "Inference": lambda: {"provider": ScriptedProvider(), "routing": ROUTING},
    "McplHost.after_inference": dict,
    "McplHost.before_inference": dict,
    "McplHost.reset_usage": lambda: {"server": object.__new__(ServerPeer)},
    "McplServer": lambda: {"feature_sets": {}},
    "ModelAnswer": lambda: {"content": "", "model": ""},
    "ModelProfile": lambda: {"name": "m"},
    "Outbox": lambda: {"live": McplServer(feature_sets={})},
    "ProviderError": lambda: {"reason": "timeout", "why": ""},
    "Sampling": lambda: dict.fromkeys(("model", "approve_request", "approve_result"), handler),
    "Context.reporting_time": lambda: {"work": handler},
    "NeedsAnswers": lambda: {"text": "?"},
    "Promised": lambda: {"work": handler},
    "ScopeAnswer": lambda: {"approved": True},
    "Server": lambda: {"name": "s", "version": "1"},
    "Server.add_prompt": lambda: {"definition": mcp.Prompt(name="p"), "handler": handler},
    "Server.add_resource": lambda: {
        "definition": mcp.Resource(uri="a:b", name="r"),
        "handler": handler,
    },
    "Server.add_tool": lambda: {
        "definition": mcp.Tool(name="t", input_schema=mcp.ToolInputSchema()),
        "handler": handler,
    },
    "Server.completion": lambda: {"owner": "p", "argument": "a"},
    "Server.remove_handler": lambda: {"method": TOOLS_LIST},
    "Server.resource": lambda: {"uri": "a:b"},
    "Server.serve": lambda: {"transport": memory_pair()[0]},
    "Session": lambda: {"transport": memory_pair()[0], "routes": {}, "profile": PROFILE},
    "ToolQuestion": lambda: {"id": "q", "text": "?"},
    "UnsupportedMessageError": lambda: {"pointer": "", "why": ""},
    "UrlGuard": lambda: {"allow": []},
    "WorkQueue": lambda: {"work": handler},
    "capability_from": lambda: {"handlers": ExtensionHandlers(), "gates": {}},
    "choose_model": lambda: {"preferences": None, "models": [ModelProfile("m")]},
    "connect": lambda: {"target": URL},
    "pair": lambda: {"server": server()},
    "serve_websocket": lambda: {"serve": handler},
    "stdio": lambda: {"command": "python"},
}
"""Values for the parameters that have no default, for functions with more than one."""


def public_functions() -> Iterator[tuple[str, Any]]:
    for module in (kinwire, kinwire.mcpl, kinwire.mgp):
        yield from ((name, getattr(module, name)) for name in module.__all__)
    for owner in CLASSES:
        for name, value in inspect.getmembers(owner, inspect.isfunction):
            if not name.startswith("_"):
                yield f"{owner.__name__}.{name}", value


OPTIONS: dict[str, type] = {"Unpack[UrlOptions]": UrlOptions, "Unpack[LiteOptions]": LiteOptions}


def parameters_of(function: Any) -> list[str]:
    names: list[str] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name == "self":
            continue
        if (options := OPTIONS.get(str(parameter.annotation))) is not None:
            names += options.__annotations__
        else:
            names.append(parameter.name)
    return names


FUNCTIONS = dict(public_functions())
CASES = [
    (name, parameter)
    for name, function in FUNCTIONS.items()
    if name not in UNCHECKED
    for parameter in parameters_of(function)
    if f"{name} {parameter}" not in UNCHECKED
]


@pytest.fixture(autouse=True)
def _nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep a function without its check from what it would do."""

    def started(*arguments: object, **options: object) -> None:
        raise AssertionError("a server runs")

    monkeypatch.setattr("kinwire.mcp.server.Server.serve_stdio", started)


def test_every_public_function_is_looked_at() -> None:
    assert len(CASES) > 150
    assert {f"{owner.__name__}" for owner in CLASSES} <= {*FUNCTIONS, "McplServer"}
    listed = {entry.partition(" ")[0] for entry in UNCHECKED}
    assert listed - set(FUNCTIONS) == set(), "not needed any more: remove from UNCHECKED"
    assert set(VALID) - set(FUNCTIONS) == set(), "not needed any more: remove from VALID"
    assert all(reason for reason in UNCHECKED.values())


@each(("name", "parameter"), CASES)
def test_every_public_parameter_names_itself_and_the_right_call(name: str, parameter: str) -> None:
    function, valid = FUNCTIONS[name], VALID.get(name, dict)()
    arguments = {**valid, parameter: object()}
    with pytest.raises(Exception, match="expected") as caught:
        complete_in_place(name, partial(called, function, arguments))
    text = str(caught.value)
    assert parameter in text.partition(": expected")[0]
    assert re.search(r"got (an )?object\b", text)
    assert "Write " in text
    assert called_name(name) in text.partition("Write ")[2]


@each("name", ["connect", "Host.connect", "Server", "Server.asgi", "Host", "stdio", "McplServer"])
def test_the_text_of_a_function_names_every_parameter(name: str) -> None:
    """It is what an editor shows when the mouse rests on the call."""
    text = inspect.getdoc(FUNCTIONS[name]) or ""
    missing = [one for one in parameters_of(FUNCTIONS[name]) if not re.search(rf"\b{one}\b", text)]
    assert missing == []


def called_name(name: str) -> str:
    """Return what the right call has to show."""
    return name.partition(".")[2] or name


def called(function: Any, arguments: Mapping[str, Any], *owner: Any) -> Any:
    """Call `function` by its signature with arguments by name."""
    given, words = dict(arguments), list(owner)
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.POSITIONAL_ONLY and parameter.name in given:
            words.append(given.pop(parameter.name))
        elif parameter.kind is parameter.VAR_POSITIONAL and parameter.name in given:
            command = [given.pop(name) for name in ("command",) if name in given]
            words += [*command, given.pop(parameter.name)]
    return function(*words, **given)


def complete_in_place(name: str, call: Callable[..., Any]) -> None:
    """Call a function, or a method of an object of its class."""
    owner = name.partition(".")[0] if "." in name else ""
    match owner:
        case "Context":
            text = in_a_tool(call)
            raise ValueError(text)
        case "Connection":
            anyio.run(on_a_connection, call)
        case "":
            complete(call())
        case _:
            made: dict[str, Callable[[], Any]] = {
                "Server": server,
                "Host": lambda: Host("h", "1", roots=[]),
                "McplServer": lambda: McplServer(feature_sets={}, channels=[]),
                "McplHost": McplHost,
                "MgpServer": kinwire.mgp.MgpServer,
                "MgpKernel": kinwire.mgp.MgpKernel,
            }
            complete(call(made[owner]()))


async def on_a_connection(call: Callable[[Connection], Any]) -> None:
    async with pair(server()) as connection:
        before = len(connection.frames)
        try:
            await awaited(call(connection))
        finally:
            assert len(connection.frames) == before


def complete(value: Any) -> None:
    if inspect.isawaitable(value) or isinstance(value, AbstractAsyncContextManager):
        anyio.run(partial(awaited, value))


async def awaited(value: Any) -> None:
    with anyio.fail_after(5):
        if isinstance(value, AbstractAsyncContextManager):
            async with value:
                raise AssertionError("it is entered")
        if inspect.isawaitable(value):
            await value


CANDIDATES: list[Any] = [None, True, 5, 2.5, "text", b"bytes", ["x"], {"a": 1}, (1, 2), print, int]


@each(
    ("name", "parameter"),
    [one for one in CASES if inspect.isclass(FUNCTIONS[one[0]]) or one[0] == "stdio"],
)
def test_a_value_of_any_type_is_accepted_or_refused_by_name(name: str, parameter: str) -> None:
    for value in CANDIDATES:
        error = raised_by(FUNCTIONS[name], {**VALID.get(name, dict)(), parameter: value})
        assert error is None or "expected" in str(error), (value, error)


def raised_by(function: Any, arguments: Mapping[str, Any]) -> Exception | None:
    try:
        called(function, arguments)
    except (ImportError, kinwire.InsecureAddressError):
        return None
    except Exception as error:
        return error
    return None


# -- kinds --


def test_a_secret_is_never_shown() -> None:
    check = ArgumentCheck("f", "f()", {}, token=SECRET, tokens=table_of(SECRET, "a dictionary"))
    for wrong in ({"token": 5}, {"tokens": "s3cret"}, {"tokens": {"a": 12345}}):
        with pytest.raises(TypeError) as caught:
            check.check(**wrong)
        assert not any(word in str(caught.value) for word in ("5.", "s3cret", "12345"))


def test_a_long_value_is_cut() -> None:
    with pytest.raises(ValueError, match="expected") as caught:
        ArgumentCheck("f", "f()", {}, count=COUNT).check(count="x" * 10_000)
    assert len(str(caught.value)) < 200


@each("value", [10**100, float("inf"), True, "5", None])
def test_a_number_is_a_number_that_can_be_counted_with(value: Any) -> None:
    with pytest.raises(ValueError, match=r"count: expected .*, got .*\. Write f\(count=10\)"):
        ArgumentCheck("f", "f()", {}, count=COUNT).check(count=value)
    if not isinstance(value, int) or isinstance(value, bool):
        with pytest.raises(ValueError, match="number: expected a number, got"):
            ArgumentCheck("f", "f()", {}, number=NUMBER).check(number=value)


def test_what_is_read_once_is_left_to_the_function() -> None:
    words = iter(["a", "b"])
    ArgumentCheck("f", "f()", {}, words=TEXTS).check(words=words)
    assert list(words) == ["a", "b"]


def test_none_is_named_where_it_is_accepted() -> None:
    check = ArgumentCheck("f", 'f("a")', {"a": TEXT}, b=one_of("x", "y").or_none)
    check.check(a="a", b=None)
    with pytest.raises(ValueError, match=r"^f: b: expected 'x' or 'y' or None, got 5\. Write "):
        check.check(b=5)
    with pytest.raises(TypeError, match=r'^f: a: expected a string, got None\. Write f\("a"\)$'):
        check.check(a=None)


def test_the_right_call_names_a_parameter_once() -> None:
    check = ArgumentCheck("F", "F(grace=60, lease=5)", {}, grace=COUNT, lease=COUNT)
    for name, call in (("grace", "F(grace=10, lease=5)"), ("lease", "F(grace=60, lease=10)")):
        with pytest.raises(ValueError, match="expected") as caught:
            check.check(**{name: "x"})
        assert str(caught.value).endswith(f"Write {call}")


def test_valid_values_are_accepted() -> None:
    Sampling(handler, approve_request=unattended, approve_result=unattended, timeout=None)
    Limits(request_timeout=None, stall=float("inf"), drain=0)
    HttpLimits(idle=0)
    Channels(default_outgoing=("server", "channel"))
    Hooks(order=iter(["a"]), fail_closed=("a.*",))  # type: ignore[arg-type]
    Scopes(lists={"a": mcpl.ScopeRules(whitelist=["b"])}, ask=handler)
    Inference(provider=ScriptedProvider(), routing=ROUTING, larger={"a": (5, "b")})
    Verdict("change", [mcp.TextContent(text="a")])
    ScopeAnswer(True, {"a": 1}, lasts=float("inf"))
    ModelAnswer("a", "b")
    ProviderError("timeout", "it is late")
    UnsupportedMessageError("/0", "it has a picture")
    UrlGuard(lambda url: True)
    RpcError("no", data={"a": 1}, code=-32000)
    choose_model(None, (ModelProfile("a"),))
    assert result_text(mcp.CallToolResult(content=[])) == ""
    Session(memory_pair()[0], routes={}, profile=PROFILE)
    assert callable(serve_websocket)
