"""What else a tool may return: over MCP a promise is awaited, and questions are an error."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from kinwire import (
    Connection,
    Context,
    NeedsAnswers,
    Promised,
    Server,
    ToolError,
    ToolQuestion,
    pair,
    result_text,
)
from kinwire.mcp import context as context_module
from kinwire_protocols import mcp
from tests.each import each

pytestmark = pytest.mark.anyio


def server() -> Server:
    made = Server("s", "1")

    @made.tool(type="query", promise_after=0)
    async def long(seconds: float = 0.0) -> str:
        await anyio.sleep(seconds)
        return "done"

    @made.tool(promise_after=0)
    def threaded() -> str:
        return "from a thread"

    @made.tool
    async def promised(kind: str) -> Promised:
        async def work() -> Any:
            if kind == "error":
                raise ToolError("failed", code="X", data=[1])
            if kind == "again":
                return Promised(work_of_another)
            return NeedsAnswers("Which?") if kind == "questions" else {"n": 1}

        return Promised(work, estimated_seconds=9)

    @made.tool
    async def asking(context: Context) -> NeedsAnswers:
        assert (context.answers, context.asked_with) == (None, None)
        asked = [ToolQuestion("f", "Which format?", options=["a", "b"]), ToolQuestion("t", "What?")]
        return NeedsAnswers("Two things.", asked)

    made.add_tool(mcp.Tool(name="own", input_schema=mcp.ToolInputSchema()), own, promise_after=1.5)
    return made


async def work_of_another() -> str:
    return "again"


async def own(params: mcp.CallToolRequestParams) -> Any:
    return Promised(work_of_another)


@each(
    ("name", "arguments", "text", "is_error"),
    [
        ("long", {}, "done", None),
        ("threaded", {}, "from a thread", None),
        ("promised", {"kind": "value"}, '{"n":1}', None),
        ("promised", {"kind": "again"}, "again", None),
        ("promised", {"kind": "error"}, "failed", True),
        ("promised", {"kind": "questions"}, "Which?", True),
        ("asking", {}, "Two things.\n- f: Which format? (a, b)\n- t: What?", True),
        ("own", {}, "again", None),
    ],
)
async def test_what_comes_of_a_tool_over_mcp(
    name: str, arguments: dict[str, Any], text: str, is_error: bool | None
) -> None:
    async with pair(server()) as connection:
        result = await connection.mcp.tools_call(name=name, arguments=arguments)
        assert (result_text(result), result.is_error) == (text, is_error)


@pytest.mark.spec("mcp-lite-1-5", "mcp-lite-3.9-2")
async def test_the_type_of_a_tool_is_in_the_list_of_mcp_too() -> None:
    async with pair(server()) as connection:
        raw = await connection.session.raw("tools/list", {})
        assert [tool.get("@type") for tool in raw["tools"]][:2] == ["query", None]


async def test_a_promise_is_awaited_with_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context_module, "_REPORTED_EVERY", 0.002)
    made = Server("s", "1")

    async def work() -> None:
        await anyio.sleep(0.03)

    @made.tool(promise_after=0)
    async def long() -> None:
        await work()

    @made.tool
    async def promised() -> Promised:
        return Promised(work, estimated_seconds=9)

    for name, total in (("long", None), ("promised", 9.0)):
        reports: list[tuple[float, float | None]] = []
        async with pair(made) as connection:
            await reporting(connection, reports).mcp.tools_call(name=name)
        assert len(reports) > 1
        assert {of for _, of in reports} == {total}
        assert reports == sorted(reports)


def reporting(connection: Connection, reports: list[tuple[float, float | None]]) -> Any:
    return connection.with_options(
        on_progress=lambda one: reports.append((one.progress, one.total))
    )


async def test_no_time_is_reported_after_a_tool_has_reported_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(context_module, "_REPORTED_EVERY", 0.001)
    made = Server("s", "1")

    @made.tool(promise_after=0)
    async def work(context: Context) -> None:
        await context.progress(50, 100)
        await anyio.sleep(0.02)

    reports: list[tuple[float, float | None]] = []
    async with pair(made) as connection:
        await reporting(connection, reports).mcp.tools_call(name="work")
    assert reports == [(50, 100)]
