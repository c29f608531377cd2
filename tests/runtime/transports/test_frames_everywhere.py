"""What no client of ours would send, over each network transport: one answer, and life goes on.

Behind each frame a ping is answered on the same session.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.runtime.programs import everywhere, held
from tests.runtime.transports.raw import RAW, RawClient, message
from tests.runtime.transports.serving import Served, served

pytestmark = pytest.mark.faults

RESULT = 0  # in place of an error's code

Reply = tuple[int, Any]


@pytest.fixture(scope="module")
def listening() -> Iterator[Served]:
    with served(everywhere.server) as one:
        yield one


@pytest.fixture(params=RAW)
def client(request: pytest.FixtureRequest, listening: Served) -> Iterator[RawClient]:
    with RAW[request.param](listening.port) as one:
        yield one


def ping(id: str) -> str:
    return f'{{"jsonrpc":"2.0","id":{id},"method":"ping"}}'


def echo(value: str) -> str:
    call = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":'
    return f'{call}{{"name":"echo","arguments":{{"value":{value}}}}}}}'


ANSWERED = [
    pytest.param(ping("0"), (RESULT, 0), id="id 0"),
    pytest.param(ping("-1"), (RESULT, -1), id="a negative id"),
    pytest.param(ping('""'), (RESULT, ""), id="an empty id"),
    pytest.param(ping('"1"'), (RESULT, "1"), id="a number as text"),
    pytest.param(ping("9007199254740993"), (RESULT, 2**53 + 1), id="no double has this id"),
    pytest.param(ping("100000000000000000000"), (RESULT, 10**20), id="ten to the twentieth"),
    pytest.param(ping("1.0"), (-32600, None), id="1.0"),
    pytest.param(ping("true"), (-32600, None), id="true"),
    pytest.param(ping("null"), (-32600, None), id="null"),
    pytest.param('{"jsonrpc":"2.0","id":1,', (-32700, None), id="half a message"),
    pytest.param("[" * 100_000, (-32700, None), id="100,000 brackets"),
    pytest.param(echo("[" * 20_000 + "]" * 20_000), (-32600, 1), id="20,000 levels"),
    pytest.param(echo("NaN"), (-32600, 1), id="NaN"),
    pytest.param(echo("-Infinity"), (-32600, 1), id="minus infinity"),
    pytest.param(echo('"\\ud800"'), (-32600, 1), id="half a character"),
    pytest.param(f"[{ping('1')}]", (-32600, None), id="a batch"),
    pytest.param('{"jsonrpc":"2.0","id":2,"method":"no/such"}', (-32601, 2), id="no such method"),
    pytest.param('{"jsonrpc":"1.0","id":1,"method":"ping"}', (-32600, 1), id="version 1.0"),
]


@pytest.mark.parametrize(("frame", "reply"), ANSWERED)
def test_a_frame_is_answered_once_and_the_session_lives(
    client: RawClient, frame: str, reply: Reply
) -> None:
    assert [reply_in(found) for found in client.ask(frame.encode())] == [reply]


def lives(client: RawClient) -> bool:
    return [reply_in(found) for found in client.ask(PING)] == [(RESULT, 1)]


def reply_in(found: Any) -> Reply:
    return (found["error"]["code"] if "error" in found else RESULT), found.get("id")


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param('{"jsonrpc":"2.0","method":"x/y","params":{"a":1}}', id="unknown"),
        pytest.param('{"jsonrpc":"2.0","method":"notifications/cancelled"}', id="bad params"),
        pytest.param('{"jsonrpc":"2.0","id":99,"result":{}}', id="an answer to nothing"),
        pytest.param('{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}', id="an error"),
    ],
)
def test_what_asks_for_no_answer_gets_none(client: RawClient, frame: str) -> None:
    assert client.ask(frame.encode()) == []


@pytest.mark.parametrize(
    "text", ["\u2028", "\u2029", "\u0085", "\u000b", "\r", "\r\n", "data: x\n\n", "\x00", "\ufeff"]
)
def test_no_character_of_a_text_ends_a_line(client: RawClient, text: str) -> None:
    call = message("tools/call", 1, name="echo", arguments={"value": text})
    found = client.answer(call)
    assert found["result"]["content"] == [{"type": "text", "text": text}]


PING = ping("1").encode()

BYTES = [
    pytest.param(b"\xef\xbb\xbf" + PING, {(-32600, 1)}, id="a BOM"),
    pytest.param(b"\xef\xbb\xbf" * 2 + PING, {(-32700, None)}, id="two BOMs"),
    pytest.param(ping("1").encode("utf-16"), {(-32700, None)}, id="UTF-16"),
    pytest.param(ping("1").encode("utf-32-le"), {(-32700, None)}, id="UTF-32"),
    pytest.param(PING.replace(b"ping", b"\xc0\xaf"), {(-32700, None)}, id="overlong UTF-8"),
    pytest.param(PING.replace(b"ping", b"\xff"), {(-32700, None)}, id="no UTF-8"),
]


@pytest.mark.parametrize(("frame", "replies"), BYTES)
@pytest.mark.parametrize("transport", ["http", "sse"])
def test_bytes_that_are_no_text_are_answered(
    transport: str, frame: bytes, replies: set[Reply], listening: Served
) -> None:
    with RAW[transport](listening.port) as client:
        assert {reply_in(found) for found in client.ask(frame)} == replies


@pytest.mark.parametrize("how", ["nan", "infinity", "surrogate"])
@pytest.mark.parametrize("transport", RAW)
def test_what_json_cannot_hold_never_leaves(transport: str, how: str) -> None:
    with served(held.server) as one, RAW[transport](one.port) as client:
        found = client.answer(message("tools/call", 1, name="mar", arguments={"how": how}))
        assert lives(client)
    assert found["id"] == 1
    text = json.dumps(found)
    assert "NaN" not in text
    assert "Infinity" not in text
    assert "ud800" not in text


@pytest.mark.parametrize("version", ["2024-11-05", "2025-11-25", "2099-01-01", "1.0", ""])
@pytest.mark.parametrize("transport", RAW)
def test_whatever_version_a_client_offers_it_is_told_the_one_that_is_spoken(
    transport: str, version: str, listening: Served
) -> None:
    who = {"name": "raw", "version": "0"}
    offer = message("initialize", "first", protocolVersion=version, capabilities={}, clientInfo=who)
    with RAW[transport](listening.port, offer) as client:
        assert client.greeting["result"]["protocolVersion"] == "2024-11-05"
        assert client.ask(message("ping", 1)) == [{"jsonrpc": "2.0", "id": 1, "result": {}}]
