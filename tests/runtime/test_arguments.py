"""Every public parameter gets an object of a wrong type, and refuses it by its name.

One without a check needs a line in `UNCHECKED` that says why.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
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
    pair,
    result_text,
    serve_websocket,
    unattended,
)
from kinwire.mcp.profile import PROFILE
from kinwire.mcpl import (
    Channels,
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
from tests.runtime.fixtures_arguments import (
    ROUTING,
    URL,
    any_connection,
    awaited,
    complete,
    guarded_server,
    handler,
    in_a_tool,
    server,
)

"""Values for the parameters that have no default, for functions with more than one."""


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
