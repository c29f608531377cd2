"""What is answered to the body of a request, and which status that has."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from kinwire.mcplite.rules.calls import ToolCall
from tests.each import each
from tests.runtime.mcplite.server.http.fixtures_lite import Service, app_of, call_of, caller_at

pytestmark = pytest.mark.anyio

CALL = call_of("echo", 7)
NESTED = (
    '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"a":%s}}}'
)


def nested(levels: int) -> bytes:
    """Return a call of that many levels."""
    return (NESTED % ("[" * (levels - 3) + "]" * (levels - 3))).encode()


def without(name: str) -> bytes:
    return json.dumps({key: value for key, value in CALL.items() if key != name}).encode()


def having(**fields: Any) -> bytes:
    return json.dumps({**CALL, **fields}).encode()


def params(**fields: Any) -> bytes:
    return having(params={**CALL["params"], **fields})


@pytest.mark.spec("mcp-lite-4.4-1", "mcp-lite-4.4-2", "mcp-lite-4.4-4")
@each(
    ("body", "status", "code", "id"),
    [
        (b"", 400, -32700, None),
        (b"{", 400, -32700, None),
        (b"{}}", 400, -32700, None),
        (b"\xff", 400, -32700, None),
        (b"\xef\xbb\xbf" + having(), 400, -32700, None),
        (having().decode().encode("utf-16"), 400, -32700, None),
        (params(arguments={"a": float("nan")}), 400, -32700, None),
        (params(arguments={"a": float("inf")}), 400, -32700, None),
        (having().replace(b'"echo"', b'"\\ud800"'), 400, -32700, None),
        (b"[" * 100_000, 200, -32600, None),
        (nested(65), 200, -32600, 7),
        (nested(150), 200, -32600, 7),
        (b"null", 200, -32600, None),
        (b"[]", 200, -32600, None),
        (b"[%b]" % having(), 200, -32600, None),
        (b"{}", 200, -32600, None),
        (without("jsonrpc"), 200, -32600, 7),
        (having(jsonrpc="1.0"), 200, -32600, 7),
        (without("method"), 200, -32600, 7),
        (b'{"jsonrpc":"2.0","id":7,"result":{}}', 200, -32600, 7),
        (b'{"jsonrpc":"2.0","id":[],"error":{}}', 200, -32600, None),
        (having(method=5), 200, -32600, 7),
        (without("id"), 200, -32600, None),
        (having(id=None), 200, -32600, None),
        (having(id=1.5), 200, -32600, None),
        (having(id=True), 200, -32600, None),
        (having(id=[7]), 200, -32600, None),
        (having(result={}), 200, -32600, 7),
        (b'{"id":8,' + having()[1:], 200, -32600, None),
        (b'{"method":"a",' + having()[1:], 200, -32600, 7),
        (having(method="tools/calls"), 200, -32601, 7),
        (having(method="initialize"), 200, -32601, 7),
        (having(method="prompts/list"), 200, -32601, 7),
        (without("params"), 200, -32602, 7),
        (having(params=[]), 200, -32602, 7),
        (having(params={}), 200, -32602, 7),
        (params(name=None), 200, -32602, 7),
        (params(arguments=None), 200, -32602, 7),
        (params(arguments=[]), 200, -32602, 7),
        (params(_meta=1), 200, -32602, 7),
        (having(method="tools/list", params=[]), 200, -32602, 7),
    ],
)
async def test_a_body_that_is_no_call_earns_a_code_and_runs_nothing(
    body: bytes, status: int, code: int, id: object
) -> None:
    service = Service()
    for accept in ("application/json", "text/event-stream"):
        answer = await caller_at(app_of(service), accept=accept).post(body)
        assert answer.headers["content-type"] == "application/json"
        assert (answer.status, answer.json["error"]["code"]) == (status, code)
        assert (answer.json["jsonrpc"], answer.json["id"]) == ("2.0", id)
    assert service.seen == []


@pytest.mark.spec("mcp-lite-4.2.1-1")
@each(
    ("body", "status", "code"),
    [
        (b"{}", 200, None),
        (b'{"cursor":"x"}', 200, None),
        (b'{"a":%b}' % (b"[" * 63 + b"]" * 63), 200, None),
        (b'{"a":%b}' % (b"[" * 64 + b"]" * 64), 200, -32600),
        (b"", 400, -32700),
        (b'{"a":NaN}', 400, -32700),
        (b"[]", 200, -32600),
        (b"null", 200, -32600),
        (b'{"jsonrpc":"2.0"}', 200, -32600),
    ],
)
async def test_tools_are_listed_for_an_object(body: bytes, status: int, code: int | None) -> None:
    answer = await caller_at(app_of(Service()), "/listtools").post(body)
    assert (answer.status, answer.json.get("error", {}).get("code")) == (status, code)


@pytest.mark.spec("mcp-lite-4.2.2-1", "mcp-lite-4.2.2-2", "mcp-lite-3.2-1")
@each("id", ["unique-id", "", 0, -1, 2**70, "a" * 300])
async def test_a_call_is_handed_over_as_it_came(id: object) -> None:
    service = Service()
    arguments = {"a": 2**70, "b": [None, "\U0001f600"], "c": {"c": 1.5}}
    meta = {"session_context": {"x": [1]}, "other": None}
    body = {**call_of("echo", id), "params": {"name": "e", "arguments": arguments, "_meta": meta}}
    answer = await caller_at(app_of(service)).post(body)
    assert answer.json["id"] == id
    assert service.seen[0][0] == ToolCall("e", arguments, meta)


async def test_a_call_without_arguments_has_none() -> None:
    service = Service()
    body = having(params={"name": "echo"})
    assert (await caller_at(app_of(service)).post(body)).status == 200
    assert service.seen[0][0] == ToolCall("echo", {}, {})


@each(
    ("header", "meta", "key"),
    [
        ("k1", {}, "k1"),
        ('"k 1"', {"a": 1}, "k 1"),
        (r'"a\"b\\c"', {}, r'a"b\c'),
        ('"', {}, '"'),
        ("k1", {"idempotency_key": "k1"}, "k1"),
        (None, {"idempotency_key": "k2"}, "k2"),
        ("k1", {"idempotency_key": "k2"}, None),
        ("", {"idempotency_key": 5}, None),
    ],
)
async def test_an_idempotency_key_may_be_a_header(
    header: str | None, meta: dict[str, Any], key: str | None
) -> None:
    service = Service()
    body = {**CALL, "params": {"name": "echo", "_meta": meta}}
    answer = await caller_at(app_of(service), idempotency_key=header).post(body)
    if key is None:
        assert answer.json["error"]["code"] == -32602
        assert service.seen == []
    else:
        assert service.seen[0][0].meta == {**meta, "idempotency_key": key}


async def test_two_keys_are_one_that_no_call_has() -> None:
    client = caller_at(app_of(service := Service()), idempotency_key="a")
    scope = client.scope("POST", {})
    scope["headers"].append((b"idempotency-key", b"b"))
    client.scope = lambda method, more: scope  # type: ignore[method-assign]
    await client.post(having())
    assert service.seen[0][0].meta == {"idempotency_key": "a, b"}


@pytest.mark.spec("mcp-lite-4.4-3", "mcp-lite-4.4-5")
async def test_b120_an_error_of_a_call_keeps_its_code_and_a_bug_its_text(
    caplog: pytest.LogCaptureFixture,
) -> None:
    client = caller_at(app_of(Service()))
    found = (await client.post(call_of("nothing"))).json
    assert found["error"]["code"] == -32601
    assert found["error"]["data"]["requested_tool"] == "nothing"
    with caplog.at_level(logging.ERROR):
        for name in ("bug", "nan"):
            failed = await client.post(call_of(name))
            assert (failed.status, failed.json["error"]["code"]) == (200, -32603)
            assert b"hunter2" not in failed.body
            assert failed.json["error"]["data"]["correlationId"] in caplog.text
