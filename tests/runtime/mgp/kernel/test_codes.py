"""Each code of MGP, provoked end to end between a kernel and a server (MGP 14.3, 14.4)."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import anyio
import pytest

from kinwire import Connection, Host, Server
from kinwire.mgp import (
    Agent,
    AuditOptions,
    CallbackQuestion,
    Callbacks,
    CallLimit,
    MgpContext,
    MgpKernel,
    MgpServer,
    Questions,
    Retries,
    ServerPolicy,
    ToolPolicy,
    refusal,
)
from kinwire.rpc.errors import InvalidResponseError
from kinwire.storage import StorageUnavailableError
from kinwire_protocols.base import RpcError
from kinwire_protocols.mgp import ServerStub, ToolSecurity, errors
from kinwire_protocols.mgp.methods import PROTOCOL
from kinwire_protocols.mgp.tables import ERROR_RANGES, ERROR_RULES
from tests.runtime.mgp.fixtures_kernel import audited, guarded, outcome
from tests.runtime.mgp.raw_peers import Json, RawServer, tool

pytestmark = pytest.mark.anyio

NOW = 1_772_193_600.0
OFFER: Json = {"version": "0.2.0", "extensions": ["security"]}
GUIDE = Path(__file__).parents[4] / "docs" / "mgp.md"


class NoLog:
    """A log that takes nothing."""

    async def append_after(self, sequence: int, entries: Any) -> int:
        raise StorageUnavailableError("log", expected="a disk", got="none", hint="Wait.")

    async def bounds(self) -> tuple[int, int]:
        return 1, 0

    async def read(self) -> list[Any]:
        return []


async def nothing(kernel: MgpKernel, connection: Connection) -> None:
    """Prepare nothing."""


async def deny(kernel: MgpKernel, connection: Connection) -> None:
    await kernel.access.grant("host", "s", "deny", tool="run")


async def switch_off(kernel: MgpKernel, connection: Connection) -> None:
    await kernel.tools.disable("s", "run")


async def call_twice(kernel: MgpKernel, connection: Connection) -> None:
    for _attempt in range(2):
        await connection.session.raw("tools/call", {"name": "run"})


async def refuse_who_calls(kernel: MgpKernel, connection: Connection) -> None:
    """Have the transport fail as over HTTP with status 401."""
    await connection.session.raw("tools/call", {"name": "other"})
    error = InvalidResponseError("HTTP status 401")
    error.status = 401

    async def call(*arguments: Any) -> Any:
        raise error

    connection.session._driver.call = call  # type: ignore[union-attr, method-assign]


Prepare = Callable[[MgpKernel, Connection], Awaitable[None]]
EXPIRED = Agent("agent.a", expires_at=NOW)

PROVOKED: list[tuple[int, Json, Prepare, Json, Agent | None]] = [
    (
        1000,
        {"policy": ServerPolicy(tools={"run": ToolPolicy(permissions=["camera"])})},
        nothing,
        {},
        None,
    ),
    (1001, {}, deny, {}, None),
    (1001, {"policy": ServerPolicy(access="opt-in")}, nothing, {}, None),
    (1002, {"policy": ServerPolicy(needs_agent=True)}, nothing, {}, None),
    (1002, {}, refuse_who_calls, {}, None),
    (1003, {"policy": ServerPolicy(credentials_expire=NOW)}, nothing, {}, None),
    (1003, {}, nothing, {}, EXPIRED),
    (1010, {}, nothing, {"name": "shell", "arguments": {"command": "a; rm -rf b"}}, None),
    (1011, {}, nothing, {"name": "python", "arguments": {"code": "import subprocess"}}, None),
    (3000, {"policy": ServerPolicy(rate=CallLimit(2, 60))}, call_twice, {}, None),
    (
        3001,
        {"policy": ServerPolicy(tools={"run": ToolPolicy(risk="dangerous")}, confirm=())},
        nothing,
        {},
        None,
    ),
    (3002, {"policy": ServerPolicy(quota=2)}, call_twice, {}, None),
    (4000, {}, nothing, {"arguments": ["x"]}, None),
    (4001, {}, nothing, {"name": "rnu"}, None),
    (4002, {"policy": ServerPolicy(tools={"run": ToolPolicy(enabled=False)})}, nothing, {}, None),
    (4002, {}, switch_off, {}, None),
]


def row_of(code: int) -> pytest.MarkDecorator:
    """Return the claim of the row of a code in the table of codes."""
    codes = [one.code for one in ERROR_RULES.values()]
    return pytest.mark.spec(f"mgp-14.3-{codes.index(code) + 1}")


@pytest.mark.parametrize(
    ("code", "options", "prepare", "params", "agent"),
    [pytest.param(*one, marks=row_of(one[0])) for one in PROVOKED],
)
@pytest.mark.spec("mgp-14.4-1", "mgp-14-1")
async def test_a_refusal_of_the_kernel_has_its_code_and_its_hints(
    code: int, options: Json, prepare: Prepare, params: Json, agent: Agent | None
) -> None:
    log: Any = NoLog() if code == 3001 else None
    kernel = MgpKernel(
        servers={"s": options.get("policy", ServerPolicy())},
        audit=AuditOptions(log=log),
        clock=lambda: NOW,
    )
    shell = tool("shell", "command", security={"risk_level": "safe", "validator": "sandbox"})
    python = tool("python", "code", security={"risk_level": "safe", "validator": "code_safety"})
    raw = RawServer(tool("run"), tool("other"), shell, python, mgp=OFFER)
    with audited() as events:
        async with guarded(raw, kernel) as connection:
            await prepare(kernel, connection)
            before = len(raw.calls)
            acting = nullcontext() if agent is None else kernel.acting_for(agent)
            with acting, pytest.raises(RpcError) as raised:
                await connection.session.raw("tools/call", {"name": "run", **params})
            assert len(raw.calls) == before
    (rule,) = [one for one in ERROR_RULES.values() if one.code == code]
    error = raised.value
    assert type(error) is PROTOCOL.errors[rule.error]
    assert (error.code, error.data["_mgp"]["category"]) == (code, rule.category)
    assert error.data["_mgp"]["retryable"] is rule.retryable
    assert events.of_calls[-1]["details"]["code"] == code


def weather() -> Server:
    guarded_server = MgpServer()
    server = Server("weather", "1", extensions=[guarded_server])

    @server.tool
    @guarded_server.tool(security=ToolSecurity(risk_level="safe"))
    def forecast(name: str) -> str:
        raise refusal(PROTOCOL.errors[name], f"{name} happened", details={"town": "Oslo"})

    return server


@pytest.mark.spec("mgp-14.5-7", "mgp-14.1-1", "mgp-14.5-1")
async def test_a_tool_raises_any_error_and_the_program_gets_its_class() -> None:
    kernel = MgpKernel(retries=Retries(most=0))
    async with Host("h", "1", extensions=[kernel]) as host:
        connection = await host.connect(weather(), server_id="s")
        for rule in ERROR_RULES.values():
            with pytest.raises(PROTOCOL.errors[rule.error]) as raised:
                await connection.mcp.tools_call(name="forecast", arguments={"name": rule.error})
            assert raised.value.code == rule.code
            assert raised.value.data["_mgp"]["details"] == {"town": "Oslo"}
            assert raised.value.data["_mgp"]["category"] == rule.category


@pytest.mark.parametrize(
    ("code", "tries"),
    [
        pytest.param(code, tries, marks=row_of(code))
        for code, tries in ((5000, 1), (5001, 3), (5002, 3))
    ],
)
async def test_a_failure_of_a_service_is_repeated_if_that_may_help(code: int, tries: int) -> None:
    """Only a timeout and a service that is away are retryable by the table."""
    (rule,) = [one for one in ERROR_RULES.values() if one.code == code]
    kernel = MgpKernel(retries=Retries(most=2, first_delay=0))
    async with Host("h", "1", extensions=[kernel]) as host:
        connection = await host.connect(weather(), server_id="s")
        with audited() as events, pytest.raises(PROTOCOL.errors[rule.error]):
            await connection.mcp.tools_call(name="forecast", arguments={"name": rule.error})
    assert len(events.of("io.kinwire.tool_retried")) == tries - 1
    assert events.of_calls[-1]["details"]["code"] == code


@row_of(2001)
async def test_a_call_of_a_server_that_shuts_down_is_refused_by_the_server_and_not_repeated() -> (
    None
):
    began, go_on = anyio.Event(), anyio.Event()
    server = Server("shop", "1", extensions=[MgpServer()])

    @server.tool
    async def look() -> str:
        began.set()
        await go_on.wait()
        return "seen"

    kernel = MgpKernel(retries=Retries(first_delay=0))
    async with Host("h", "1", extensions=[kernel]) as host, anyio.create_task_group() as tasks:
        connection = await host.connect(server, server_id="s")
        tasks.start_soon(connection.session.raw, "tools/call", {"name": "look"})
        await began.wait()
        await ServerStub(connection).mgp_lifecycle_shutdown(reason="operator_request")
        with audited() as events, pytest.raises(errors.ServerDrainingError) as raised:
            await connection.mcp.tools_call(name="look")
        go_on.set()
    assert raised.value.data["_mgp"] == {"category": "lifecycle", "retryable": False}
    assert events.of("io.kinwire.tool_retried") == []
    assert events.of_calls[0]["details"]["code"] == 2001


@row_of(3003)
async def test_a_question_that_nobody_answers_in_time_ends_the_call() -> None:
    """Such a call is not repeated: the same person would be asked again."""
    asked: list[str] = []

    async def answer(question: CallbackQuestion) -> None:
        asked.append(question.message)
        await anyio.sleep_forever()

    server = Server("shop", "1", extensions=[MgpServer(questions=Questions(timeout=0.01))])

    @server.tool
    async def look(context: MgpContext) -> bool:
        return await context.confirm("Look?")

    kernel = MgpKernel(callbacks=Callbacks(answer=answer), retries=Retries(first_delay=0))
    async with Host("h", "1", extensions=[kernel]) as host:
        connection = await host.connect(server, server_id="s")
        with audited() as events, pytest.raises(errors.TimedOutError, match=r"within 0\.01 s"):
            await connection.mcp.tools_call(name="look")
    assert asked == ["Look?"]
    assert events.of_calls[-1]["details"]["code"] == 3003


async def test_a_plain_client_gets_a_tool_that_failed() -> None:
    async with Host("h", "1") as host:
        connection = await host.connect(weather())
        result = await connection.mcp.tools_call(
            name="forecast", arguments={"name": "UpstreamError"}
        )
    assert result.is_error is True
    assert result.content[0].text == "UpstreamError happened"  # type: ignore[union-attr]


async def test_a_raw_server_answers_with_each_code() -> None:
    def call(params: Json) -> Json:
        return {"code": params["arguments"]["code"], "message": "no"}

    answers: dict[str, Any] = {"tools/call": call}
    raw = RawServer(tool("run"), mgp=OFFER, **answers)
    async with guarded(raw, MgpKernel(retries=Retries(most=0))) as connection:
        for rule in ERROR_RULES.values():
            with pytest.raises(PROTOCOL.errors[rule.error], match="no"):
                await connection.mcp.tools_call(name="run", arguments={"code": rule.code})


RANGES = {
    "security": "mgp-14.2-3",
    "lifecycle": "mgp-14.2-4",
    "resource": "mgp-14.2-5",
    "validation": "mgp-14.2-6",
    "external": "mgp-14.2-7",
}


@pytest.mark.parametrize(
    "category",
    [pytest.param(name, marks=pytest.mark.spec(row)) for name, row in RANGES.items()],
)
@pytest.mark.spec("mgp-14.2-1")
async def test_the_codes_of_a_category_lie_in_its_range(category: str) -> None:
    (row,) = [one for one in ERROR_RANGES if one.category == category]
    codes = [one.code for one in ERROR_RULES.values() if one.category == category]
    assert codes
    assert all(row.lowest <= code <= row.highest for code in codes)
    raw = RawServer(tool("run"), mgp=OFFER)
    async with guarded(raw, MgpKernel()) as connection:
        for code in codes:
            raw.answers["tools/call"] = {
                "code": code,
                "message": "no",
                "data": {"_mgp": {"retryable": False}},
            }
            with pytest.raises(RpcError) as raised:
                await connection.mcp.tools_call(name="run")
            assert raised.value.protocol == "mgp"


def test_the_guide_names_what_provokes_each_code() -> None:
    rows = re.findall(r"^\| (\d{4}) \| `(\w+)` \| (.+) \|$", GUIDE.read_text("utf-8"), re.MULTILINE)
    wanted = [(one.code, PROTOCOL.errors[one.error].__name__) for one in ERROR_RULES.values()]
    assert [(int(code), name) for code, name, _ in rows] == wanted
    assert all(len(what) > 20 for _, _, what in rows)


async def test_an_operator_switches_a_tool_off_for_good(tmp_path: Path) -> None:
    from kinwire.storage import open_store

    url = f"sqlite:///{tmp_path}/kernel.db"
    raw = RawServer(tool("run"), tool("other"), mgp=OFFER)

    async def listed_and_called(kernel: MgpKernel) -> tuple[list[str], Any]:
        async with guarded(raw, kernel) as connection:
            names = [one.name async for one in connection.tools()]
            called = await outcome(connection.session.raw("tools/call", {"name": "run"}))
            return names, called if isinstance(called, int) else "called"

    async with open_store(url) as store:
        kernel = MgpKernel(records=await store.records("mgp"))
        assert await listed_and_called(kernel) == (["run", "other"], "called")
        with audited() as events, kernel.acting_as_operator("ann"):
            await kernel.tools.disable("s", "run")
        assert [(one["event_type"], one["actor"]) for one in events] == [
            ("io.kinwire.tool_disabled", {"type": "operator", "id": "ann"})
        ]
        assert await listed_and_called(kernel) == (["other"], 4002)
    async with open_store(url) as store:
        kernel = MgpKernel(records=await store.records("mgp"))
        assert await listed_and_called(kernel) == (["other"], 4002)
        await kernel.tools.enable("s", "run")
        assert await listed_and_called(kernel) == (["run", "other"], "called")
    with pytest.raises(TypeError, match="disable: tool: expected a string"):
        await kernel.tools.disable("s", None)  # type: ignore[arg-type]
    assert errors.ToolDisabledError.default_code == 4002
