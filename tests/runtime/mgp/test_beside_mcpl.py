"""MGP and MCP Live on one connection: neither takes the other's protection away."""

from __future__ import annotations

import pytest

from kinwire import Extension, Host
from kinwire.mcpl import McplHost
from kinwire.mgp import MgpKernel
from tests.runtime.mgp.fixtures_kernel import outcome
from tests.runtime.mgp.raw_peers import Json, RawServer, tool

pytestmark = pytest.mark.anyio

LIVE: Json = {
    "version": "0.4",
    "featureSets": {"notes.edit": {"description": "Edit", "uses": ["tools"]}},
}
MGP: Json = {"version": "0.2.0", "extensions": ["security", "access_control"]}


@pytest.mark.parametrize("kernel_first", [True, False])
async def test_a_tool_that_is_hidden_from_one_agent_keeps_its_set_for_others(
    kernel_first: bool,
) -> None:
    live, kernel = McplHost(), MgpKernel()  # no set is enabled
    await kernel.access.grant("agent.a", "s", "deny", tool="edit")
    raw = RawServer(
        tool("read"),
        tool("edit", featureSet="notes.edit"),
        mgp=MGP,
        capabilities={"experimental": {"mcpl": LIVE}},
    )
    extensions: list[Extension] = [kernel, live] if kernel_first else [live, kernel]
    async with Host("h", "1", extensions=extensions) as host:
        connection = await host.connect(raw, server_id="s")
        with kernel.acting_for("agent.a"):
            assert (await connection.mcp.tools_call(name="read")).content
            assert [one.name async for one in connection.tools()] == ["read"]
        with kernel.acting_for("agent.b"):
            refused = await outcome(connection.mcp.tools_call(name="edit"))
    assert refused == -32001
    assert [one["name"] for one in raw.calls] == ["read"]
