"""Frames in and out: what is a message, what is refused and how, and what leaves."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from pydantic import BaseModel

from kinwire.rpc import codec as jsonrpc
from kinwire.rpc.codec import FrameError, decode, encode
from kinwire.rpc.errors import UnsendableError
from tests.absent import shared
from tests.each import each
from tests.runtime.rpc.fixtures_jsonrpc_vectors import BYTES, NO_REPLY, RESULT, TEXTS, Reply

LONG = "x" * 2000


def refusal(frame: bytes) -> FrameError:
    with pytest.raises(FrameError) as caught:
        decode(frame)
    return caught.value


def reply_to(frame: bytes) -> Reply:
    """Return what a refused frame earns; for a message that is the engine's to say."""
    refused = refusal(frame)
    return None if refused.meant == "response" else (refused.error.code, refused.id)


VECTORS = [(text.encode(), reply) for text, reply in TEXTS] + BYTES
REFUSED = [
    (frame, reply)
    for frame, reply in VECTORS
    if reply is not None and reply[0] in (-32700, -32600) and frame.strip()
]


@each(("frame", "reply"), REFUSED)
@pytest.mark.spec("mcp-id-field-requirements-1", "mcp-error-codes-1", "mcp-error-codes-2")
def test_an_invalid_frame_is_refused_with_code_and_id(frame: bytes, reply: Reply) -> None:
    assert reply_to(frame) == reply


PING = '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"text":"%s"}}'

ENCODED = [
    # The bytes, the code, what the message names, and whether the id is known all the same.
    (b"\xef\xbb\xbf" + PING.encode(), -32600, "byte order mark", True),
    (PING.encode() % b"\xed\xa0\x80", -32700, "UTF-8", True),  # CESU-8
    (PING.encode() % b"\xed\xa0\xbd\xed\xb2\xa9", -32700, "UTF-8", True),
    (PING.encode() % b"\xc0\xaf", -32700, "UTF-8", False),
    (PING.encode() % b"\xff", -32700, "UTF-8", False),
    (PING.encode("utf-16"), -32700, "UTF-16", False),
    (PING.encode("utf-16-le"), -32700, "UTF-16", False),
    (PING.encode("utf-16-be"), -32700, "UTF-16", False),
    (PING.encode("utf-32"), -32700, "UTF-32", False),
    (PING.encode() % b"\\ud800", -32600, "surrogate pair", True),
]


@each(("frame", "code", "named", "is_known"), ENCODED)
def test_a_frame_in_another_encoding_is_named(
    frame: bytes, code: int, named: str, is_known: bool
) -> None:
    with pytest.raises(FrameError) as caught:
        decode(frame)
    assert caught.value.error.code == code
    assert named in caught.value.error.message
    assert caught.value.id == (1 if is_known else None)


@each("frame", [frame for frame, reply in VECTORS if reply is not None and reply[0] == RESULT])
def test_a_request_is_returned_as_it_came(frame: bytes) -> None:
    assert decode(frame) == json.loads(frame)


@each(
    "frame",
    [
        pytest.param('{"id":2,%s"method":"x","id":3}', id="id, far apart"),
        pytest.param('{"id":2,"id":3,%s"method":"x"}', id="id, at the beginning"),
        pytest.param('{"id":2,"method":"x",%s"method":"y"}', id="method, far apart"),
        pytest.param('{"id":2,%s"method":"x","method":"y"}', id="method, at the end"),
    ],
)
def test_a_repeated_member_is_seen_at_the_ends_of_a_long_frame(frame: str) -> None:
    padded = frame.replace("{", '{"jsonrpc":"2.0",') % f'"params":{{"a":"{LONG}"}},'
    assert "more than once" in refusal(padded.encode()).error.message


def test_a_repeated_member_in_the_middle_of_a_long_frame_stays_unseen() -> None:
    pad = f'"a":"{LONG}",'
    frame = f'{{"jsonrpc":"2.0","id":1,{pad}"id":2,{pad}"method":"x"}}'
    assert decode(frame.encode())["id"] == 2


def test_members_of_the_params_may_be_called_like_those_of_the_envelope() -> None:
    frame = b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"id":1,"method":"y","x":{"id":2}}}'
    assert decode(frame)["method"] == "x"


