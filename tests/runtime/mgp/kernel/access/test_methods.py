"""Who may see and change entries by `mgp/access/*`, and by the tools of the same names."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from kinwire import Server
from kinwire.mgp.kernel.access import AccessManager
from kinwire.mgp.kernel.access_methods import AccessMethods
from kinwire.mgp.kernel.access_options import Access, AccessPrincipal
from kinwire.mgp.rules.audit_events import SecurityEvent
from kinwire.storage import open_store
from kinwire.testing import pair
from kinwire_protocols.base import JsonObject, from_wire, to_wire
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.mgp.errors import PermissionDeniedError
from kinwire_protocols.mgp.models import AccessGrantParams, AccessQueryParams, AccessRevokeParams
from tests.runtime.storage.fixtures_engines import Clock

pytestmark = pytest.mark.anyio

AGENT = AccessPrincipal("agent", "agent.a")
SERVER = AccessPrincipal("server", "files")
OPERATOR = AccessPrincipal("operator", "operator")
CONSOLE = AccessPrincipal("server", "console")
GRANT: JsonObject = {
    "entry_type": "server_grant",
    "agent_id": "agent.a",
    "server_id": "files",
    "tool_name": None,
    "permission": "allow",
    "granted_by": "admin",
    "justification": "Required for agent reasoning",
    "expires_at": None,
}
REVOKE: JsonObject = {"agent_id": "agent.a", "server_id": "files", "entry_type": "server_grant"}
QUERY: JsonObject = {"agent_id": "agent.a", "server_id": "files", "tool_name": "read"}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Kernel:
    def __init__(self, records: Any, options: Access) -> None:
        self.events: list[SecurityEvent] = []
        clock = Clock()
        clock.now = 1_772_193_600.0

        async def record(event: SecurityEvent) -> None:
            self.events.append(event)

        self.access = AccessManager(records, clock, lambda server: "opt-in", record)
        self.methods = AccessMethods(self.access, options, clock, record)

    async def grant(self, caller: AccessPrincipal, **changes: Any) -> JsonObject:
        params = from_wire(AccessGrantParams, {**GRANT, **changes})
        return to_wire(await self.methods.grant(params, caller))

    async def revoke(self, caller: AccessPrincipal, **changes: Any) -> JsonObject:
        params = from_wire(AccessRevokeParams, {**REVOKE, **changes})
        return to_wire(await self.methods.revoke(params, caller))

    async def query(self, caller: AccessPrincipal, **changes: Any) -> JsonObject:
        params = from_wire(AccessQueryParams, {**QUERY, **changes})
        return to_wire(await self.methods.query(params, caller))


@asynccontextmanager
async def kernel(options: Access | None = None) -> AsyncGenerator[Kernel]:
    async with open_store("memory:") as store:
        yield Kernel(await store.records("mgp"), options or Access())


async def test_only_an_operator_changes_entries_and_each_refusal_is_audited() -> None:
    def fails(caller: AccessPrincipal) -> bool:
        raise RuntimeError("broken")

    truthy: Any = lambda caller: "yes"  # noqa: E731
    for options in (Access(), Access(is_operator=fails), Access(is_operator=truthy)):
        async with kernel(options) as here:
            for caller in (AGENT, SERVER, CONSOLE):
                for change in (here.grant, here.revoke):
                    with pytest.raises(PermissionDeniedError) as refused:
                        await change(caller, agent_id="operator")
                    assert refused.value.code == 1000
            assert await here.access.list() == []
            assert len(here.events) == 6
            outcomes = {(event.event_type, event.result) for event in here.events}
            assert outcomes == {("PERMISSION_DENIED", "BLOCKED")}
            kinds = [event.actor_type for event in here.events]
            assert kinds == ["agent"] * 2 + ["server"] * 4
            assert {event.details["method"] for event in here.events} == {
                "mgp/access/grant",
                "mgp/access/revoke",
            }


async def test_a_caller_sees_only_what_is_about_itself() -> None:
    async with kernel() as here:
        await here.access.grant("agent.a", "files")
        assert (await here.query(AGENT))["permission"] == "allow"
        assert (await here.query(SERVER, agent_id="agent.b"))["permission"] == "deny"
        for caller, changes in (
            (AGENT, {"agent_id": "agent.b"}),
            (SERVER, {"server_id": "mail"}),
            (AccessPrincipal("server", "agent.a"), {"server_id": "files"}),
            (AccessPrincipal("agent", "files"), {"agent_id": "agent.a"}),
        ):
            before = len(here.events)
            with pytest.raises(PermissionDeniedError):
                await here.query(caller, **changes)
            assert here.events[before].details["method"] == "mgp/access/query"
        assert (await here.query(OPERATOR, agent_id="agent.b"))["permission"] == "deny"


async def test_an_operator_may_be_a_server_and_grants_in_its_own_name() -> None:
    async with kernel(Access(is_operator=lambda caller: caller == CONSOLE)) as here:
        entry = await here.grant(CONSOLE, granted_by="root")
        assert entry == {**GRANT, "granted_by": "server:console", "granted_at": entry["granted_at"]}
        found = await here.query(SERVER)
        assert found == {
            "permission": "allow",
            "source": "server_grant",
            "granted_by": "server:console",
            "granted_at": "2026-02-27T12:00:00.000Z",
            "expires_at": None,
        }
        with pytest.raises(PermissionDeniedError):
            await here.grant(AccessPrincipal("agent", "console"))
        gone = await here.revoke(CONSOLE)
        assert gone == {"revoked": True, "entry": entry}
        assert (await here.revoke(CONSOLE)) == {"revoked": False}
        assert (await here.grant(OPERATOR, granted_by="root"))["granted_by"] == "operator"


async def test_entries_that_cannot_be_are_refused() -> None:
    wrong: list[JsonObject] = [
        {"entry_type": "tool_grant"},
        {"tool_name": "read"},
        {"agent_id": ""},
        {"server_id": "x" * 257},
        {"entry_type": "tool_grant", "tool_name": "a\x1b[0m"},
        {"entry_type": "tool_grant", "tool_name": ""},
        {"justification": "x" * 1001},
        {"expires_at": "2026-02-27T12:00:00Z"},
        {"expires_at": "tomorrow"},
    ]
    async with kernel() as here:
        for changes in wrong:
            with pytest.raises(InvalidParamsError):
                await here.grant(OPERATOR, **changes)
        with pytest.raises(InvalidParamsError):
            await here.revoke(OPERATOR, entry_type="tool_grant")
        with pytest.raises(InvalidParamsError):
            await here.query(OPERATOR, tool_name="")
        ends = "2026-02-27T13:00:01+01:00"
        entry = await here.grant(OPERATOR, expires_at=ends)
        assert entry["expires_at"] == "2026-02-27T12:00:01.000Z"
        assert len(await here.access.list()) == 1


async def test_the_tools_do_what_the_methods_do_for_the_agent_that_the_kernel_knows() -> None:
    async with kernel() as here:
        server = Server("kernel", "1")
        here.methods.add_tools(server, lambda context: "agent.a")
        async with pair(server) as client:
            listed = [tool.name async for tool in client.tools()]
            assert listed == ["mgp.access.query", "mgp.access.grant", "mgp.access.revoke"]

            async def call(name: str, arguments: JsonObject) -> Any:
                found = to_wire(await client.mcp.tools_call(name=name, arguments=arguments))
                return found.get("isError"), json.loads(found["content"][0]["text"])

            await here.access.grant("agent.a", "files", tool="read")
            failed, said = await call("mgp.access.query", QUERY)
            assert (failed, said["permission"], said["source"]) == (None, "allow", "tool_grant")
            forged = {**QUERY, "agent_id": "agent.b"}
            for name, arguments in (
                ("mgp.access.query", forged),
                ("mgp.access.grant", GRANT),
                ("mgp.access.grant", {**GRANT, "agent_id": "operator", "granted_by": "operator"}),
                ("mgp.access.revoke", REVOKE),
            ):
                failed, said = await call(name, arguments)
                assert failed is True
                assert said["error"]["code"] == 1000
        assert [event.actor_id for event in here.events[1:]] == ["agent.a"] * 4
        assert [one.tool_name for one in await here.access.list()] == ["read"]
