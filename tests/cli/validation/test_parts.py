"""The validator where several protocols share a connection, and add to each other's messages."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire_cli.validation.validator import MessageValidator, Side, ValidatedMessage
from kinwire_protocols import mcp, mcpe, mcpl, mcplite, mgp
from tests.each import each

TABLES = (mcp.PROTOCOL, mcpe.PROTOCOL, mcpl.PROTOCOL, mgp.PROTOCOL)
Line = tuple[Side, dict[str, Any]]


def request(number: int, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def notification(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def reply(number: int, **result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "result": result}


def handshake(**capabilities: Any) -> list[Line]:
    """Return a handshake in which both ends say that they have these capabilities."""
    said = {"protocolVersion": "2024-11-05", "capabilities": capabilities}
    who = {"name": "a", "version": "1"}
    return [
        ("client", request(1, "initialize", **said, clientInfo=who)),
        ("server", reply(1, **said, serverInfo=who)),
    ]


def failure(number: int, **error: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": 1, "message": "x"} | error}


def validate_all(*lines: Line) -> list[ValidatedMessage]:
    validator = MessageValidator(TABLES)
    return [validator.validate(message, sender) for sender, message in lines]


PAUSE = request(3, "tools/call", name="events_pause", arguments={"subscriptionId": "s"})
MIXED: list[tuple[Side, dict[str, Any], str | None]] = [
    ("client", request(1, "tools/call", name="edit", scope={"label": "/a"}, trace_id="t"), "mcp"),
    ("server", reply(1, content=[], state={"checkpoint": "c", "parent": None}), "mcp"),
    ("client", request(2, "state/rollback", featureSet="a", checkpoint="c"), "mcpl"),
    ("server", reply(2, checkpoint="c", success=True), "mcpl"),
    ("client", PAUSE, "mcpe"),
    (
        "server",
        reply(3, content=[], structuredContent={"success": True, "status": "paused"}),
        "mcpe",
    ),
    ("client", request(4, "mgp/health/status"), "mgp"),
    ("server", failure(4, data={"_mgp": {"retryable": False}}), "mgp"),
    (
        "server",
        notification(
            "events/subscription_expired", subscriptionId="s", expiredAt="2025-01-15T10:30:00Z"
        ),
        "mcpe",
    ),
]


def test_each_message_is_judged_by_the_protocol_that_it_belongs_to() -> None:
    validated = validate_all(*((sender, message) for sender, message, _ in MIXED))
    assert [one.problems for one in validated] == [()] * len(MIXED)
    assert [one.protocol for one in validated] == [protocol for *_, protocol in MIXED]


CALL = request(1, "tools/call", name="edit")
LISTING: Line = ("client", request(1, "tools/list"))
TOOL = {"name": "edit", "inputSchema": {"type": "object"}}
BAD = [
    pytest.param(
        [("client", request(1, "tools/call", name="edit", scope={"label": 5}))],
        "/params/scope/label: expected a valid string, got 5",
        id="a member that a protocol adds to params",
    ),
    pytest.param(
        [("client", CALL), ("server", reply(1, content=[], state={"checkpoint": 5}))],
        "/result/state/checkpoint: expected a valid string, got 5",
        id="a member that a protocol adds to a result",
    ),
    pytest.param(
        [("client", CALL), ("server", failure(1, data={"_mgp": {"retryable": 1}}))],
        "/error/data/_mgp/retryable: expected a valid boolean, got 1",
        id="a member that a protocol adds to every error",
    ),
    pytest.param(
        [("client", request(1, "ping", trace_id=5))],
        "/params/trace_id: expected a valid string, got 5",
        id="a member that a protocol adds to every params",
    ),
    pytest.param(
        [LISTING, ("server", reply(1, tools=[TOOL | {"security": {"risk_level": 5}}]))],
        "/result/tools/0/security/risk_level: expected",
        id="a member that a protocol adds to a type deep inside",
    ),
    pytest.param(
        [
            ("client", request(1, "state/rollback", featureSet="a", checkpoint="c")),
            ("server", failure(1, code=-32005, data={"checkpoint": 5})),
        ],
        "/error/data/checkpoint: expected a valid string, got 5",
        id="the data of an error of the method",
    ),
    pytest.param(
        [("client", CALL), ("server", failure(1, code=-32005, data={"checkpoint": 5}))],
        "/error/data/checkpoint: expected a valid string, got 5",
        id="the data of an error that a protocol adds",
    ),
    pytest.param(
        [("client", request(3, "tools/call", name="events_pause", arguments={}))],
        "/params/arguments/subscriptionId: expected a value, got nothing",
        id="arguments of a protocol's tool",
    ),
    pytest.param(
        [("client", PAUSE), ("server", reply(3, content=[], structuredContent={"status": 1}))],
        "/result/structuredContent/success: expected a value, got nothing",
        id="a result of a protocol's tool",
    ),
    pytest.param(
        [("client", PAUSE), ("server", reply(3, content=[{"type": "text", "text": "{}"}]))],
        "/result/content/0: expected a block of text that is the JSON of EventsPauseResult, got",
        id="a result of a protocol's tool as text",
    ),
]


OFFERS = [
    pytest.param(
        {"experimental": {"mcpl": {"version": "0.4", "pushEvents": 5}}},
        "experimental/mcpl/pushEvents: expected a valid boolean, got 5",
        id="where it belongs",
    ),
    pytest.param(
        {"experimental": {"mgp": {"version": 5, "extensions": []}}},
        "experimental/mgp/version: expected a valid string, got 5",
        id="at an older place",
    ),
    pytest.param(
        {"mgp": {"version": 5, "extensions": []}},
        "mgp/version: expected a valid string, got 5",
        id="reported once where it is an augment too",
    ),
    pytest.param({"mcpe": 5}, "mcpe: expected an object, got 5", id="no object"),
]


@each(("capabilities", "expected"), OFFERS)
def test_what_an_end_offers_of_a_protocol_is_judged(
    capabilities: dict[str, Any], expected: str
) -> None:
    validated = validate_all(*handshake(**capabilities))
    assert [str(problem) for one in validated for problem in one.problems] == [
        f"/{part}/capabilities/{expected}" for part in ("params", "result")
    ]


def test_good_offers_and_those_of_protocols_that_nobody_knows_are_fine() -> None:
    offers = {"mcpl": {"version": "0.4", "pushEvents": True}, "vendor": {"version": 5}}
    validated = validate_all(*handshake(experimental=offers, other=5))
    assert [one.problems for one in validated] == [(), ()]


@each(("lines", "expected"), BAD)
def test_what_another_protocol_adds_is_judged_too(lines: list[Line], expected: str) -> None:
    validated = validate_all(*lines)[-1]
    assert str(validated.problems[0]).startswith(expected)


@each("error", [{}, {"data": None}, {"data": {"a": 5}, "code": 77}])
def test_an_error_without_data_or_of_no_protocol_breaks_no_type(error: dict[str, Any]) -> None:
    asked = request(1, "state/rollback", featureSet="a", checkpoint="c")
    validated = validate_all(("client", asked), ("server", failure(1, **{"code": -32005} | error)))
    assert [one.problems for one in validated] == [(), ()]


def test_a_tool_that_failed_said_so_and_breaks_no_type() -> None:
    validated = validate_all(("client", PAUSE), ("server", reply(3, content=[], isError=True)))
    assert [one.problems for one in validated] == [(), ()]


def test_a_method_that_two_protocols_have_is_that_of_the_first() -> None:
    call = request(1, "tools/call", name="edit")
    found = [
        MessageValidator(tables).validate(call).protocol
        for tables in ([mcp.PROTOCOL, mcplite.PROTOCOL], [mcplite.PROTOCOL, mcp.PROTOCOL])
    ]
    assert found == ["mcp", "mcp-lite"]


def test_a_method_is_known_by_its_aliases() -> None:
    (alias,) = mgp.PROTOCOL.methods["mgp/permission/request"].aliases
    example = {"request_id": "p", "permissions": ["shell.execute"], "policy": "interactive"}
    (validated,) = validate_all(("client", request(1, alias, **example)))
    assert (validated.protocol, validated.problems) == ("mgp", ())
    assert mgp.PROTOCOL.method(alias) is mgp.PROTOCOL.methods["mgp/permission/request"]
    assert mgp.PROTOCOL.method("mgp/permission/aw") is None