def test_an_id_that_occurs_twice_is_not_answered_under_either() -> None:
    assert refusal(b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":NaN},"id":2}').id is None


def test_200_levels_are_read_and_202_are_refused() -> None:
    def frame(levels: int) -> bytes:  # the envelope and the params are two
        nested = "[" * (levels - 2) + "]" * (levels - 2)
        return f'{{"jsonrpc":"2.0","id":1,"method":"x","params":{{"a":{nested}}}}}'.encode()

    assert decode(frame(200))["id"] == 1
    assert refusal(frame(202)).error.code == -32600


@each(
    ("frame", "meant"),
    [
        (b'{"jsonrpc":"2.0","id":1,"result":NaN}', "response"),
        (b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"\\ud800"}}', "response"),
        (b'{"jsonrpc":"2.0","id":1,"result":{"x":"a', "response"),
        (b'{"jsonrpc":"2.0","id":1}', "unclear"),
        (b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":', "unclear"),
        (b'{"jsonrpc":"2.0","id":1,"method":"x","params":NaN}', "request"),
    ],
)
def test_a_refusal_says_what_the_frame_was_meant_to_be(frame: bytes, meant: str) -> None:
    assert refusal(frame).meant == meant


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=20,
)


@given(params=st.dictionaries(st.text(max_size=5), JSON))
@pytest.mark.spec("mcp-stdio-transport-2")
def test_what_leaves_comes_back_equal(params: dict[str, Any]) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "x", "params": params}
    frame = encode(message)
    assert decode(frame) == message
    assert json.loads(frame.decode("utf-8"), parse_constant=pytest.fail) == message
    assert b"\n" not in frame


@given(message=JSON | st.floats() | st.tuples(st.integers(), st.text()) | st.uuids() | st.dates())
def test_the_bytes_are_the_same_with_and_without_orjson(message: object) -> None:
    try:
        expected = jsonrpc._plain_encode(message)
    except UnsendableError:
        with pytest.raises(UnsendableError):
            encode(message)
    else:
        assert encode(message) == expected


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("write", [encode, jsonrpc._plain_encode], ids=["encode", "plain"])
def test_a_number_that_json_does_not_have_is_refused_with_its_place(
    number: float, write: Callable[[object], bytes]
) -> None:
    class Point(BaseModel):
        x: float

    for message, place in (
        (number, "/"),
        ({"a/b": [None, {"c": number}]}, "/a~1b/1/c"),
        ({"point": Point(x=number)}, "/point/x"),
        ({"text": "NaN Infinity null", "x": (number,)}, "/x/0"),
    ):
        with pytest.raises(UnsendableError, match=f"JSON: {place}: expected a number .*{number}"):
            write(message)


@pytest.mark.parametrize("write", [encode, jsonrpc._plain_encode], ids=["encode", "plain"])
def test_words_and_null_are_no_reason_to_refuse(write: Callable[[object], bytes]) -> None:
    message = {"a": "NaN Infinity", "b": None, "c": [1.5, "null"]}
    assert json.loads(write(message)) == message


def endless() -> list[Any]:
    loop: list[Any] = []
    loop.append(loop)
    return loop


@each(
    "message",
    [
        pytest.param({"a": "\ud800"}, id="half of a surrogate pair"),
        pytest.param({"\ud800": 1}, id="half of a surrogate pair as a name"),
        pytest.param({"a": object()}, id="an object of no JSON type"),
        pytest.param(endless(), id="a list that holds itself"),
    ],
)
def test_what_json_cannot_hold_is_not_sent(message: object) -> None:
    with pytest.raises(UnsendableError, match="cannot be written as JSON"):
        encode(message)


def test_a_decimal_keeps_its_digits() -> None:
    assert encode({"a": Decimal("0.10")}) == b'{"a":"0.10"}'


def test_every_vector_of_the_corpus_is_in_the_table() -> None:
    texts = json.loads(shared("corpora/jsonrpc/vectors.json").read_text(encoding="utf-8"))
    raw = json.loads(shared("corpora/jsonrpc/raw_bytes.json").read_text(encoding="utf-8"))
    assert {one["input"] for one in texts} <= {text for text, _ in TEXTS}
    assert {bytes.fromhex(one["hex"]) for one in raw} <= {frame for frame, _ in BYTES}


def parsing_cases(kind: str) -> list[Path]:
    return sorted(shared("corpora/json-parsing/test_parsing").glob(f"{kind}_*.json"))


@pytest.mark.parametrize(
    ("kind", "accepted"), [("y", True), ("n", False)], ids=["valid", "invalid"]
)
def test_params_of_the_parsing_corpus_are_judged_as_json_is(kind: str, accepted: bool) -> None:
    cases = parsing_cases(kind)
    assert cases
    for case in cases:
        frame = b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":%b}}' % case.read_bytes()
        if accepted:
            assert decode(frame)["id"] == 1, case.name
        else:
            assert refusal(frame).error.code in (-32700, -32600), case.name


def test_no_text_of_the_parsing_corpus_is_a_message_or_an_accident() -> None:
    cases = [path for kind in "yni" for path in parsing_cases(kind)]
    assert cases
    for case in cases:
        assert refusal(case.read_bytes()).error.code in (-32700, -32600), case.name


def test_a_blank_frame_earns_nothing() -> None:
    assert [reply for text, reply in TEXTS if not text.strip()] == [NO_REPLY, NO_REPLY]
