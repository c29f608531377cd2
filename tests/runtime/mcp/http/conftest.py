"""The server that the tests of HTTP talk to."""

from __future__ import annotations

import anyio
import pytest

from kinwire import Context, Server, ToolError
from kinwire.rpc.limits import Limits

LIMITS = Limits(drain=0.05, stop=0.2, request_timeout=5)


class Tools:
    """A server, and the strings that its tools hang on."""

    def __init__(self) -> None:  # noqa: C901, PLR0915 - a list of small tools
        self.server = server = Server("tools", "1", limits=LIMITS, offers=["resources"])
        self.go_on = anyio.Event()
        self.cancelled = anyio.Event()
        self.running = 0

        @server.tool
        async def echo(text: str) -> str:
            return text

        @server.tool
        async def fail() -> str:
            raise ToolError("as asked")

        @server.tool
        async def wait(context: Context, text: str = "done", steps: int = 0) -> str:
            """Report progress `steps` times, then wait until the test goes on."""
            for step in range(steps):
                await context.progress(step + 1)
            self.running += 1
            try:
                await self.go_on.wait()
            except anyio.get_cancelled_exc_class():
                self.cancelled.set()
                raise
            finally:
                self.running -= 1
            return text

        @server.tool
        async def steps(context: Context, count: int) -> str:
            """Log `count` messages."""
            for step in range(count):
                await context.log("info", step)
            return "done"

        @server.tool
        async def roots(context: Context) -> str:
            """Ask the client."""
            return ", ".join(str(root.uri) for root in await context.roots())

        @server.tool
        async def grow() -> str:
            """Have something new to tell every client."""
            server.tool(name="later")(echo)
            return "grown"


@pytest.fixture
async def tools(anyio_backend: object) -> Tools:
    return Tools()
