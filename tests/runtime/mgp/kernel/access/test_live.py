"""Access over live sessions: raw servers ask, agents call, and only an operator changes entries."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest

from kinwire import Host, Server
from kinwire.mgp import Access, MgpKernel, ServerPolicy
from kinwire.mgp.kernel.access import AccessManager
from kinwire.storage import open_store
from kinwire.testing import pair
from kinwire_protocols.base import to_wire
from tests.runtime.mgp.fixtures_kernel import audited, guarded, outcome
from tests.runtime.mgp.raw_peers import Json, RawServer, codes, tool

pytestmark = pytest.mark.anyio

MGP: Json = {"version": "0.2.0", "extensions": ["access_control"]}
THINK = {"agent_id": "agent.cloto_default", "server_id": "mind.cerebras", "tool_name": "think"}
GRANT: Json = {
    "entry_type": "server_grant",
    "agent_id": "agent.cloto_default",
    "server_id": "mind.cerebras",
    "tool_name": None,
    "permission": "allow",
    "granted_by": "admin",
    "justification": "Required for agent reasoning",
    "expires_at": None,
}
REVOKE: Json = {
    "agent_id": "agent.cloto_default",
    "server_id": "mind.cerebras",
    "entry_type": "server_grant",
}
OPT_IN = {"mind.cerebras": ServerPolicy(access="opt-in")}


@pytest.mark.spec("mgp-5.4-mgp-access-query-1", "mgp-5.4-mgp-access-query-2", "mgp-5-1")
async def test_a_server_asks_about_access_to_its_tools() -> None:
    kernel, raw = MgpKernel(servers=OPT_IN), RawServer(tool("think"), mgp=MGP)
    async with guarded(raw, kernel, "mind.cerebras"):
        reply = await raw.ask(3, "mgp/access/query", THINK)
        assert reply["result"] == {
            "permission": "deny",
            "source": "default_policy",
            "granted_by": None,
            "granted_at": None,
            "expires_at": None,
        }
        await kernel.access.grant("agent.cloto_default", "mind.cerebras", tool="think")
        reply = await raw.ask(4, "mgp/access/query", THINK)
        assert (reply["result"]["permission"], reply["result"]["source"]) == ("allow", "tool_grant")
        for missing in THINK:
            params = {name: value for name, value in THINK.items() if name != missing}
            reply = await raw.ask(f"5{missing}", "mgp/access/query", params)
            assert reply["error"]["code"] == -32602
        foreign = await raw.ask(6, "mgp/access/query", {**THINK, "server_id": "other"})
        assert codes(foreign)[0] == 1000


@pytest.mark.spec(
    "mgp-5.4-mgp-access-query-3", "mgp-5.4-mgp-access-grant-1", "mgp-5.4-mgp-access-grant-2"
)
async def test_a_server_that_is_an_operator_grants_by_the_method() -> None:
    access = Access(is_operator=lambda caller: caller.id == "console")
    kernel, console, mind = (
        MgpKernel(servers=OPT_IN, access=access),
        RawServer(mgp=MGP),
        RawServer(tool("think"), mgp=MGP),
    )
    async with Host("h", "1", extensions=[kernel]) as host:
        connection = await host.connect(mind, server_id="mind.cerebras")
        await host.connect(console, server_id="console")
        reply = await console.ask(4, "mgp/access/grant", GRANT)
        entry = reply["result"]
        assert entry == {**GRANT, "granted_by": "server:console", "granted_at": entry["granted_at"]}
        found = (await mind.ask(3, "mgp/access/query", THINK))["result"]
        assert found == {
            "permission": "allow",
            "source": "server_grant",
            "granted_by": "server:console",
            "granted_at": entry["granted_at"],
            "expires_at": None,
        }
        with kernel.acting_for("agent.cloto_default"):
            await connection.mcp.tools_call(name="think")
        late = {
            **GRANT,
            "entry_type": "tool_grant",
            "tool_name": "t",
            "expires_at": "2999-01-01T00:00:00Z",
        }
        reply = await console.ask(5, "mgp/access/grant", late)
        assert reply["result"]["expires_at"] == "2999-01-01T00:00:00.000Z"
        for name in ("entry_type", "agent_id", "server_id", "permission"):
            params = {key: value for key, value in GRANT.items() if key != name}
            reply = await console.ask(f"6{name}", "mgp/access/grant", params)
            assert reply["error"]["code"] == -32602
        for name in ("tool_name", "granted_by", "justification", "expires_at"):
            params = {key: value for key, value in GRANT.items() if key != name}
            assert "result" in await console.ask(f"7{name}", "mgp/access/grant", params)


@pytest.mark.spec("mgp-5.4-mgp-access-revoke-1", "mgp-5.4-mgp-access-revoke-2", "mgp-5.4-1")
async def test_a_revocation_counts_for_the_next_call_of_an_open_session() -> None:
    access = Access(is_operator=lambda caller: caller.id == "mind.cerebras")
    kernel, raw = MgpKernel(servers=OPT_IN, access=access), RawServer(tool("think"), mgp=MGP)
    async with guarded(raw, kernel, "mind.cerebras") as connection:
        entry = await kernel.access.grant("agent.cloto_default", "mind.cerebras")
        with kernel.acting_for("agent.cloto_default"):
            await connection.mcp.tools_call(name="think")
            reply = await raw.ask(5, "mgp/access/revoke", REVOKE)
            assert reply["result"] == {"revoked": True, "entry": to_wire(entry)}
            assert await outcome(connection.mcp.tools_call(name="think")) == 1001
        assert (await raw.ask(6, "mgp/access/revoke", REVOKE))["result"] == {"revoked": False}
        for missing in REVOKE:
            params = {name: value for name, value in REVOKE.items() if name != missing}
            reply = await raw.ask(f"7{missing}", "mgp/access/revoke", params)
            assert reply["error"]["code"] == -32602
    assert len(raw.calls) == 1


@pytest.mark.spec("mgp-5.5-1", "mgp-5.5-2", "mgp-5.1-1")
async def test_the_default_policy_decides_without_an_entry() -> None:
    policies = {name: ServerPolicy(access=name) for name in ("opt-in", "opt-out")}
    policies |= {"sandboxed": ServerPolicy(trust="sandboxed"), "standard": ServerPolicy()}
    kernel, outcomes = MgpKernel(servers=policies), dict[str, Any]()
    async with Host("h", "1", extensions=[kernel]) as host:
        for name in policies:
            connection = await host.connect(RawServer(tool("get_x")), server_id=name)
            listed = [one.name async for one in connection.tools()]
            code = await outcome(connection.mcp.tools_call(name="get_x"))
            outcomes[name] = (listed, code if isinstance(code, int) else 0)
    refused: Any = ([], 1001)
    done: Any = (["get_x"], 0)
    assert outcomes == {
        "opt-in": refused,
        "opt-out": done,
        "sandboxed": refused,
        "standard": done,
    }


@pytest.mark.spec("mgp-5.2-1", "mgp-5.3-1", "mgp-5.3-2")
async def test_an_entry_for_a_tool_outranks_one_for_its_server_in_any_order() -> None:
    raw, kernel = RawServer(tool("t"), tool("u"), mgp=MGP), MgpKernel()
    async with guarded(raw, kernel) as connection:

        async def seen() -> Any:
            with kernel.acting_for("agent.a"):
                shown = [one.name async for one in connection.tools()]
                ends = [await outcome(connection.mcp.tools_call(name=name)) for name in "tu"]
            sources = [(await kernel.access.query("agent.a", "s", name)).source for name in "tu"]
            return shown, [isinstance(one, int) and one for one in ends], sources

        entries: list[Any] = [("allow", None), ("deny", "t")]
        for order in (entries, entries[::-1]):
            for permission, name in order:
                await kernel.access.grant("agent.a", "s", permission, tool=name)
            assert await seen() == (["u"], [1001, False], ["tool_grant", "server_grant"])
        await kernel.access.grant("agent.a", "s", "deny")
        await kernel.access.grant("agent.a", "s", "allow", tool="t")
        assert await seen() == (["t"], [False, 1001], ["tool_grant", "server_grant"])


async def test_an_agent_cannot_grant_itself_access_by_method_tool_or_forged_names() -> None:
    kernel, raw = MgpKernel(servers=OPT_IN), RawServer(tool("think"), mgp=MGP)
    console = Server("kernel", "1")
    kernel.add_access_tools(console, lambda context: "agent.cloto_default")
    forged: list[Json] = [
        GRANT,
        {**GRANT, "agent_id": "operator", "granted_by": "operator"},
        {**GRANT, "agent_id": "host", "server_id": "kernel"},
        {**GRANT, "operator": True, "_meta": {"principal": "operator"}},
    ]
    with audited() as events:
        async with guarded(raw, kernel, "mind.cerebras") as connection, pair(console) as client:
            with kernel.acting_as_operator("admin"):  # not for what messages ask for
                for number, params in enumerate(forged):
                    reply = await raw.ask(number, "mgp/access/grant", params)
                    code, recovery = codes(reply)
                    assert (code, recovery["retryable"]) == (1000, False)
                    found = to_wire(
                        await client.mcp.tools_call(name="mgp.access.grant", arguments=params)
                    )
                    assert json.loads(found["content"][0]["text"])["error"]["code"] == 1000
            revoked = await raw.ask("r", "mgp/access/revoke", REVOKE)
            assert codes(revoked)[0] == 1000
            with kernel.acting_for("agent.cloto_default"):
                assert await outcome(connection.mcp.tools_call(name="think")) == 1001
        assert await kernel.access.list() == []
    refused = events.of("PERMISSION_DENIED")
    actors = [(one["actor"]["type"], one["actor"]["id"]) for one in refused]
    assert actors == 4 * [("server", "mind.cerebras"), ("agent", "agent.cloto_default")] + [
        ("server", "mind.cerebras")
    ]
    assert {one["result"] for one in refused} == {"BLOCKED"}
    assert not events.of("ACCESS_GRANTED", "ACCESS_REVOKED")


async def test_denials_survive_a_reconnect_and_a_restart_and_names_are_not_inherited() -> None:
    async with open_store("memory:") as store:
        records = await store.records("mgp")

        async def call(server_id: str | None, name: str = "think") -> Any:
            kernel = MgpKernel(records=records)
            async with guarded(RawServer(tool("think")), kernel, server_id) as connection:
                found = await outcome(connection.mcp.tools_call(name=name))
                return found if isinstance(found, int) else 0

        first = MgpKernel(records=records)
        async with guarded(RawServer(tool("think")), first, "elsewhere"):
            await first.access.grant("host", "elsewhere", "deny")
        assert await call("elsewhere") == 1001
        assert await call("elsewhere") == 1001
        await first.access.revoke("host", "elsewhere")
        assert await call("elsewhere") == 0
        assert await call("elsewhere") == 0
        # A server that calls itself `elsewhere` has neither the grants nor the denials of it.
        unknown = ServerPolicy(access="opt-in")
        await first.access.grant("host", "elsewhere")
        kernel = MgpKernel(records=records, unknown=unknown)
        async with guarded(RawServer(tool("think")), kernel, None) as connection:
            assert connection.server_info.name == "elsewhere"
            assert await outcome(connection.mcp.tools_call(name="think")) == 1001


async def test_what_another_process_changes_counts_for_the_next_call(tmp_path: Any) -> None:
    url = f"sqlite:///{tmp_path}/kernel.db"
    async with open_store(url) as store, open_store(url) as other:
        kernel = MgpKernel(records=await store.records("mgp"))

        async def record(event: object) -> None:
            await anyio.lowlevel.checkpoint()

        elsewhere = AccessManager(
            await other.records("mgp"), lambda: 0.0, lambda server: "opt-out", record
        )
        async with guarded(RawServer(tool("think")), kernel) as connection:
            for _ in range(3):
                await elsewhere.grant("host", "s", "deny")
                assert await outcome(connection.mcp.tools_call(name="think")) == 1001
                assert [one async for one in connection.tools()] == []
                await elsewhere.revoke("host", "s")
                assert not isinstance(await outcome(connection.mcp.tools_call(name="think")), int)
