"""What no peer of ours would send, to both ends of every transport: one answer, and life goes on.

After each frame a ping is answered on the same session. A host does not answer a frame without
an id where it may not be a request: a program may print a greeting, and what comes on a stream of
Streamable HTTP is taken for a reply.
"""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from tests.runtime.transports.fake_clients import RawClient, message
from tests.runtime.transports.faults.fixtures_ends import (
    CARRYING_BYTES,
    Client,
    Place,
    Session,
    answer,
    answers,
)

pytestmark = pytest.mark.faults

RESULT = 0  # in place of an error's code

Reply = tuple[int, Any]


def reply_in(found: Any) -> Reply:
    return (found["error"]["code"] if "error" in found else RESULT), found.get("id")


def ping(id: str) -> str:
    return f'{{"jsonrpc":"2.0","id":{id},"method":"ping"}}'


def with_params(value: str) -> str:
    return f'{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"_meta":{{"value":{value}}}}}}}'


def copying(session: Session, id: int, text: str) -> bytes:
    """Return a request whose answer has the text; only what JSON has to escape is escaped."""
    if isinstance(session, RawClient):
        method = "tools/call"
        params: dict[str, Any] = {"name": "echo", "arguments": {"text": text}}
    else:
        said = {"role": "user", "content": {"type": "text", "text": text}}
        method, params = "sampling/createMessage", {"messages": [said], "maxTokens": 1}
    body = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
    return json.dumps(body, ensure_ascii=False).encode()


def text_in(found: Any) -> str:
    content = found["result"]["content"]
    text = content[0]["text"] if isinstance(content, list) else content["text"]
    assert isinstance(text, str)
    return text


PING = ping("1").encode()
LONG = "x" * (1 << 20)

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
    pytest.param(ping(f'"{LONG}"'), (RESULT, LONG), id="an id of a megabyte"),
]

UNREADABLE = [
    pytest.param('{"jsonrpc":"2.0","id":1,', (-32700, None), id="half a message"),
    pytest.param(f"[{ping('1')}]", (-32600, None), id="a batch"),
    pytest.param('{"jsonrpc":"2.0","id":2,"method":"no/such"}', (-32601, 2), id="no such method"),
    pytest.param('{"jsonrpc":"1.0","id":1,"method":"ping"}', (-32600, 1), id="version 1.0"),
]

DEEP = [
    pytest.param("[" * 100_000, (-32700, None), id="100,000 brackets"),
    pytest.param(with_params("[" * 20_000 + "]" * 20_000), (-32600, 1), id="20,000 levels"),
    pytest.param(with_params('{"a":' * 20_000 + "1" + "}" * 20_000), (-32600, 1), id="objects"),
]

NUMBERS = [
    pytest.param(with_params("NaN"), (-32600, 1), id="NaN"),
    pytest.param(with_params("-Infinity"), (-32600, 1), id="minus infinity"),
    pytest.param(ping("NaN"), (-32700, None), id="an id that is not a number"),
]

SURROGATES = [
    pytest.param(with_params('"\\ud800"'), (-32600, 1), id="the first half"),
    pytest.param(with_params('"\\udc00x"'), (-32600, 1), id="the second half"),
    pytest.param(ping('"\\ud800"'), (-32700, None), id="in an id"),
]


def is_request(frame: bytes, reply: Reply) -> bool:
    return frame.startswith(b"{") and reply[0] == -32600


def check(session: Session, where: Place, frame: bytes, reply: Reply) -> None:
    unclear = reply[1] is None and (where.transport == "stdio" or not is_request(frame, reply))
    if isinstance(session, Client) and where.transport in ("stdio", "http") and unclear:
        assert answers(session, frame) == []
    else:
        assert reply_in(answer(session, frame)) == reply


@pytest.mark.parametrize(("frame", "reply"), UNREADABLE)
def test_an_invalid_request_is_answered_once(
    session: Session, where: Place, frame: str, reply: Reply
) -> None:
    check(session, where, frame.encode(), reply)


