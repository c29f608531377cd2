"""MGP together with MCP: MCP does the same, and each extension brings its own and no more.

The peers are raw where they are of the other side.
"""

from __future__ import annotations

from typing import Any

import pytest

from kinwire import Connection, Host, Sampling, SamplingRequest, Server, pair
from kinwire.mcp.context import Context
from kinwire.mgp import MgpKernel, MgpServer
from kinwire.support.background import background
from kinwire_protocols import mcp, mgp
from kinwire_protocols.base import to_wire
from kinwire_protocols.mgp.tables import EXTENSIONS
from tests.runtime.mgp.fixtures_kernel import guarded
from tests.runtime.mgp.raw_peers import Json, RawKernel, RawServer, tool
from tests.runtime.mgp.rules.test_tools import RISKY

pytestmark = pytest.mark.anyio


def everything(*extensions: Any) -> Server:
    server = Server("s", "1", extensions=extensions)

    @server.tool
    async def ask(question: str, context: Context) -> str:
        """Ask the client's model."""
        answer = await context.sample(question, max_tokens=10)
        return str(answer.content)

    @server.resource("notes://all")
    async def notes() -> str:
        """All notes."""
        return "two"

    @server.prompt
    async def greet(name: str) -> str:
        """Greet somebody."""
        return f"Say hello to {name}."

    return server


async def answer(request: Any) -> mcp.CreateMessageResult:
    return mcp.CreateMessageResult(role="assistant", content=mcp.TextContent(text="yes"), model="m")


async def approve(request: SamplingRequest) -> mcp.CreateMessageRequestParams:
    return request.params


async def show(
    request: SamplingRequest, result: mcp.CreateMessageResult
) -> mcp.CreateMessageResult:
    return result


async def walked(connection: Connection) -> list[Any]:
    """Return what a client sees of MCP."""
    stub = connection.mcp
    return [
        to_wire(found)
        for found in (
            await stub.ping(),
            await stub.tools_list(),
            await stub.tools_call(name="ask", arguments={"question": "Is it?"}),
            await stub.resources_list(),
            await stub.resources_read(uri="notes://all"),
            await stub.prompts_list(),
            await stub.prompts_get(name="greet", arguments={"name": "Ada"}),
            await stub.logging_set_level(level="error"),
        )
    ]


@pytest.mark.spec("mgp-1.1-1", "mgp-1.2-1", "mgp-1.5-4")
async def test_mcp_is_the_same_with_and_without_mgp() -> None:
    seen: list[Any] = []
    for with_mgp in (True, False):
        server = everything(MgpServer()) if with_mgp else everything()
        host = Host(
            "h",
            "1",
            sampling=Sampling(answer, approve_request=approve, approve_result=show),
            extensions=[MgpKernel()] if with_mgp else [],
        )
        async with pair(server, host) as connection:
            seen.append(await walked(connection))
    assert seen[0] == seen[1]


def serving_all() -> tuple[MgpServer, list[str]]:
    """Return a server's side with a handler for each extension that has methods, and what came."""
    guarded, heard = MgpServer(extensions=list(EXTENSIONS)), list[str]()

    @guarded.on.mgp_access_query
    async def query(params: mgp.AccessQueryParams) -> mgp.AccessQueryResult:
        return mgp.AccessQueryResult(permission="deny", source="default_policy")

    @guarded.on.notifications_mgp_audit
    async def audit(params: mgp.AuditNotificationParams) -> None:
        heard.append(params.event_type)

    @guarded.on.mgp_health_ping
    async def ping(params: mgp.HealthPingParams) -> mgp.HealthPingResult:
        return mgp.HealthPingResult(status="healthy", timestamp="now")

    @guarded.on.mgp_stream_cancel
    async def cancel(params: mgp.StreamCancelParams) -> mgp.StreamCancelResult:
        return mgp.StreamCancelResult(cancelled=False)

    @guarded.on.mgp_events_subscribe
    async def subscribe(params: mgp.EventsSubscribeParams) -> mgp.EventsSubscribeResult:
        return mgp.EventsSubscribeResult(subscribed=[], unsupported=[], subscription_id="1")

    @guarded.on.mgp_discovery_list
    async def discover(params: mgp.DiscoveryListParams) -> mgp.DiscoveryListResult:
        return mgp.DiscoveryListResult(servers=[])

    @guarded.on.mgp_tools_discover
    async def search(params: mgp.ToolsDiscoverParams) -> mgp.ToolsDiscoverResult:
        return mgp.ToolsDiscoverResult(tools=[])

    return guarded, heard


