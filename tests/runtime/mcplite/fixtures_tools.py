"""A server with tools of each kind, and calls of it without a transport."""

from __future__ import annotations

__all__ = ("Work", "lite_call", "text_of", "tools")

from typing import Any

import anyio

from kinwire import Context, NeedsAnswers, Promised, Server, ToolError, ToolQuestion
from kinwire.mcplite.rules.calls import ToolCall
from kinwire.mcplite.server.service import LiteServer
from kinwire.mcplite.server.source import ANYONE, LiteCaller


class Work:
    """Work of tools that tests hold back; how often it began and was cancelled is counted."""

    def __init__(self) -> None:
        self.go, self.has_begun = anyio.Event(), anyio.Event()
        self.begun = 0
        self.cancelled = 0

    async def run(self, value: Any) -> Any:
        self.begun += 1
        self.has_begun.set()
        try:
            await self.go.wait()
        except BaseException:
            self.cancelled += 1
            raise
        return value


def tools(work: Work) -> Server:
    """Return a server whose long tools wait for `work`."""
    server = Server("reports", "2.1")
    _add_long(server, work)
    _add_short(server)
    _add_others(server)
    return server


def _add_long(server: Server, work: Work) -> None:
    @server.tool(promise_after=0)
    async def analyze(context: Context, topic: str = "x") -> Any:
        """Analyze a topic."""
        await context.progress(1, 2, "half")
        return await work.run({"topic": topic})

    @server.tool(promise_after=0)
    async def order() -> Promised:
        """Order something."""
        return Promised(lambda: work.run("ordered"), estimated_seconds=20)

    @server.tool
    async def pay(amount: int) -> str:
        """Pay once."""
        return str(await work.run(amount))


def _add_short(server: Server) -> None:
    @server.tool(type="query")
    def search(query: str, limit: int = 10) -> list[dict[str, Any]]:
        """Search through available documents."""
        return [{"document_id": query, "limit": limit}]

    @server.tool(promise_after=60)
    async def quick(fail: bool = False) -> str:
        """Answer in time."""
        if fail:
            raise ToolError("no", code="NO", data=1)
        return "quick"

    @server.tool
    async def report(context: Context, topic: str = "x") -> Any:
        """Write a report."""
        if context.answers is None:
            asked = [ToolQuestion("format", "Which format?", options=["short", "long"])]
            return NeedsAnswers("One thing.", asked, state={"topic": topic})
        return {"answers": dict(context.answers), "state": context.asked_with}


def _add_others(server: Server) -> None:
    @server.tool
    async def needy(context: Context, what: str) -> Any:
        """Need the session."""
        await context.log("info", "no harm")
        await context.progress(1)
        if what == "sample":
            return await context.sample("x", max_tokens=1)
        return await context.roots() if what == "roots" else context.session.identity

    @server.tool
    async def crash() -> None:
        """Fail in a way that nobody foresaw."""
        raise RuntimeError("a secret")

    @server.tool
    async def pieces(fail: bool = False) -> Any:
        """Yield."""
        yield "one "
        yield "two"
        if fail:
            raise ToolError("broken off", code="BROKEN")


async def lite_call(
    server: LiteServer,
    name: str,
    caller: LiteCaller = ANYONE,
    meta: dict[str, Any] | None = None,
    **arguments: Any,
) -> Any:
    """Return the result of a call."""
    return await server.call(ToolCall(name, arguments, meta or {}), caller)


def text_of(result: Any) -> str:
    """Return the text in a result."""
    return "".join(block["text"] for block in result["content"])
