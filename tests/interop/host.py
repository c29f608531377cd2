"""Our host goes through `clients/flow.py` with a server that a test is given."""

from __future__ import annotations

__all__ = ("TIMEOUT", "Session", "new_host", "unknown_members", "use_contract")

from typing import Any

import anyio

from kinwire import Connection, Host, RpcError, Sampling, stdio, unattended
from kinwire.mcpl import Channels, McplHost, PushedEvent
from kinwire_protocols import mcp, mcpl
from kinwire_protocols.base import to_wire
from tests.interop.clients.flow import MODEL, ROOT, SAID, kept, use
from tests.interop.recording import Recorded

TIMEOUT = 60.0  # seconds for everything with one server


class Session:
    """Our side of `flow.Session`."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.news: list[str] = []
        self.progress: list[list[float | None]] = []
        self.logs: list[list[Any]] = []
        self.subscribes = False
        host.on.notifications_tools_list_changed(self._noting("notifications/tools/list_changed"))
        host.on.notifications_resources_list_changed(
            self._noting("notifications/resources/list_changed")
        )
        host.on.notifications_prompts_list_changed(
            self._noting("notifications/prompts/list_changed")
        )
        host.on.notifications_resources_updated(self._noting("notifications/resources/updated"))

    async def open(self, server: Recorded | str) -> Connection:
        """Connect, to a URL too, and stay connected as long as the host is open."""
        target = server if isinstance(server, str) else stdio(*server.words)
        self.connection = await self.host.connect(target, on_log=self._on_log)
        resources = self.connection.capabilities.resources
        self.subscribes = bool(resources and resources.subscribe)
        return self.connection

    def _noting(self, method: str) -> Any:
        async def note(params: Any) -> None:
            self.news.append(method)

        return note

    def _on_log(self, message: mcp.LoggingMessageNotificationParams) -> None:
        self.logs.append([message.level, message.data])

    def _on_progress(self, report: mcp.ProgressNotificationParams) -> None:
        self.progress.append([report.progress, report.total])

    async def server(self) -> dict[str, str]:
        version = self.connection.protocol_version
        return {"server": self.connection.server_info.name, "version": version}

    async def tools(self) -> list[str]:
        return [tool.name async for tool in self.connection.tools()]

    async def resources(self) -> list[str]:
        return [resource.uri async for resource in self.connection.resources()]

    async def templates(self) -> list[str]:
        templates = self.connection.resource_templates()
        return [template.uri_template async for template in templates]

    async def prompts(self) -> list[str]:
        return [prompt.name async for prompt in self.connection.prompts()]

    async def read(self, uri: str) -> str:
        (contents,) = (await self.connection.mcp.resources_read(uri=uri)).contents
        assert isinstance(contents, mcp.TextResourceContents)
        return contents.text

    async def prompt(self, name: str, argument: str, value: str) -> str:
        filled = await self.connection.mcp.prompts_get(name=name, arguments={argument: value})
        return text_of(filled.messages[0].content)

    async def complete(self, prompt: str, argument: str, value: str) -> list[str]:
        done = await self.connection.mcp.completion_complete(
            ref=mcp.PromptReference(name=prompt),
            argument=mcp.CompletionArgument(name=argument, value=value),
        )
        return done.completion.values

    async def call(self, tool: str, arguments: dict[str, Any]) -> str:
        asking = self.connection.with_options(on_progress=self._on_progress, timeout=TIMEOUT)
        result = await asking.mcp.tools_call(name=tool, arguments=arguments)
        assert not result.is_error, result
        return text_of(result.content[0]) if result.content else ""

    async def failure(self, tool: str, arguments: dict[str, Any]) -> int | str | None:
        try:
            result = await self.connection.mcp.tools_call(name=tool, arguments=arguments)
        except RpcError as error:
            return error.code
        return "isError" if result.is_error else None

    async def give_up(self, tool: str, arguments: dict[str, Any] | None = None) -> None:
        with anyio.CancelScope() as scope:
            asking = self.connection.with_options(on_progress=lambda report: scope.cancel())
            await asking.mcp.tools_call(name=tool, arguments=arguments or {})

    async def ping(self) -> None:
        await self.connection.mcp.ping()

    async def set_level(self, level: Any) -> None:
        await self.connection.mcp.logging_set_level(level=level)

    async def subscribe(self, uri: str) -> None:
        await self.connection.mcp.resources_subscribe(uri=uri)

    async def unsubscribe(self, uri: str) -> None:
        await self.connection.mcp.resources_unsubscribe(uri=uri)

    async def roots_changed(self) -> None:
        await self.host.set_roots([ROOT])


def text_of(content: Any) -> str:
    assert isinstance(content, mcp.TextContent)
    return content.text


async def model(params: mcp.CreateMessageRequestParams) -> mcp.CreateMessageResult:
    content = mcp.TextContent(text=SAID)
    return mcp.CreateMessageResult(role="assistant", content=content, model=MODEL)


async def take(event: PushedEvent) -> mcpl.PushEventResult:
    return mcpl.PushEventResult(accepted=True)


def new_host() -> Host:
    """Return a host that speaks MCPL too, of which servers that do not are to notice nothing."""
    sampling = Sampling(model, approve_request=unattended, approve_result=unattended)
    live = McplHost(enabled=["*"], on_push=take, channels=Channels())
    return Host("interop", "1.0", roots=[ROOT], sampling=sampling, extensions=[live])


async def use_contract(server: Recorded | str) -> dict[str, Any]:
    """Return what came of the flow with a server that offers what it expects."""
    host = new_host()
    session = Session(host)
    with anyio.fail_after(TIMEOUT):
        async with host:
            await session.open(server)
            return await use(session)


async def unknown_members(server: Recorded) -> dict[str, bool]:
    """Return which members of the server of unknown members our host shows."""
    with anyio.fail_after(TIMEOUT):
        async with new_host() as host:
            connection = await host.connect(stdio(*server.words))
            (tool,) = [tool async for tool in connection.tools()]
            return kept(to_wire(connection.capabilities), to_wire(tool))