CALLS: dict[str, tuple[str, Json]] = {
    "security": ("mgp/permission/request", {"request_id": "1", "permissions": []}),
    "access_control": ("mgp/access/query", {"agent_id": "a", "server_id": "s", "tool_name": "t"}),
    "lifecycle": ("mgp/health/ping", {"timestamp": "now"}),
    "streaming": ("mgp/stream/cancel", {"request_id": 1}),
    "bidirectional": ("mgp/events/subscribe", {"channels": []}),
    "discovery": ("mgp/discovery/list", {}),
    "tool_discovery": ("mgp/tools/discover", {"query": "read"}),
}
EVENT: Json = {
    "timestamp": "2026-02-27T12:00:00.000Z",
    "event_type": "com.example.seen",
    "actor": {"type": "kernel", "id": "kernel"},
    "result": "SUCCESS",
}


@pytest.mark.parametrize(
    "extension",
    [
        pytest.param(name, marks=pytest.mark.spec(f"mgp-2.2-{row}"))
        for row, name in enumerate(EXTENSIONS, start=6)
    ],
)
@pytest.mark.spec("mgp-1.2-2")
async def test_an_extension_brings_its_methods_and_no_others(extension: str) -> None:
    served, heard = serving_all()
    server, raw = Server("s", "1", extensions=[served]), RawKernel()
    async with background() as tasks:
        tasks.start_soon(server.serve, raw)
        found = await raw.greet({"version": "0.2.0", "extensions": [extension]})
        assert found["mgp"]["extensions"] == [extension]
        for name, (method, params) in CALLS.items():
            reply = await raw.ask(name, method, params)
            assert ("result" in reply) is (name == extension), reply
        raw.say(method="notifications/mgp.audit", params=EVENT)
        await raw.ask("end", "ping", {})
        assert bool(heard) is (extension == "audit")
        tasks.cancel_scope.cancel()


@pytest.mark.spec("mgp-4.2-2", "mgp-2.2-3", "mgp-1.1-2")
async def test_a_plain_host_gets_along_with_what_a_server_sends_of_mgp() -> None:
    offer = {"version": "0.2.0", "extensions": ["security", "audit"]}
    raw = RawServer(tool("think", security={"risk_level": "dangerous"}), mgp=offer)
    async with Host("h", "1") as host:
        connection = await host.connect(raw)
        raw.say(method="notifications/mgp.audit", params=EVENT)
        assert [one.name async for one in connection.tools()] == ["think"]
        assert (await connection.mcp.tools_call(name="think")).content
    assert "mgp" not in str([one for one in raw.heard if "method" in one])


@pytest.mark.spec("mgp-4.3-5", "mgp-4.3-1", "mgp-4.4-2")
async def test_the_kernel_finds_the_risk_of_what_a_server_lists() -> None:
    offer = {"version": "0.2.0", "extensions": ["security"]}
    for definition, risk in RISKY:
        kernel, raw = MgpKernel(), RawServer(definition, mgp=offer)
        async with guarded(raw, kernel) as connection:
            assert [one.name async for one in connection.tools()] == [definition["name"]]
            (known,) = kernel.servers[0].tools.values() or [
                await kernel.servers[0].tool_list.find(definition["name"])  # type: ignore[union-attr]
            ]
        assert known is not None
        assert known.risk == risk, definition