@pytest.mark.fault(7)
@pytest.mark.parametrize(("frame", "reply"), DEEP)
def test_depth_is_refused(
    session: Session, where: Place, frame: str, reply: Reply, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        check(session, where, frame.encode(), reply)
    assert "RecursionError" not in caplog.text


@pytest.mark.fault(9)
@pytest.mark.parametrize(("frame", "reply"), ANSWERED)
def test_an_id_comes_back_unchanged_or_is_invalid(
    session: Session, where: Place, frame: str, reply: Reply
) -> None:
    check(session, where, frame.encode(), reply)


@pytest.mark.fault(10)
@pytest.mark.parametrize(("frame", "reply"), NUMBERS)
def test_an_invalid_json_number_is_refused(
    session: Session, where: Place, frame: str, reply: Reply
) -> None:
    check(session, where, frame.encode(), reply)


@pytest.mark.fault(11)
@pytest.mark.parametrize(("frame", "reply"), SURROGATES)
def test_half_a_character_is_refused(
    session: Session, where: Place, frame: str, reply: Reply
) -> None:
    check(session, where, frame.encode(), reply)


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param('{"jsonrpc":"2.0","method":"x/y","params":{"a":1}}', id="unknown"),
        pytest.param('{"jsonrpc":"2.0","method":"notifications/cancelled"}', id="bad params"),
        pytest.param('{"jsonrpc":"2.0","id":99,"result":{}}', id="an answer to nothing"),
        pytest.param('{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}', id="an error"),
    ],
)
def test_what_asks_for_no_answer_gets_none(session: Session, frame: str) -> None:
    assert answers(session, frame.encode()) == []


@pytest.mark.fault(12)
@pytest.mark.parametrize(
    "text", ["\u2028", "\u2029", "\u0085", "\u000b", "\r", "\r\n", "data: x\n\n", "\x00", "\ufeff"]
)
def test_no_character_of_a_text_ends_a_line(session: Session, text: str) -> None:
    found = answer(session, copying(session, 1, text))
    assert text_in(found) == text


STRANGE_TEXT = [
    pytest.param(b"\xef\xbb\xbf" + PING, (-32600, 1), id="a BOM"),
    pytest.param(b"\xef\xbb\xbf" * 2 + PING, (-32700, None), id="two BOMs"),
    pytest.param(ping("1").encode("utf-32-le"), (-32700, None), id="UTF-32"),
]


@pytest.mark.fault(13)
@pytest.mark.parametrize(("frame", "reply"), STRANGE_TEXT)
def test_text_that_begins_strangely_is_refused(
    session: Session, where: Place, frame: bytes, reply: Reply
) -> None:
    check(session, where, frame, reply)


NO_TEXT = [
    pytest.param(ping("1").encode("utf-16"), id="UTF-16"),
    pytest.param(PING.replace(b"ping", b"\xc0\xaf"), id="overlong UTF-8"),
    pytest.param(PING.replace(b"ping", b"\xff"), id="no UTF-8"),
]


@pytest.mark.fault(13)
@pytest.mark.parametrize("where", CARRYING_BYTES, indirect=True, ids=str)
@pytest.mark.parametrize("frame", NO_TEXT)
def test_bytes_that_are_not_text_are_refused(session: Session, where: Place, frame: bytes) -> None:
    check(session, where, frame, (-32700, None))


@pytest.mark.fault(10)
@pytest.mark.fault(11)
@pytest.mark.parametrize("how", ["nan", "infinity", "surrogate"])
def test_what_json_cannot_hold_never_leaves(session: Session, how: str) -> None:
    if isinstance(session, RawClient):
        frame = message("tools/call", 1, name="mar", arguments={"how": how})
    else:
        frame = copying(session, 1, how)
    found = answer(session, frame)
    assert found["id"] == 1
    text = json.dumps(found)
    assert "NaN" not in text
    assert "Infinity" not in text
    assert "ud800" not in text
