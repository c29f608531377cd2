"""Shapes of MCP Events 2025-01-01: capability, events, subscriptions, schedules, tools."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from kinwire_protocols import jsonrpc, mcp, mcpe
from kinwire_protocols.base import JsonObject, Message, RpcError, from_wire, to_wire
from kinwire_protocols.mcpe import methods, tables, tools
from kinwire_protocols.tool_methods import ToolFailedError, ToolMethod
from tests.generated.messages import EXAMPLES
from tests.generated.shapes import Shape, check_shape, shape
from tests.specified import specified

IDENTIFIER = "550e8400-e29b-41d4-a716-446655440000"
SUBSCRIPTION: JsonObject = {
    "id": IDENTIFIER,
    "clientId": "session-1",
    "filter": {"eventTypes": ["github.*"]},
    "delivery": {"channels": ["realtime"]},
    "status": "active",
    "createdAt": "2025-01-15T10:00:00Z",
    "updatedAt": "2025-01-15T10:00:00Z",
}

SHAPES = [
    shape("mcpe-3.2-1", kind="MCPECapabilities", protocolVersion=1),
    shape("mcpe-3.2-2", kind="MCPECapabilities", serverInfo={"name": "no version"}),
    shape("mcpe-3.2-3", kind="SubscriptionsCapability", maxActive="100"),
    shape("mcpe-3.2-4", kind="SubscriptionsCapability", maxFiltersPerSubscription=0.5),
    shape("mcpe-3.2-5", kind="SubscriptionsCapability", supportsPause="yes"),
    shape("mcpe-3.2-6", kind="SubscriptionsCapability", supportsExpiration=None),
    shape("mcpe-3.2-7", kind="SubscriptionsCapability", supportsBatching=1),
    shape("mcpe-3.2-8", kind="FiltersCapability", supportsWildcardTypes=1),
    shape("mcpe-3.2-9", kind="FiltersCapability", supportsTagFiltering="no"),
    shape("mcpe-3.2-10", kind="FiltersCapability", supportsPriorityFiltering=None),
    shape("mcpe-3.2-11", kind="DeliveryCapability", supportedChannels="realtime"),
    shape("mcpe-3.2-12", kind="DeliveryCapability", supportedPriorities=[1]),
    shape("mcpe-3.2-13", kind="DeliveryCapability", supportsMultiChannel="both"),
    shape("mcpe-3.2-14", kind="SchedulingCapability", cronEnabled=1, scheduledEnabled="no"),
    shape("mcpe-3.2-14", kind="MCPECapabilities", required=False, scheduling=True),
    shape(
        "mcpe-3.2-15",
        kind="SchedulingCapability",
        required=False,
        supportedTimezones="UTC",
        cronPresets=[1],
        maxScheduledPerClient=-1,
    ),
    shape("mcpe-3.2-16", kind="MCPECapabilities", subscriptions={}, filters={}, delivery={}),
    shape("mcpe-4.1-1", kind="MCPEvent", id=7),
    shape("mcpe-4.1-2", kind="MCPEvent", type=["github", "push"]),
    shape("mcpe-4.1-3", kind="MCPEvent", data="text"),
    shape("mcpe-4.1-4", kind="MCPEvent", metadata={}),
    shape("mcpe-4.2-1", kind="EventMetadata", required=False, sourceEventId=5),
    shape("mcpe-4.2-2", kind="EventMetadata", timestamp=1736937000),
    shape("mcpe-4.2-3", kind="EventMetadata", priority=1),
    shape("mcpe-4.2-4", kind="EventMetadata", required=False, tags="main"),
    shape("mcpe-5.1-1", "mcpe-5.1-2", kind="Subscription", id=1, clientId=2),
    shape("mcpe-5.1-3", kind="Subscription", filter=[5], delivery={"channels": "realtime"}),
    shape("mcpe-5.1-4", "mcpe-9-1", kind="Subscription", required=False, handler={"type": 5}),
    shape("mcpe-5.1-5", kind="Subscription", status="asleep"),
    shape("mcpe-5.1-6", kind="Subscription", createdAt=1, updatedAt=None),
    shape("mcpe-5.1-7", kind="Subscription", required=False, expiresAt=1),
    shape(
        "mcpe-5.2-1",
        kind="EventFilter",
        required=False,
        eventTypes="github.*",
        tags=[1],
        priority=["urgent"],
    ),
    shape("mcpe-5.3-1", kind="DeliveryPreferences", channels=[5]),
    shape("mcpe-5.3-2", kind="DeliveryPreferences", required=False, cronSchedule="@daily"),
    shape("mcpe-5.3-3", kind="DeliveryPreferences", required=False, scheduledDelivery={}),
    shape("mcpe-6.1-2", kind="EventsSubscribeParams", filter=None, delivery={}),
    shape("mcpe-6.1-3", kind="EventsSubscribeParams", required=False, handler={"type": "bash"}),
    shape("mcpe-6.1-4", kind="EventsSubscribeParams", required=False, expiresAt=1),
    shape("mcpe-6.2-2", kind="EventsUnsubscribeParams", subscriptionId=1),
    shape("mcpe-6.2-3", kind="EventsUnsubscribeResult", success="yes"),
    shape("mcpe-6.3-3", kind="EventsListResult", subscriptions={}),
    shape("mcpe-6.4-2", kind="EventsPauseParams", subscriptionId=None),
    shape("mcpe-6.4-3", kind="EventsPauseResult", success=1),
    shape("mcpe-6.5-2", kind="EventsResumeParams", subscriptionId=[]),
    shape("mcpe-6.5-3", kind="EventsResumeResult", success=1),
    shape("mcpe-6.6-2", kind="EventsUpdateParams", subscriptionId=1),
    shape("mcpe-6.6-3", kind="EventsUpdateParams", updates={"status": "expired"}),
    shape("mcpe-7.1-1", kind="EventNotificationParams", subscriptionId=1, event={}),
    shape("mcpe-7.2-1", kind="EventBatchNotificationParams", subscriptionId=1, events={}),
    shape(
        "mcpe-7.3-1", kind="SubscriptionExpiredNotificationParams", subscriptionId=1, expiredAt=1
    ),
    shape("mcpe-8.2-2", "mcpe-8.2-3", kind="CronSchedule", expression=5, timezone=0),
    shape("mcpe-8.3-2", "mcpe-8.3-3", kind="ScheduledDelivery", deliverAt=5, timezone=None),
    shape("mcpe-8.3-4", kind="ScheduledDelivery", required=False, description=5),
    shape("mcpe-9.1-1", kind="BashEventHandler", command=["ls"]),
    shape("mcpe-9.1-2", kind="BashEventHandler", required=False, args="-l", cwd=1, env={"A": 1}),
    shape("mcpe-9.1-3", "mcpe-9.1-4", kind="BashEventHandler", input="file", timeout=-1),
    shape("mcpe-9.2-1", "mcpe-9.2-3", kind="WebhookEventHandler", url=1, timeout="30s"),
    shape("mcpe-9.2-2", kind="WebhookEventHandler", required=False, headers=["X: y"]),
    shape(
        "mcpe-9.3-2",
        kind="AgentEventHandler",
        required=False,
        systemPrompt=1,
        model=1,
        instructions=1,
        tools="all",
        maxTokens=0,
    ),
]


@pytest.mark.parametrize("case", SHAPES)
def test_members_are_there_as_the_text_says(case: Shape) -> None:
    check_shape(case)


@pytest.mark.spec("mcpe-mcpe-specification-1", "mcpe-2.2-1")
def test_the_protocol_has_its_name_and_version() -> None:
    table = methods.PROTOCOL
    assert (table.name, table.title, table.version) == ("mcpe", "MCP Events", "2025-01-01")


def test_a_capability_object_is_read_in_an_answer_to_initialize() -> None:
    assert methods.PROTOCOL.capability == "experimental.mcpe"
    offer = next(example for _, name, example in EXAMPLES if name == "MCPECapabilities")
    answer: JsonObject = {
        "protocolVersion": "2024-11-05",
        "serverInfo": {"name": "s", "version": "1"},
        "capabilities": {"experimental": {"mcpe": offer}},
    }
    read = to_wire(from_wire(mcp.InitializeResult, answer))
    assert read == answer
    found = from_wire(mcpe.MCPECapabilities, read["capabilities"]["experimental"]["mcpe"])
    assert (to_wire(found), found.protocol_version) == (offer, "2025-01-01")


def test_a_capability_object_of_another_protocol_is_refused() -> None:
    value = {"protocolVersion": "2025-01-01", "protocolName": "mcpe"}
    assert to_wire(from_wire(mcpe.MCPEClientCapabilities, value)) == value
    with pytest.raises(ValidationError, match="protocolName"):
        from_wire(mcpe.MCPEClientCapabilities, value | {"protocolName": "mcp"})


@pytest.mark.parametrize(
    ("kind", "status", "other"),
    [(mcpe.EventsPauseResult, "paused", "active"), (mcpe.EventsResumeResult, "active", "paused")],
)
def test_a_tool_that_sets_a_status_returns_that_one(
    kind: type[Message], status: str, other: str
) -> None:
    value: JsonObject = {"success": True, "status": status}
    assert to_wire(from_wire(kind, value)) == value
    with pytest.raises(ValidationError, match="status"):
        from_wire(kind, {"success": True, "status": other})


@pytest.mark.spec("mcpe-6.3-2")
def test_a_status_to_list_is_one_of_three_or_absent() -> None:
    for status in ("active", "paused", "expired"):
        assert from_wire(mcpe.EventsListParams, {"status": status}).status == status
    assert to_wire(from_wire(mcpe.EventsListParams, {})) == {}
    with pytest.raises(ValidationError, match="status"):
        from_wire(mcpe.EventsListParams, {"status": "asleep"})


@pytest.mark.parametrize(
    ("kind", "least", "defaults"),
    [
        pytest.param(
            mcpe.CronSchedule,
            {"expression": "@daily", "timezone": "UTC"},
            {"aggregateEvents": True, "maxEventsPerDelivery": 100},
            marks=pytest.mark.spec("mcpe-8.2-4", "mcpe-8.2-5"),
        ),
        pytest.param(
            mcpe.ScheduledDelivery,
            {"deliverAt": "2025-01-15T18:00:00Z", "timezone": "UTC"},
            {"aggregateEvents": True, "autoExpire": True},
            marks=pytest.mark.spec("mcpe-8.3-5", "mcpe-8.3-6"),
        ),
    ],
)
def test_what_a_schedule_leaves_out_has_its_default(
    kind: type[Message], least: JsonObject, defaults: JsonObject
) -> None:
    read = from_wire(kind, least)
    fields = kind.__pydantic_fields__.items()
    wires = {field.alias or name: getattr(read, name) for name, field in fields}
    assert {name: wires[name] for name in defaults} == defaults
    assert to_wire(read) == least  # what did not come does not go out
    assert to_wire(from_wire(kind, least | defaults)) == least | defaults
    turned = {name: False if value is True else 7 for name, value in defaults.items()}
    assert to_wire(from_wire(kind, least | turned)) == least | turned


@pytest.mark.spec("mcpe-8.2-6")
def test_four_schedules_have_a_name() -> None:
    assert list(tables.CRON_PRESETS) == ["@hourly", "@daily", "@weekly", "@monthly"]
    for preset, row in tables.CRON_PRESETS.items():
        assert from_wire(mcpe.CronPresetRule, {"preset": preset, "expression": row.expression})
    with pytest.raises(ValidationError, match="preset"):
        from_wire(mcpe.CronPresetRule, {"preset": "@yearly", "expression": "0 0 1 1 *"})


@pytest.mark.parametrize(
    ("handler", "kind"),
    [
        ({"type": "bash", "command": "c", "input": "args", "timeout": 1}, mcpe.BashEventHandler),
        ({"type": "webhook", "url": "https://e.com/", "timeout": 1}, mcpe.WebhookEventHandler),
        pytest.param(
            {"type": "agent"}, mcpe.AgentEventHandler, marks=pytest.mark.spec("mcpe-9.3-1")
        ),
    ],
)
def test_a_handler_is_recognized_by_its_type(handler: JsonObject, kind: type[Message]) -> None:
    found = from_wire(mcpe.Subscription, {**SUBSCRIPTION, "handler": handler})
    assert type(found.handler) is kind
    assert to_wire(found)["handler"] == handler


@pytest.mark.parametrize(
    "text", ["2025-01-15T10:30:00Z", "2025-01-15T10:30:00.000+01:00", "2025-01-15"]
)
def test_a_time_is_kept_as_it_was_written(text: str) -> None:
    value = {"subscriptionId": IDENTIFIER, "expiredAt": text}
    assert to_wire(from_wire(mcpe.SubscriptionExpiredNotificationParams, value)) == value


@pytest.mark.parametrize(
    "types", [["github.push"], ["github.pull_request.opened", "slack.message"], ["github.*"], ["*"]]
)
@pytest.mark.spec("mcpe-5.2-2")
def test_a_filter_takes_types_and_patterns(types: list[str]) -> None:
    assert from_wire(mcpe.EventFilter, {"eventTypes": types}).event_types == types


UPDATES = [
    {},
    {"handler": None, "expiresAt": None},
    {"handler": {"type": "agent"}, "expiresAt": "2025-02-01T00:00:00Z"},
    {"status": "paused", "filter": {}},
]


@pytest.mark.parametrize("updates", UPDATES)
def test_an_update_distinguishes_kept_and_removed_fields(updates: JsonObject) -> None:
    assert to_wire(from_wire(mcpe.UpdateSubscriptionRequest, updates)) == updates


@pytest.mark.spec("mcpe-1.3-3", "mcpe-7-1", "mcpe-7-2")
def test_events_are_reported_by_three_notifications_from_the_server() -> None:
    rows = specified(methods.PROTOCOL)
    assert list(rows) == ["events/event", "events/batch", "events/subscription_expired"]
    assert {(row.kind, row.sender, row.result) for row in rows.values()} == {
        ("notification", "server", None)
    }


ROWS = list(tools.TOOLS.values())


@pytest.mark.spec("mcpe-1.2-1", "mcpe-1.3-2", "mcpe-6-1")
def test_the_six_operations_are_tools_of_mcp() -> None:
    assert [row.name for row in ROWS] == [
        "events_subscribe",
        "events_unsubscribe",
        "events_list",
        "events_pause",
        "events_resume",
        "events_update",
    ]
    assert {row.caller.name for row in ROWS} == {mcp.methods.TOOLS_CALL.name}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
@pytest.mark.spec("mcpe-1.2-3")
def test_the_entry_of_a_tool_is_one_of_mcp_and_describes_each_argument(
    row: ToolMethod[Any, Any],
) -> None:
    entry = from_wire(mcp.Tool, row.definition)
    assert (entry.name, bool(entry.description)) == (row.name, True)
    assert all(member["description"] for member in (entry.input_schema.properties or {}).values())


@pytest.mark.spec("mcpe-2.1-1", "mcpe-2.1-2")
def test_a_call_of_an_operation_is_a_request_of_json_rpc() -> None:
    row = tools.EVENTS_PAUSE
    params = row.caller.params(name=row.name, arguments={"subscriptionId": IDENTIFIER})
    value = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": to_wire(params)}
    request = from_wire(jsonrpc.Request, value)
    assert to_wire(request) == value
    assert row.decode_params(params.arguments) == mcpe.EventsPauseParams(subscription_id=IDENTIFIER)


@pytest.mark.spec("mcpe-2.1-3", "mcpe-2.1-4")
def test_an_answer_has_the_id_of_its_request_and_notifications_have_no_id() -> None:
    answer: JsonObject = {"jsonrpc": "2.0", "id": 1, "result": {"content": []}}
    assert to_wire(from_wire(jsonrpc.ResultResponse, answer)) == answer
    with pytest.raises(ValidationError, match="id"):
        from_wire(jsonrpc.ResultResponse, {"jsonrpc": "2.0", "result": {}})
    params = {"subscriptionId": IDENTIFIER, "expiredAt": "2025-01-15T10:30:00Z"}
    news = {"jsonrpc": "2.0", "method": "events/subscription_expired", "params": params}
    frame = from_wire(jsonrpc.Notification, news)
    assert to_wire(frame) == news
    row = methods.PROTOCOL.methods[frame.method]
    assert to_wire(row.decode_params(frame.params)) == params


OUTPUTS = [
    pytest.param(tools.EVENTS_SUBSCRIBE, SUBSCRIPTION, marks=pytest.mark.spec("mcpe-6.1-5")),
    (tools.EVENTS_UNSUBSCRIBE, {"success": True}),
    (tools.EVENTS_LIST, {"subscriptions": [SUBSCRIPTION]}),
    (tools.EVENTS_PAUSE, {"success": True, "status": "paused"}),
    (tools.EVENTS_RESUME, {"success": True, "status": "active"}),
    pytest.param(
        tools.EVENTS_UPDATE,
        {**SUBSCRIPTION, "subscriptionId": IDENTIFIER},
        marks=pytest.mark.spec("mcpe-6.6-4"),
    ),
]


@pytest.mark.parametrize(("row", "output"), OUTPUTS)
def test_an_output_is_the_structure_and_the_text_of_a_result(
    row: ToolMethod[Any, Any], output: JsonObject
) -> None:
    result = row.result_to_wire(from_wire(row.result, output))
    assert result["structuredContent"] == output
    assert [json.loads(block["text"]) for block in result["content"]] == [output]
    assert to_wire(row.decode_result(from_wire(mcp.CallToolResult, result))) == output
    only_text = {"content": result["content"]}
    assert to_wire(row.decode_result(only_text)) == output


REFUSED = [
    pytest.param(
        tools.EVENTS_SUBSCRIBE, {"filter": {}}, "/delivery", marks=pytest.mark.spec("mcpe-6.1-6")
    ),
    (
        tools.EVENTS_SUBSCRIBE,
        {"filter": {"priority": ["urgent"]}, "delivery": {"channels": ["realtime"]}},
        "/filter/priority/0",
    ),
    pytest.param(
        tools.EVENTS_UPDATE,
        {"subscriptionId": IDENTIFIER, "updates": {"status": "expired"}},
        "/updates/status",
        marks=pytest.mark.spec("mcpe-6.6-6"),
    ),
]


@pytest.mark.parametrize(("row", "arguments", "pointer"), REFUSED)
def test_arguments_that_do_not_fit_are_refused_with_their_place(
    row: ToolMethod[Any, Any], arguments: JsonObject, pointer: str
) -> None:
    with pytest.raises(jsonrpc.InvalidParamsError, match=pointer) as caught:
        row.decode_params(arguments)
    assert caught.value.code == -32602


FAILURES: list[tuple[ToolMethod[Any, Any], RpcError]] = [
    (tools.EVENTS_SUBSCRIBE, mcpe.SubscriptionLimitReachedError(data={"maxActive": 100})),
    (tools.EVENTS_LIST, mcpe.UnauthorizedError(data={})),
    *(
        (row, mcpe.SubscriptionNotFoundError(data={"subscriptionId": IDENTIFIER}))
        for row in (
            tools.EVENTS_UNSUBSCRIBE,
            tools.EVENTS_PAUSE,
            tools.EVENTS_RESUME,
            tools.EVENTS_UPDATE,
        )
    ),
]


@pytest.mark.parametrize(("row", "error"), FAILURES)
def test_an_error_of_a_tool_comes_back_as_what_it_was(
    row: ToolMethod[Any, Any], error: RpcError
) -> None:
    result = row.error_to_wire(error)
    assert result["isError"] is True
    said = result["structuredContent"]["error"]
    assert said["data"] == {**error.data, "protocol": "mcpe", "name": error.name}
    assert to_wire(from_wire(mcpe.ErrorData, said["data"])) == said["data"]
    for form in (result, {**result, "structuredContent": None}):  # the text alone says it too
        with pytest.raises(type(error), match=error.message) as caught:
            row.decode_result(form)
        assert (caught.value.code, caught.value.data) == (error.code, said["data"])


def test_a_failure_in_plain_words_is_an_error_of_the_tool() -> None:
    result = {"content": [{"type": "text", "text": "Subscription not found"}], "isError": True}
    with pytest.raises(ToolFailedError, match="Subscription not found") as caught:
        tools.EVENTS_PAUSE.decode_result(result)
    assert caught.value.result == result


ERRORS = [
    ("mcpe-10-1", jsonrpc.ParseError, -32700),
    ("mcpe-10-2", jsonrpc.InvalidRequestError, -32600),
    ("mcpe-10-3", jsonrpc.MethodNotFoundError, -32601),
    ("mcpe-10-4", jsonrpc.InvalidParamsError, -32602),
    ("mcpe-10-5", jsonrpc.InternalError, -32603),
    ("mcpe-10-6", mcpe.NotInitializedError, -32000),
    ("mcpe-10-7", mcpe.SubscriptionNotFoundError, -32001),
    ("mcpe-10-8", mcpe.SubscriptionLimitReachedError, -32002),
    ("mcpe-10-9", mcpe.DeviceNotFoundError, -32003),
    ("mcpe-10-10", mcpe.UnauthorizedError, -32004),
]


@pytest.mark.parametrize(
    ("kind", "code"),
    [pytest.param(kind, code, marks=pytest.mark.spec(row)) for row, kind, code in ERRORS],
)
def test_an_error_has_its_code(kind: type[RpcError], code: int) -> None:
    assert kind().code == code
    assert kind.protocol == ("mcpe" if code > -32100 else "jsonrpc")


@pytest.mark.spec("mcpe-5.5-2")
def test_a_client_has_100_active_subscriptions_by_default() -> None:
    assert tables.MAX_ACTIVE == 100


def test_each_channel_has_its_notification_and_schedule() -> None:
    found = {
        channel: (mode.notification, mode.schedule)
        for channel, mode in tables.DELIVERY_MODES.items()
    }
    assert found == {
        "realtime": ("events/event", None),
        "cron": ("events/batch", "cronSchedule"),
        "scheduled": ("events/batch", "scheduledDelivery"),
    }


def test_a_status_changes_as_the_machine_says() -> None:
    machine = tables.SUBSCRIPTION_LIFECYCLE
    assert machine.states == tuple(tables.SUBSCRIPTION_STATUSES)
    assert machine.after(machine.after(machine.initial, "pause") or "expired", "resume") == "active"
    assert [machine.after("expired", event) for event in ("pause", "resume")] == [None, None]
