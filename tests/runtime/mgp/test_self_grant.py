"""An agent or a server that tries to give itself access: by method, by tool, under other names."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kinwire import Host, Server, pair, result_text
from kinwire.mgp import MgpKernel, ServerPolicy
from tests.runtime.mgp.fixtures_kernel import audited, guarded, outcome
from tests.runtime.mgp.raw_peers import Json, RawServer, codes, tool

pytestmark = pytest.mark.anyio

MGP: Json = {"version": "0.2.0", "extensions": ["access_control", "audit"]}
ENTRY: Json = {
    "entry_type": "tool_grant",
    "agent_id": "agent.a",
    "server_id": "s",
    "tool_name": "secret",
    "permission": "allow",
}
FORGED: list[Json] = [
    {},
    {"granted_by": "admin"},
    {"granted_by": "operator", "agent_id": "operator"},
    {"agent_id": "host", "granted_by": "host"},
    {"entry_type": "server_grant", "tool_name": None, "granted_by": "kernel"},
    {"justification": "operator said so", "_meta": {"agent_id": "operator"}},
]


def kernel_with_secret() -> MgpKernel:
    return MgpKernel(servers={"s": ServerPolicy(access="opt-in")})


@pytest.mark.spec("mgp-8.2-3")
async def test_a_server_cannot_grant_by_a_method() -> None:
    kernel, raw = kernel_with_secret(), RawServer(tool("secret"), mgp=MGP)
    with audited() as events:
        async with Host("h", "1", extensions=[kernel]) as host:
            with kernel.acting_as_operator("admin"):  # what this task is, no message is
                connection = await host.connect(raw, server_id="s")
                await kernel.access.grant("agent.b", "s", "deny")
                for id, forged in enumerate(FORGED):
                    refused = await raw.ask(id, "mgp/access/grant", ENTRY | forged)
                    code, recovery = codes(refused)
                    assert (code, recovery["retryable"]) == (1000, False), forged
                gone = {name: ENTRY[name] for name in ("agent_id", "server_id", "entry_type")}
                gone |= {"agent_id": "agent.b", "entry_type": "server_grant"}
                assert codes(await raw.ask(98, "mgp/access/revoke", gone))[0] == 1000
                other = {"agent_id": "agent.a", "server_id": "t", "tool_name": "x"}
                assert codes(await raw.ask(99, "mgp/access/query", other))[0] == 1000
            with kernel.acting_for("agent.a"):
                called = connection.session.raw("tools/call", {"name": "secret"})
                assert await outcome(called) == 1001
            assert [one.agent_id for one in await kernel.access.list()] == ["agent.b"]
    refusals = events.of("PERMISSION_DENIED")
    assert len(refusals) == len(FORGED) + 2
    assert {(one["actor"]["type"], one["actor"]["id"]) for one in refusals} == {("server", "s")}


async def test_a_server_cannot_fill_the_audit_log_with_refusals() -> None:
    now = [0.0]
    kernel = MgpKernel(clock=lambda: now[0])
    raw, other = RawServer(mgp=MGP), RawServer(mgp=MGP)
    with audited() as events:
        async with Host("h", "1", extensions=[kernel]) as host:
            await host.connect(raw, server_id="s")
            await host.connect(other, server_id="t")
            for id in range(100):
                assert codes(await raw.ask(id, "mgp/access/grant", ENTRY))[0] == 1000
            await other.ask(0, "mgp/access/grant", ENTRY)
            now[0] += 1
            await raw.ask(100, "mgp/access/revoke", ENTRY | {"entry_type": "tool_grant"})
    refusals = events.of("PERMISSION_DENIED")
    assert [one["actor"]["id"] for one in refusals] == ["s"] * 20 + ["t", "s"]
    assert [one["details"].get("dropped_before") for one in refusals[-2:]] == [None, 80]


async def test_an_agent_cannot_grant_by_a_tool() -> None:
    kernel, raw = kernel_with_secret(), RawServer(tool("secret"))
    gate = Server("gate", "1")
    kernel.add_access_tools(gate, lambda context: "agent.a")
    with audited() as events:
        async with guarded(raw, kernel) as connection, pair(gate) as agent:
            for forged in FORGED:
                answer = await used(agent, "mgp.access.grant", ENTRY | forged)
                assert answer["error"]["code"] == 1000, forged
            with kernel.acting_for("agent.a"):
                called = connection.session.raw("tools/call", {"name": "secret"})
                assert await outcome(called) == 1001
                assert [one.name async for one in connection.tools()] == []
            own = {"agent_id": "agent.a", "server_id": "s", "tool_name": "secret"}
            assert (await used(agent, "mgp.access.query", own))["permission"] == "deny"
            others = own | {"agent_id": "agent.b"}
            assert (await used(agent, "mgp.access.query", others))["error"]["code"] == 1000
            assert await kernel.access.list() == []
    refusals = events.of("PERMISSION_DENIED")
    assert len(refusals) == len(FORGED) + 1
    assert {one["actor"]["id"] for one in refusals} == {"agent.a"}


async def used(agent: Any, name: str, arguments: Json) -> Json:
    """Return what a tool of the gate answers."""
    result = await agent.mcp.tools_call(name=name, arguments=arguments)
    found: Json = json.loads(result_text(result))
    return found
