"""kinwire as its users write it.

usage: ours.py plain|row|orjson|fast|trio serve|memory|http|ws|client [COMMAND...|URL]

`plain` is asyncio without the extra `fast`, `orjson` adds that, `fast` uvloop too. `row` in place
of `plain` serves by a handler of models, which is what `floor.py` does.
"""

from __future__ import annotations

import sys
from typing import Any

import anyio

VARIANT, MODE, *COMMAND = sys.argv[1:]
if VARIANT not in ("orjson", "fast"):
    sys.modules["orjson"] = None  # type: ignore[assignment] # makes an import of it fail

from kinwire import Connection, Host, Server, stdio  # noqa: E402
from kinwire.transports.memory import memory_pair  # noqa: E402
from kinwire.transports.stdio import OwnStdio  # noqa: E402
from kinwire_protocols import mcp  # noqa: E402
from tests.bench.programs.driving import Work, drive, gather  # noqa: E402
from tests.bench.programs.listening import listen  # noqa: E402

server = Server("echo", "1")


async def echo(text: str) -> str:
    """Return the text."""
    return text


async def tools_call(params: mcp.CallToolRequestParams) -> mcp.CallToolResult:
    text = (params.arguments or {})["text"]
    return mcp.CallToolResult(content=[mcp.TextContent(text=text)])


if VARIANT == "row":
    server.on.tools_call(tools_call)
else:
    server.tool(echo)


async def serve() -> None:
    await server.serve(OwnStdio())


async def group(work: Work, times: int) -> None:
    async with anyio.create_task_group() as tasks:
        for _ in range(times):
            tasks.start_soon(work)


async def use(connection: Connection) -> None:
    await drive(
        lambda text: connection.mcp.tools_call(name="echo", arguments={"text": text}),
        group if VARIANT == "trio" else gather,
    )


async def memory() -> None:
    near, far = memory_pair()  # not `pair`: it records every frame, which no peer does
    async with anyio.create_task_group() as tasks, Host("bench", "0") as host:
        tasks.start_soon(server.serve, far)
        await use(await host.connect(near))


async def client() -> None:
    target = COMMAND[0] if COMMAND[0].startswith("http") else stdio(*COMMAND)
    async with Host("bench", "0") as host:
        await use(await host.connect(target))


if MODE in ("http", "ws"):
    listen(server.asgi(), websocket=MODE == "ws")
    sys.exit()

options: dict[str, Any] = {"use_uvloop": True} if VARIANT == "fast" else {}
modes = {"serve": serve, "memory": memory, "client": client}
anyio.run(
    modes[MODE],
    backend="trio" if VARIANT == "trio" else "asyncio",
    backend_options=options,
)
