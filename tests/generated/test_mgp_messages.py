"""Messages of MGP: which members each has, of which kind, and which it cannot do without.

The values are the first examples of the document, which are the ones of the specification.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from pydantic import ValidationError

from kinwire_protocols import mgp
from kinwire_protocols.base import JsonObject, Message, from_wire, to_wire
from tests.generated.messages import EXAMPLES

WHOLE: dict[str, JsonObject] = {
    name: example for protocol, name, example in reversed(EXAMPLES) if protocol == "mgp"
}

# Nothing is of a wrong kind there: the text leaves the form of an answer open.
ANY_KIND = {(mgp.CallbackRespondParams, "response")}


class Shape(NamedTuple):
    """A message, the members that it needs, and the others."""

    model: type[Message]
    needed: tuple[str, ...]
    other: tuple[str, ...]


def shape(rows: str, model: type[Message], needed: str, other: str = "") -> Any:
    shaped = Shape(model, tuple(needed.split()), tuple(other.split()))
    claimed = [f"mgp-{row}" for row in rows.split()]
    return pytest.param(shaped, marks=pytest.mark.spec(*claimed), id=model.__name__)


PLACE_16_5, PLACE_16_6 = "16.5-mgp-tools-discover", "16.6-mgp-tools-request"

SHAPES = [
    shape("2.2-4 2.2-5", mgp.ClientOffer, "version extensions"),
    shape(
        "2.3-2 2.3-3 2.3-4",
        mgp.ServerOffer,
        "version extensions",
        "permissions_required server_id trust_level",
    ),
    shape(
        "2.3-5",
        mgp.ServerOffer,
        "version extensions",
        "permissions_required server_id trust_level",
    ),
    shape("3.5-2", mgp.PermissionRequestParams, "request_id permissions", "policy message"),
    shape("3.6-2", mgp.PermissionResponseParams, "request_id grants", "approved_by expires_at"),
    shape(
        "4.2-1 4.3-2",
        mgp.ToolSecurity,
        "risk_level",
        "permissions_required side_effects validator reversible confirmation_required",
    ),
    shape(
        "4.3-5 4.3-6",
        mgp.ToolSecurity,
        "risk_level",
        "permissions_required side_effects validator reversible confirmation_required",
    ),
    shape("5.4-mgp-access-query-2", mgp.AccessQueryParams, "agent_id server_id tool_name"),
    shape(
        "5.4-mgp-access-query-3",
        mgp.AccessQueryResult,
        "permission source",
        "granted_by granted_at expires_at",
    ),
    shape(
        "5.4-mgp-access-grant-2",
        mgp.AccessGrantParams,
        "entry_type agent_id server_id permission",
        "tool_name granted_by justification expires_at",
    ),
    shape("5.4-mgp-access-revoke-2", mgp.AccessRevokeParams, "agent_id server_id entry_type"),
    shape(
        "6.3-3",
        mgp.AuditNotificationParams,
        "timestamp event_type actor result",
        "trace_id target details",
    ),
    shape("6.3-3", mgp.AuditActor, "type id"),
    shape("6.3-3", mgp.AuditTarget, "", "server_id tool_name"),
    shape(
        "7.3-2",
        mgp.CodeSafety,
        "level",
        "language max_code_size_bytes blocked_imports blocked_patterns allowed_imports",
    ),
    shape("7.4-2", mgp.CodeHints, "", "blocked_imports allowed_imports max_code_size_bytes"),
    shape("11.3-mgp-health-ping-2", mgp.HealthPingParams, "", "timestamp"),
    shape(
        "11.3-mgp-health-ping-3", mgp.HealthPingResult, "status", "timestamp uptime_secs server_id"
    ),
    shape(
        "11.3-mgp-health-status-2 11.3-mgp-health-status-3",
        mgp.HealthStatusResult,
        "status",
        "uptime_secs tools_available tools_total pending_requests resources checks",
    ),
    shape("11.4-mgp-lifecycle-shutdown-2", mgp.LifecycleShutdownParams, "", "reason timeout_ms"),
    shape(
        "11.4-mgp-lifecycle-shutdown-3",
        mgp.LifecycleShutdownResult,
        "accepted",
        "pending_requests estimated_drain_ms",
    ),
    shape(
        "11.4-notifications-mgp.lifecycle-2",
        mgp.LifecycleNotificationParams,
        "server_id previous_state new_state",
        "reason timestamp",
    ),
    shape(
        "11.5-5",
        mgp.RestartConfig,
        "restart_policy max_restarts restart_window_secs backoff_base_ms backoff_max_ms",
    ),
    shape("12.3-1", mgp.ToolCallExtras, "", "stream"),
    shape("12.4-2 12.4-3", mgp.StreamChunkNotificationParams, "request_id index content", "done"),
    shape("12.5-3", mgp.ToolResultExtras, "", "streamed chunks_sent duration_ms"),
    shape(
        "12.6-2",
        mgp.StreamProgressNotificationParams,
        "request_id progress",
        "message estimated_remaining_ms",
    ),
    shape("12.7-1", mgp.StreamCancelParams, "request_id", "reason"),
    shape("12.7-2", mgp.StreamCancelResult, "cancelled", "partial_result"),
    shape("12.7-2", mgp.PartialResult, "content"),
    shape("13.2-mgp-events-subscribe-1", mgp.EventsSubscribeParams, "channels", "filter"),
    shape("13.2-mgp-events-subscribe-1", mgp.EventFilter, "", "min_severity"),
    shape(
        "13.2-mgp-events-subscribe-2",
        mgp.EventsSubscribeResult,
        "subscribed subscription_id",
        "unsupported",
    ),
    shape("13.3-2", mgp.EventNotificationParams, "subscription_id channel", "timestamp data"),
    shape(
        "13.4-notifications-mgp.callback.request-2",
        mgp.CallbackRequestNotificationParams,
        "callback_id type message",
        "request_id options timeout_ms",
    ),
    shape("13.4-mgp-callback-respond-1", mgp.CallbackRespondParams, "callback_id response"),
    shape("14.4-1", mgp.ErrorData, "", "_mgp"),
    shape(
        "14.5-3 14.5-5 14.5-7",
        mgp.ErrorRecovery,
        "",
        "category retryable retry_after_ms retry_strategy max_retries details",
    ),
    shape(
        "15.2-Configuration-File-Discovery-3 15.2-Configuration-File-Discovery-6",
        mgp.ServerEntry,
        "id",
        "command args transport mgp env",
    ),
    shape(
        "15.2-Configuration-File-Discovery-4",
        mgp.ServerSection,
        "",
        "extensions permissions_required trust_level restart_policy",
    ),
    shape("15.2-Registry-Endpoint-Discovery-1", mgp.DiscoveryListParams, "", "filter"),
    shape(
        "15.2-Registry-Endpoint-Discovery-1",
        mgp.DiscoveryFilter,
        "",
        "extensions permissions status",
    ),
    shape("15.2-Registry-Endpoint-Discovery-2", mgp.DiscoveryListResult, "servers"),
    shape(
        "15.2-Registry-Endpoint-Discovery-2",
        mgp.DiscoveredServer,
        "id status",
        "mgp_version extensions tools trust_level",
    ),
    shape(
        "15.4-2",
        mgp.DiscoveryRegisterParams,
        "id",
        "command args transport mgp created_by justification",
    ),
    shape("15.4-2", mgp.ServerProfile, "", "extensions permissions_required trust_level"),
    shape("15.5-1", mgp.DiscoveryDeregisterParams, "id", "reason"),
    shape(
        "16.4-2",
        mgp.ToolIndexEntry,
        "tool_id server_id name",
        "description categories keywords security embedding",
    ),
    shape(f"{PLACE_16_5}-1", mgp.ToolsDiscoverParams, "query", "strategy max_results filter"),
    shape(f"{PLACE_16_5}-1", mgp.ToolSearchFilter, "", "categories risk_level_max status"),
    shape(
        f"{PLACE_16_5}-2",
        mgp.ToolsDiscoverResult,
        "tools",
        "total_available search_strategy query_time_ms",
    ),
    shape(
        f"{PLACE_16_5}-3",
        mgp.DiscoveredTool,
        "name server_id relevance_score inputSchema",
        "description security",
    ),
    shape(
        f"{PLACE_16_6}-1", mgp.ToolsRequestParams, "requirements", "reason context task_trace_id"
    ),
    shape(
        f"{PLACE_16_6}-1",
        mgp.ToolRequirements,
        "",
        "capabilities input_types output_types preferred_risk_level",
    ),
    shape(
        f"{PLACE_16_6}-2",
        mgp.ToolsRequestResult,
        "status",
        "tools_loaded tools_unavailable session_tools_count context_tokens_added",
    ),
    shape(
        "16.7-mgp-tools-session-2",
        mgp.ToolsSessionResult,
        "pinned cached",
        "total_tokens max_tokens",
    ),
    shape("16.7-mgp-tools-session-evict-1", mgp.ToolsSessionEvictParams, "tools", "reason"),
    shape(
        "16.8-1",
        mgp.ToolContextBudget,
        "max_tokens pinned_reserve discovery_reserve cache_limit",
    ),
]


def without(message: JsonObject, name: str) -> JsonObject:
    return {member: value for member, value in message.items() if member != name}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_message_has_these_members_and_needs_some(shape: Shape) -> None:
    whole = WHOLE[shape.model.__name__]
    assert set(whole) == {*shape.needed, *shape.other}
    assert to_wire(from_wire(shape.model, whole)) == whole
    declared = {field.alias or name for name, field in shape.model.model_fields.items()}
    assert set(whole) <= declared
    for name in shape.needed:
        with pytest.raises(ValidationError, match=name):
            from_wire(shape.model, without(whole, name))
    for name in shape.other:
        assert to_wire(from_wire(shape.model, without(whole, name))) == without(whole, name)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_member_of_a_wrong_kind_is_refused(shape: Shape) -> None:
    whole = WHOLE[shape.model.__name__]
    for name, value in whole.items():
        wrong: Any = 5 if isinstance(value, list) else [5]
        if (shape.model, name) not in ANY_KIND:
            with pytest.raises(ValidationError, match=name):
                from_wire(shape.model, {**whole, name: wrong})


@pytest.mark.spec("mgp-7.4-1")
def test_a_rejection_of_code_says_that_it_is_one_and_why() -> None:
    whole = WHOLE["CodeRejection"]
    assert set(whole) == {"status", "reason", "violations", "hints"}
    assert to_wire(from_wire(mgp.CodeRejection, whole)) == whole
    with pytest.raises(ValidationError, match="status"):
        from_wire(mgp.CodeRejection, {**whole, "status": "accepted"})
    for name in ("reason", "violations"):
        with pytest.raises(ValidationError, match=name):
            from_wire(mgp.CodeRejection, without(whole, name))


@pytest.mark.spec("mgp-3.6-4")
@pytest.mark.parametrize(
    "grant", ["approved", "denied", "deferred", {"decision": "approved"}, {"granted": False}]
)
def test_a_grant_is_a_word_and_is_read_as_an_object_too(grant: str | JsonObject) -> None:
    params = {"request_id": "perm-001", "grants": {"shell.execute": grant}}
    assert to_wire(from_wire(mgp.PermissionResponseParams, params)) == params


@pytest.mark.parametrize("grant", ["granted", "", True, None, {}, {"decision": "yes"}])
def test_nothing_is_granted_by_a_misunderstanding(grant: Any) -> None:
    params = {"request_id": "perm-001", "grants": {"shell.execute": grant}}
    with pytest.raises(ValidationError, match="grants"):
        from_wire(mgp.PermissionResponseParams, params)
