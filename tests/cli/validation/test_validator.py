"""The validator: a message, whose it is, and what is said of it."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire_cli.validation.validator import MessageValidator, Side
from kinwire_protocols.mcp.methods import PROTOCOL
from tests.each import each

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
PONG = {"jsonrpc": "2.0", "id": 1, "result": {}}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
TOLD = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}


def said(*messages: tuple[Side | None, dict[str, Any]]) -> list[str]:
    """Return the problems of the last message, after the others were validated."""
    validator = MessageValidator([PROTOCOL])
    validated = [validator.validate(message, sender) for sender, message in messages]
    return [str(problem) for problem in validated[-1].problems]


ONE = [
    pytest.param("client", LIST, [], id="a request that the client may send"),
    pytest.param(None, LIST, [], id="a request of an unknown sender"),
    pytest.param(
        "server",
        LIST,
        ['/method: expected a method that the server may send, got "tools/list"'],
        id="a request in the wrong direction",
    ),
    pytest.param("server", PING, [], id="a method of both sides"),
    pytest.param("server", TOLD, [], id="a notification"),
    pytest.param(
        "server",
        TOLD | {"id": 1},
        ["/id: expected none: the method is a notification, got 1"],
        id="a notification with an id",
    ),
    pytest.param(
        "client",
        {"jsonrpc": "2.0", "method": "tools/list"},
        ["/id: expected an id: the method is a request, got nothing"],
        id="a request without an id",
    ),
    pytest.param(
        "client",
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {}},
        ["/params/name: expected a value, got nothing"],
        id="params that lack a member",
    ),
    pytest.param(
        "client",
        LIST | {"params": [1]},
        ["/params: expected an object, got an array"],
        id="params that are an array",
    ),
    pytest.param(
        "client",
        LIST | {"method": "tools/lists"},
        ['/method: expected a method of the protocols (tools/list?), got "tools/lists"'],
        id="a method that no protocol has",
    ),
    pytest.param(
        "client",
        LIST | {"jsonrpc": "1.0"},
        ['/jsonrpc: expected "2.0", got "1.0"'],
        id="JSON-RPC 1",
    ),
    pytest.param(
        "client",
        {"id": 1, "method": "tools/list"},
        ['/jsonrpc: expected "2.0", got nothing'],
        id="no version of JSON-RPC",
    ),
    pytest.param(
        "server",
        {"jsonrpc": "2.0", "result": {}},
        ["/id: expected a string or an integer, got nothing"],
        id="a reply without an id",
    ),
    pytest.param(
        "client",
        LIST | {"id": True},
        ["/id: expected a string or an integer, got true"],
        id="true as an id",
    ),
    pytest.param(
        "client",
        LIST | {"id": None},
        ["/id: expected a string or an integer, got null"],
        id="null as the id of a request",
    ),
    pytest.param(
        "client",
        LIST | {"method": 5},
        ["/method: expected a string, got 5"],
        id="a method that is a number",
    ),
    pytest.param(
        "server",
        PONG,
        ["/id: expected the id of a request that waits, got 1"],
        id="a reply to nothing",
    ),
    pytest.param(
        "server",
        PONG | {"error": {"code": 1, "message": ""}},
        [": expected a method, or one of result and error, got both"],
        id="B014 a reply with result and error",
    ),
    pytest.param(
        "server",
        {"jsonrpc": "2.0", "id": 1},
        [": expected a method, or one of result and error, got neither"],
        id="B014 a reply with neither",
    ),
    pytest.param(
        "server",
        {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "Parse error"}},
        [],
        id="an error whose request could not be read",
    ),
    pytest.param(
        "server",
        {"jsonrpc": "2.0", "id": None, "result": {}},
        ["/id: expected a string or an integer, got null"],
        id="a result of nothing",
    ),
]


@each(("sender", "message", "expected"), ONE)
def test_one_message(sender: Side | None, message: dict[str, Any], expected: list[str]) -> None:
    assert said((sender, message)) == expected


def test_a_reply_is_judged_by_the_method_of_its_request() -> None:
    reply = {"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "a"}]}}
    assert said(("client", LIST), ("server", reply)) == [
        "/result/tools/0/inputSchema: expected a value, got nothing"
    ]


def test_the_ids_of_both_sides_are_kept_apart() -> None:
    validator = MessageValidator([PROTOCOL])
    validator.validate(LIST, "client")
    validator.validate(PING, "server")
    reply = validator.validate(PONG, "client")
    assert (reply.row.name if reply.row else None, reply.matched) == ("ping", True)


def test_an_id_keeps_its_type() -> None:
    assert said(("client", PING), ("server", PONG | {"id": "1"})) == [
        '/id: expected the id of a request that waits, got "1"'
    ]


def test_a_second_request_with_a_pending_id_is_reported() -> None:
    assert said(("client", PING), ("client", PING)) == [
        "/id: expected an id that is not in use, got 1"
    ]


def test_an_answered_id_may_be_used_again() -> None:
    assert said(("client", PING), ("server", PONG), ("client", PING)) == []


def test_replies_match_without_senders() -> None:
    assert said((None, LIST), (None, PONG)) == ["/result/tools: expected a value, got nothing"]


def test_an_error_reply_is_an_error_object() -> None:
    reply = {"jsonrpc": "2.0", "id": 1, "error": {"code": "1"}}
    assert said(("client", PING), ("server", reply)) == [
        '/error/code: expected a valid integer, got "1"',
        "/error/message: expected a value, got nothing",
    ]
