"""Methods, offers and additions of MGP: who sends what, under which names, and where it stands."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from kinwire.rpc.negotiated import Negotiated
from kinwire_protocols import mcp, mgp
from kinwire_protocols.base import JsonObject, from_wire, to_wire
from kinwire_protocols.mgp import augments, tables, tools
from tests.specified import specified

ROWS = specified(mgp.PROTOCOL)

CALLBACK = "13.4-notifications-mgp.callback.request"
REGISTRY = "15.2-Registry-Endpoint-Discovery"


def of(row: str, *values: Any) -> Any:
    return pytest.param(*values, marks=pytest.mark.spec(f"mgp-{row}"), id=str(values[0]))


SENT = [
    of("3.5-1", "mgp/permission/request", "client", mgp.PermissionRequestResult),
    of("3.4-3", "mgp/permission/response", "client", mcp.EmptyResult),
    ("mgp/access/query", "both", mgp.AccessQueryResult),
    ("mgp/access/grant", "both", mgp.AccessEntry),
    ("mgp/access/revoke", "both", mgp.AccessRevokeResult),
    of("6.3-1", "notifications/mgp.audit", "both", None),
    ("mgp/health/ping", "client", mgp.HealthPingResult),
    ("mgp/health/status", "client", mgp.HealthStatusResult),
    ("mgp/lifecycle/shutdown", "client", mgp.LifecycleShutdownResult),
    ("notifications/mgp.lifecycle", "both", None),
    ("notifications/mgp.stream.chunk", "server", None),
    of("12.6-1", "notifications/mgp.stream.progress", "server", None),
    of("12.7-1", "mgp/stream/cancel", "client", mgp.StreamCancelResult),
    ("mgp/events/subscribe", "client", mgp.EventsSubscribeResult),
    ("mgp/events/unsubscribe", "client", mgp.EventsUnsubscribeResult),
    ("notifications/mgp.event", "server", None),
    of(f"{CALLBACK}-1", "notifications/mgp.callback.request", "server", None),
    of("13.4-mgp-callback-respond-1", "mgp/callback/respond", "client", mcp.EmptyResult),
    of(f"{REGISTRY}-1", "mgp/discovery/list", "both", mgp.DiscoveryListResult),
    ("mgp/discovery/register", "both", mgp.DiscoveredServer),
    ("mgp/discovery/deregister", "both", mgp.DiscoveryDeregisterResult),
    ("mgp/tools/discover", "both", mgp.ToolsDiscoverResult),
    ("mgp/tools/request", "both", mgp.ToolsRequestResult),
    ("mgp/tools/session", "both", mgp.ToolsSessionResult),
    ("mgp/tools/session/evict", "both", mgp.ToolsSessionEvictResult),
]


@pytest.mark.parametrize(("name", "sender", "result"), SENT)
def test_a_method_has_a_sender_and_a_result(
    name: str, sender: str, result: type[Any] | None
) -> None:
    row = ROWS[name]
    assert (row.sender, row.result) == (sender, result)
    assert row.kind == ("request" if result else "notification")


@pytest.mark.parametrize("name", ["mgp/health/status", "mgp/tools/session"])
def test_a_method_needs_no_params(name: str) -> None:
    assert to_wire(ROWS[name].decode_params({})) == {}


def test_there_are_25_methods() -> None:
    assert len(ROWS) == len(SENT) == 25


@pytest.mark.spec("mgp-1.5-2", "mgp-1.5-3", "mgp-1.5-4")
def test_names_begin_as_they_should_and_none_is_one_of_mcp() -> None:
    begin = {"request": tables.METHOD_PREFIX, "notification": tables.NOTIFICATION_PREFIX}
    assert begin == {"request": "mgp/", "notification": "notifications/mgp."}
    assert all(name.startswith(begin[row.kind]) for name, row in ROWS.items())
    names = {name for row in ROWS.values() for name in row.names}
    assert not names & mcp.PROTOCOL.methods.keys()


@pytest.mark.parametrize(
    ("later", "name"),
    [
        ("mgp/permission/await", "mgp/permission/request"),
        ("mgp/permission/grant", "mgp/permission/response"),
    ],
)
def test_a_later_name_leads_to_the_same_method(later: str, name: str) -> None:
    assert mgp.PROTOCOL.method(later) is ROWS[name]


def offers(client: list[str] | None, server: list[str] | None) -> Negotiated:
    def capabilities(extensions: list[str] | None) -> JsonObject:
        return {} if extensions is None else {"mgp": {"version": "0.2.0", "extensions": extensions}}

    return Negotiated(capabilities(client), capabilities(server), {"mgp": mgp.PROTOCOL.capability})


GATED = [
    of("12.2-1", "mgp/stream/cancel", "streaming"),
    of("16.2-1", "mgp/tools/discover", "tool_discovery"),
    ("mgp/permission/request", "security"),
    ("mgp/access/query", "access_control"),
    ("notifications/mgp.audit", "audit"),
    ("mgp/health/ping", "lifecycle"),
    ("mgp/events/subscribe", "bidirectional"),
    ("mgp/discovery/list", "discovery"),
]


@pytest.mark.parametrize(("name", "extension"), GATED)
@pytest.mark.spec("mgp-1.2-2")
def test_a_method_needs_its_extension_in_both_offers(name: str, extension: str) -> None:
    both = [extension, "other"]
    assert offers(both, both).denial_reason(ROWS[name]) is None
    for without in (["other"], [], None):
        assert offers(both, without).denial_reason(ROWS[name])
        assert offers(without, both).denial_reason(ROWS[name])


CLIENT = {"version": "0.1.0", "extensions": ["security", "access_control", "audit"]}
SERVER = {"version": "0.1.0", "extensions": ["security"], "trust_level": "standard"}


@pytest.mark.spec("mgp-2.1-2", "mgp-2.2-1", "mgp-2.2-2")
def test_the_clients_offer_is_an_optional_field_of_its_capabilities() -> None:
    capabilities = from_wire(mcp.ClientCapabilities, {"roots": {}, "mgp": CLIENT})
    offer = augments.CLIENT_CAPABILITIES_MGP.read(capabilities)
    assert offer == from_wire(mgp.ClientOffer, CLIENT)
    assert augments.CLIENT_CAPABILITIES_MGP.read({"roots": {}}) is None
    bare = augments.CLIENT_CAPABILITIES_MGP.write(capabilities, None)
    assert to_wire(bare) == {"roots": {}}
    assert mgp.PROTOCOL.capability == "mgp"


@pytest.mark.spec("mgp-2.1-3", "mgp-2.3-1")
def test_the_servers_offer_is_a_field_next_to_capabilities_of_mcp() -> None:
    capabilities = from_wire(mcp.ServerCapabilities, {"tools": {}})
    offered = augments.SERVER_CAPABILITIES_MGP.write(
        capabilities, from_wire(mgp.ServerOffer, SERVER)
    )
    assert to_wire(offered) == {"tools": {}, "mgp": SERVER}
    assert augments.SERVER_CAPABILITIES_MGP.read(offered) == from_wire(mgp.ServerOffer, SERVER)
    assert mgp.PROTOCOL.capability_aliases == ("experimental.mgp",)


TOOL = {"name": "execute_command", "inputSchema": {"type": "object"}}
SECURITY = {"risk_level": "dangerous", "permissions_required": ["shell.execute"]}


@pytest.mark.spec("mgp-4.1-1")
def test_security_is_a_member_of_a_tool_that_mcp_passes_over() -> None:
    listed = {"tools": [{**TOOL, "security": SECURITY}, TOOL]}
    result = from_wire(mcp.ListToolsResult, listed)
    assert to_wire(result) == listed
    first, second = result.tools
    assert augments.TOOL_SECURITY.read(first) == from_wire(mgp.ToolSecurity, SECURITY)
    assert augments.TOOL_SECURITY.read(second) is None


def test_security_of_a_tool_that_takes_code_names_its_validator() -> None:
    security = {**SECURITY, "validator": "code_safety", "code_safety": {"level": "strict"}}
    read = augments.TOOL_SECURITY.read({**TOOL, "security": security})
    assert read is not None
    assert read.code_safety is not None
    assert (read.validator, read.code_safety.level) == ("code_safety", "strict")


@pytest.mark.parametrize(
    ("member", "message"),
    [
        of("12.3-1", augments.TOOLS_CALL_PARAMS_MGP, {"name": "think", "_mgp": {"stream": True}}),
        of("12.5-3", augments.TOOLS_CALL_RESULT_MGP, {"content": [], "_mgp": {"streamed": True}}),
    ],
)
def test_mcp_passes_over_what_mgp_adds_to_a_call(member: Any, message: JsonObject) -> None:
    part = mcp.CallToolRequestParams if "name" in message else mcp.CallToolResult
    as_mcp = from_wire(part, message)
    assert to_wire(as_mcp) == message
    assert to_wire(member.read(as_mcp)) == message["_mgp"]
    with pytest.raises(ValidationError):
        member.read({**message, "_mgp": {next(iter(message["_mgp"])): "yes"}})


@pytest.mark.parametrize("params", [{}, {"name": "think"}, {"_meta": {"progressToken": 1}}])
def test_params_of_any_request_may_carry_a_trace_id(params: JsonObject) -> None:
    trace = "550e8400-e29b-41d4-a716-446655440000"
    written = augments.EVERY_PARAMS_TRACE_ID.write(params, trace)
    assert written == {**params, "trace_id": trace}
    assert augments.EVERY_PARAMS_TRACE_ID.read(written) == trace
    assert augments.EVERY_PARAMS_TRACE_ID.read(params) is None


KERNEL = [name for name in ROWS if name.startswith(("mgp/access", "mgp/discovery", "mgp/tools"))]


@pytest.mark.parametrize("name", KERNEL)
def test_what_a_kernel_answers_is_a_tool_of_it_too(name: str) -> None:
    row, tool = ROWS[name], getattr(tools, f"{ROWS[name].attribute.upper()}_TOOL")
    assert tool.name == name.replace("/", ".")
    assert tool.aliases == (name, name.replace("/", "_"))
    assert (tool.params, tool.result) == (row.params, row.result)


AUDITED = {
    "timestamp": "2026-02-27T12:00:00.000Z",
    "event_type": "SERVER_CONNECTED",
    "actor": {"type": "kernel", "id": "kernel"},
    "result": "SUCCESS",
}


def test_an_audit_event_has_its_trace_id_as_a_member_of_its_own() -> None:
    event = from_wire(mgp.AuditNotificationParams, {**AUDITED, "trace_id": "t-1"})
    assert augments.EVERY_PARAMS_TRACE_ID.read(event) == event.trace_id == "t-1"
    other = augments.EVERY_PARAMS_TRACE_ID.write(event, "t-2")
    assert (other.trace_id, to_wire(other)) == ("t-2", {**AUDITED, "trace_id": "t-2"})
