"""Words of MGP: the values that members take, and the tables that say what they mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import pytest
from pydantic import ValidationError

from kinwire_protocols import mgp
from kinwire_protocols.base import Message, to_wire
from kinwire_protocols.mgp import tables
from tests.each import each
from tests.generated.messages import DOCUMENTS, alone, generated_type

CONTENT: dict[str, Any] = next(one.content for one in DOCUMENTS if one.name == "mgp")

CALLBACK = "13.4-mgp-callback-respond"
PING = "11.3-mgp-health-ping"
SHUTDOWN = "11.4-mgp-lifecycle-shutdown"
REQUESTED = "16.6-mgp-tools-request"


def of(row: str, *values: Any) -> Any:
    return pytest.param(*values, marks=pytest.mark.spec(f"mgp-{row}"), id=f"{row} {values[0]}")


def numbered(section: str, first: int, *words: str) -> list[Any]:
    return [of(f"{section}-{number}", word) for number, word in enumerate(words, first)]


EXTENSIONS = numbered(
    "2.2",
    6,
    *("security", "access_control", "audit", "code_safety", "lifecycle"),
    *("streaming", "bidirectional", "discovery", "tool_discovery"),
)


@pytest.mark.parametrize("word", EXTENSIONS)
def test_an_extension_is_known_with_its_sections(word: str) -> None:
    assert alone("mgp", "ExtensionName", word) == word
    assert tables.EXTENSIONS[word].sections


PERMISSIONS = [
    ("filesystem.read", "moderate"),
    ("filesystem.write", "dangerous"),
    ("network.outbound", "moderate"),
    ("network.listen", "dangerous"),
    ("shell.execute", "dangerous"),
    ("code_execution", "dangerous"),
    ("memory.read", "safe"),
    ("memory.write", "moderate"),
    ("system.info", "safe"),
    ("camera", "dangerous"),
    ("notification", "safe"),
]


@pytest.mark.parametrize(
    ("permission", "risk"),
    [of(f"3.2-{number}", *row) for number, row in enumerate(PERMISSIONS, 1)],
)
def test_a_standard_permission_has_its_risk(permission: str, risk: str) -> None:
    assert alone("mgp", "StandardPermission", permission) == permission
    assert tables.STANDARD_PERMISSIONS[permission].risk_level == risk


@pytest.mark.spec("mgp-3.2-12")
def test_an_implementation_may_have_permissions_of_its_own() -> None:
    own = "com.example.custom_permission"
    params = {"request_id": "perm-001", "permissions": [own]}
    assert alone("mgp", "PermissionRequestParams", params) == params
    assert own not in tables.STANDARD_PERMISSIONS


CLOSED = [
    of("4.3-1", "RiskLevel", ("safe", "moderate", "dangerous")),
    of("4.3-3", "SideEffect", ("filesystem", "network", "process", "database", "notification")),
    of("2.3-6", "TrustLevel", ("trusted", "standard", "sandboxed")),
    of("14.5-1", "ErrorCategory", ("security", "lifecycle", "resource", "validation", "external")),
    of("14.5-4", "RetryStrategy", ("immediate", "fixed_delay", "exponential_backoff")),
    of(
        "11.2-1",
        "ServerState",
        (
            *("registered", "connecting", "connected", "draining"),
            *("disconnected", "error", "restarting"),
        ),
    ),
]


@pytest.mark.parametrize(("name", "words"), CLOSED)
def test_a_set_of_words_is_these_and_no_other(name: str, words: tuple[str, ...]) -> None:
    assert get_args(generated_type("mgp", name).__value__) == words
    assert [alone("mgp", name, word) for word in words] == list(words)
    with pytest.raises(ValidationError, match="Input should be"):
        alone("mgp", name, "x-other")


@pytest.mark.spec("mgp-4.3-4")
def test_the_validators_are_those_of_either_list() -> None:
    # 4.3 names three and 4.5 five.
    words = ("sandbox", "readonly", "network_restricted", "code_safety", "none")
    assert get_args(mgp.Validator.__value__) == tuple(tables.VALIDATORS) == words


def meant(
    section: str, first: int, name: str, table: Mapping[str, mgp.Term], *words: str
) -> list[Any]:
    return [of(f"{section}-{row}", word, name, table) for row, word in enumerate(words, first)]


MEANINGS = [
    *meant(
        *("6.4", 1, "AuditEventType", tables.AUDIT_EVENT_TYPES),
        *("TOOL_EXECUTED", "TOOL_BLOCKED", "PERMISSION_GRANTED", "PERMISSION_DENIED"),
        *("PERMISSION_REVOKED", "ACCESS_GRANTED", "ACCESS_REVOKED", "SERVER_CONNECTED"),
        *("SERVER_DISCONNECTED", "VALIDATION_FAILED", "CODE_REJECTED"),
    ),
    *meant(
        *("5.3", 1, "AccessEntryType", tables.ACCESS_ENTRY_TYPES),
        *("server_grant", "tool_grant"),
    ),
    *meant(
        *(PING, 4, "HealthStatus", tables.HEALTH_STATUSES),
        *("healthy", "degraded", "unhealthy"),
    ),
    *meant(
        *(SHUTDOWN, 4, "ShutdownReason", tables.SHUTDOWN_REASONS),
        *("operator_request", "configuration_change", "resource_limit", "idle_timeout"),
        "kernel_shutdown",
    ),
    *meant(
        *(CALLBACK, 2, "CallbackType", tables.CALLBACK_TYPES),
        *("confirmation", "input", "selection"),
    ),
    *meant(
        *(REQUESTED, 3, "ToolsRequestStatus", tables.TOOLS_REQUEST_STATUSES),
        *("fulfilled", "partial", "unavailable", "pending_approval", "creating"),
    ),
]


@pytest.mark.parametrize(("word", "name", "table"), MEANINGS)
def test_a_word_is_known_and_has_a_meaning(
    word: str, name: str, table: Mapping[str, mgp.Term]
) -> None:
    assert alone("mgp", name, word) == word
    assert table[word].meaning
    assert tuple(table) == get_args(generated_type("mgp", name).__value__)


@pytest.mark.spec("mgp-6.4-12")
def test_an_implementation_may_have_event_types_of_its_own() -> None:
    event = {
        "timestamp": "2026-02-27T12:00:00.000Z",
        "event_type": "com.example.custom_event",
        "actor": {"type": "agent", "id": "a"},
        "result": "SUCCESS",
    }
    assert alone("mgp", "AuditNotificationParams", event) == event


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("ACCESS_HIERARCHY", ("tool_grant", "server_grant", "default_policy")),
        of("9-1", "RELEASES", ("0.1.0-draft", "0.2.0-draft", "0.3.0-draft")),
        of("10.2-1", "FUTURE_EXTENSIONS", ("observability", "versioning")),
    ],
)
def test_a_table_has_these_rows_in_this_order(name: str, keys: tuple[str, ...]) -> None:
    assert tuple(getattr(tables, name)) == keys


@pytest.mark.parametrize("word", numbered("13.5", 1, "model.*", "system.*", "tool.*", "security.*"))
def test_a_pattern_of_channels_has_a_meaning(word: str) -> None:
    assert tables.CHANNEL_PATTERNS[word].meaning


@pytest.mark.parametrize(("scope", "count"), [of("6.2-1", "protocol", 3), of("6.2-2", "server", 3)])
def test_a_concern_of_auditing_is_the_protocols_or_the_servers(scope: str, count: int) -> None:
    assert [one.scope == scope for one in tables.AUDIT_CONCERNS.values()].count(True) == count


@pytest.mark.parametrize(
    ("level", "tokens"),
    [
        of("16.3-1", "L0", 150_000),
        of("16.3-2", "L1", 5_000),
        of("16.3-3", "L2", 1_000),
        of("16.3-4", "L3", 2_000),
    ],
)
def test_a_way_to_hold_tools_costs_so_many_tokens(level: str, tokens: int) -> None:
    assert tables.CONTEXT_LEVELS[level].tokens == tokens


ARROWS = [
    of("11.2-9", ("registered", "start", "connecting"), ("connecting", "ready", "connected")),
    of("11.2-9", ("registered", "start", "connecting"), ("connecting", "fail", "error")),
    of("11.2-10", ("connected", "shutdown", "draining"), ("draining", "drained", "disconnected")),
    of("11.2-11", ("error", "restart", "restarting"), ("restarting", "ready", "connected")),
    of("11.2-11", ("draining", "restart", "restarting"), ("restarting", "ready", "connected")),
]


@pytest.mark.parametrize(("first", "second"), ARROWS)
def test_a_drawn_way_leads_there(
    first: tuple[mgp.ServerState, str, str], second: tuple[mgp.ServerState, str, str]
) -> None:
    assert first[2] == second[0]
    for start, event, end in (first, second):
        assert tables.SERVER_LIFECYCLE.after(start, event) == end


def test_only_a_start_leaves_a_server_that_is_disconnected() -> None:
    """The specification draws no way out of it, but a server may be stopped and started."""
    assert tables.SERVER_LIFECYCLE.final == frozenset()
    ways = tables.SERVER_LIFECYCLE.transitions
    assert [event for start, event in ways if start == "disconnected"] == ["start"]


@each("name", CONTENT["tables"])
def test_every_row_of_every_table_is_made(name: str) -> None:
    constant = "".join(f"_{letter}" if letter.isupper() else letter for letter in name).strip("_")
    table: Sequence[Message] | Mapping[str, Message] = getattr(tables, constant.upper())
    made = table.values() if isinstance(table, Mapping) else table
    assert [to_wire(row) for row in made] == CONTENT["tables"][name]["rows"]
