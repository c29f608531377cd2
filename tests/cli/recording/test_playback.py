"""The rules of a replay: when the played side sends, and what of the peer is a finding."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kinwire_cli.recording.lines import RecordedStep
from kinwire_cli.recording.playback import Playback
from kinwire_cli.validation.validator import MessageValidator, Side
from kinwire_protocols.mcp.methods import PROTOCOL
from tests.each import each

OPENING: list[tuple[Side, dict[str, Any]]] = [
    ("client", {"id": 1, "method": "ping"}),
    ("server", {"id": 1, "result": {}}),
]
LIST: dict[str, Any] = {"method": "tools/list"}
CALL: dict[str, Any] = {
    "method": "tools/call",
    "params": {"name": "a", "_meta": {"progressToken": "t"}},
}
TEXT: dict[str, Any] = {"content": [{"type": "text", "text": "3"}]}
NEWS: dict[str, Any] = {"method": "notifications/tools/list_changed"}


def played(side: Side, *messages: tuple[Side, dict[str, Any]]) -> Playback:
    steps = [
        RecordedStep(number, sender, {"jsonrpc": "2.0", **message})
        for number, (sender, message) in enumerate(messages, 1)
    ]
    return Playback(steps, side, MessageValidator([PROTOCOL]))


def sent(frames: list[bytes]) -> list[dict[str, Any]]:
    messages = [json.loads(frame) for frame in frames]
    return [{name: m[name] for name in m if name != "jsonrpc"} for m in messages]


def receive(playback: Playback, message: dict[str, Any]) -> list[dict[str, Any]]:
    """Hand over a message; return what is sent because of it."""
    frame = json.dumps({"jsonrpc": "2.0", **message}).encode()
    return sent([*playback.receive(frame), *playback.frames()])


def verdicts(playback: Playback) -> list[tuple[str, str | None, int | None]]:
    return [(one.verdict, one.method, one.line) for one in playback.outcomes]


# -- the client is played --


def test_a_client_goes_on_when_the_answer_is_there() -> None:
    playback = played("client", *OPENING, ("client", NEWS), ("client", {"id": 2, **LIST}))
    assert sent(playback.frames()) == [{"id": 1, "method": "ping"}]
    assert receive(playback, {"method": "notifications/message", "params": {}}) == []
    assert receive(playback, {"id": 1, "result": {}}) == [NEWS, {"id": 2, **LIST}]
    assert not playback.waits


def test_overlapping_requests_overlap_again_and_are_answered_in_any_order() -> None:
    playback = played(
        "client",
        ("client", {"id": 1, **LIST}),
        ("client", {"id": "1", "method": "ping"}),
        ("server", {"id": "1", "result": {}}),
        ("server", {"id": 1, "result": {"tools": []}}),
        ("client", {"id": 2, "method": "ping"}),
    )
    assert [message["id"] for message in sent(playback.frames())] == [1, "1"]
    assert receive(playback, {"id": 1, "result": {"tools": []}}) == []
    assert [m["id"] for m in receive(playback, {"id": "1", "result": {}})] == [2]
    assert verdicts(playback) == [("equal", "tools/list", 4), ("equal", "ping", 3)]


@each(
    ("recorded", "came", "verdict", "problems"),
    [
        ({"result": TEXT}, {"result": TEXT}, "equal", []),
        (
            {"result": TEXT},
            {"result": {"content": [{"type": "text", "text": "4"}]}},
            "differs",
            ['/result/content/0/text: expected "3", got "4"'],
        ),
        (
            {"result": TEXT},
            {"error": {"code": -32602, "message": "No."}},
            "differs",
            ['/error: expected a result, got error -32602, "No."'],
        ),
        (
            {"error": {"code": -32602, "message": "No."}},
            {"result": TEXT},
            "differs",
            ['/result: expected error -32602, "No.", got a result'],
        ),
        (
            {"error": {"code": -32602, "message": "No."}},
            {"error": {"code": -32603, "message": "No."}},
            "differs",
            ["/error/code: expected -32602, got -32603"],
        ),
        (
            {"result": {"content": 5}},
            {"result": {"content": 5}},
            "invalid",
            ["/result/content: expected an array, got 5"],
        ),
    ],
)
def test_an_answer_is_compared_and_judged(
    recorded: dict[str, Any], came: dict[str, Any], verdict: str, problems: list[str]
) -> None:
    playback = played("client", ("client", {"id": 1, **CALL}), ("server", {"id": 1, **recorded}))
    playback.frames()
    receive(playback, {"id": 1, **came})
    (outcome,) = playback.outcomes
    assert (outcome.verdict, [str(one) for one in outcome.problems]) == (verdict, problems)
    assert outcome.good == (verdict == "equal")


def test_what_the_server_asks_is_answered_under_its_own_id() -> None:
    roots = {"method": "roots/list"}
    playback = played(
        "client",
        *OPENING,
        ("server", {"id": 7, **roots}),
        ("client", {"id": 7, "result": {"roots": []}}),
        ("client", {"id": 2, "method": "ping"}),
    )
    playback.frames()
    assert receive(playback, {"id": 1, "result": {}}) == []
    assert receive(playback, {"id": "x", **roots}) == [
        {"id": "x", "result": {"roots": []}},
        {"id": 2, "method": "ping"},
    ]
    assert verdicts(playback) == [("equal", "ping", 2), ("equal", "roots/list", 3)]


def test_missing_messages_are_reported_and_the_rest_goes_on() -> None:
    playback = played(
        "client",
        *OPENING,
        ("server", {"id": 7, "method": "roots/list"}),
        ("client", {"id": 7, "result": {"roots": []}}),
        ("client", {"id": 2, "method": "ping"}),
    )
    playback.frames()
    playback.give_up("nothing within 1 s")
    assert playback.frames() == []
    playback.give_up("nothing within 1 s")
    assert sent(playback.frames()) == [{"id": 2, "method": "ping"}]  # nobody asked for the roots
    assert verdicts(playback) == [("missing", "ping", 2), ("missing", "roots/list", 3)]
    assert not any(outcome.good for outcome in playback.outcomes)


def test_an_end_before_its_time_leaves_everything_missing() -> None:
    playback = played("client", *OPENING, ("client", {"id": 2, **LIST}), ("server", {"id": 2}))
    playback.frames()
    playback.end("nothing: gone")
    assert verdicts(playback) == [("missing", "ping", 2), ("missing", "tools/list", 4)]


@pytest.mark.parametrize(
    ("message", "answer", "verdict"),
    [
        ({"id": 1, "method": "ping"}, {"id": 1, "result": {}}, "note"),
        (
            {"id": 1, "method": "roots/list"},
            {"id": 1, "error": {"code": -32603, "message": "Not in the recording: roots/list"}},
            "unexpected",
        ),
    ],
)
def test_a_request_that_is_not_recorded_is_answered_all_the_same(
    message: dict[str, Any], answer: dict[str, Any], verdict: str
) -> None:
    playback = played("client", *OPENING)
    playback.frames()
    assert receive(playback, message) == [answer]
    assert [one.verdict for one in playback.outcomes] == [verdict]


@each(
    ("frame", "verdicts_"),
    [
        (b"hello", ["invalid"]),
        (b"\xff", ["invalid"]),
        (b'{"jsonrpc": "2.0", "id": 9, "result": {}}', ["invalid"]),
        (b'{"jsonrpc": "2.0", "result": {}}', ["invalid"]),
        (b'{"jsonrpc": "2.0", "method": "notifications/message"}', ["invalid"]),
        (b" ", []),
    ],
)
def test_what_a_server_must_not_send_is_a_finding(frame: bytes, verdicts_: list[str]) -> None:
    playback = played("client", *OPENING)
    playback.frames()
    playback.receive(frame)
    assert [one.verdict for one in playback.outcomes] == verdicts_


def test_notifications_are_counted_and_no_finding() -> None:
    playback = played("client", ("server", NEWS), ("server", NEWS))
    playback.frames()
    receive(playback, NEWS)
    assert not playback.notified
    playback.end("nothing")
    (note,) = playback.outcomes
    assert note.good
    assert str(note.problems[0]) == ": expected 2 as recorded, got 1"


def test_an_answer_after_the_end_of_a_recording_is_not_a_finding() -> None:
    playback = played("client", ("client", {"id": 1, "method": "ping"}))
    playback.frames()
    receive(playback, {"id": 1, "result": {}})
    assert verdicts(playback) == [("note", "ping", None)]


def test_noise_of_the_played_side_is_played_and_noise_of_the_peer_ignored() -> None:
    noise = [RecordedStep(1, "server", None, b"hello"), RecordedStep(2, "client", None, b"\xff")]
    playback = Playback(noise, "client", MessageValidator([PROTOCOL]))
    assert playback.frames() == [b"\xff"]
    assert not playback.waits


# -- the server is played --

PROGRESS: dict[str, Any] = {"progressToken": "t", "progress": 1}
SERVED: list[tuple[Side, dict[str, Any]]] = [
    ("client", {"id": 1, **LIST}),
    ("server", {"id": 1, "result": {"tools": []}}),
    ("client", {"id": 2, **CALL}),
    ("server", {"method": "notifications/progress", "params": PROGRESS}),
    ("server", {"id": 2, "result": TEXT}),
]
LIVE_CALL = {"name": "a", "_meta": {"progressToken": 5}}
ANSWERS = [
    {"method": "notifications/progress", "params": {**PROGRESS, "progressToken": 5}},
    {"id": "b", "result": TEXT},
]


def test_a_server_answers_under_the_ids_and_tokens_of_the_client() -> None:
    playback = played("server", *SERVED)
    assert playback.frames() == []
    assert receive(playback, {"id": "a", **LIST}) == [{"id": "a", "result": {"tools": []}}]
    assert receive(playback, {"id": "b", "method": "tools/call", "params": LIVE_CALL}) == ANSWERS
    assert verdicts(playback) == [("equal", "tools/list", 1), ("equal", "tools/call", 3)]


def test_a_client_that_asks_in_another_order_is_answered() -> None:
    playback = played("server", *SERVED)
    playback.frames()
    assert receive(playback, {"id": "b", "method": "tools/call", "params": LIVE_CALL}) == ANSWERS
    assert receive(playback, {"id": "a", **LIST}) == [{"id": "a", "result": {"tools": []}}]
    assert not playback.waits


def test_of_requests_of_one_method_the_equal_one_is_meant() -> None:
    def call(identifier: object, name: str) -> dict[str, Any]:
        return {"id": identifier, "method": "prompts/get", "params": {"name": name}}

    playback = played(
        "server",
        ("client", call(1, "x")),
        ("client", call(2, "y")),
        ("server", {"id": 1, "result": {"messages": []}}),
        ("server", {"id": 2, "result": {"messages": [], "description": "y"}}),
    )
    playback.frames()
    assert receive(playback, call("b", "y"))[0]["result"]["description"] == "y"
    receive(playback, call("a", "z"))
    assert verdicts(playback) == [("equal", "prompts/get", 2), ("differs", "prompts/get", 1)]


@each(
    ("method", "first", "second", "asked"),
    [
        ("tools/call", {"name": "x", "arguments": {}}, {"name": "y", "arguments": {}}, "name"),
        ("prompts/get", {"name": "x"}, {"name": "y"}, "name"),
        ("resources/read", {"uri": "a:x"}, {"uri": "a:y"}, "uri"),
    ],
)
def test_of_requests_of_one_method_the_one_about_the_same_thing_is_meant(
    method: str, first: dict[str, Any], second: dict[str, Any], asked: str
) -> None:
    playback = played(
        "server",
        ("client", {"id": 1, "method": method, "params": first}),
        ("server", {"id": 1, "result": {}}),
        ("client", {"id": 2, "method": method, "params": second}),
        ("server", {"id": 2, "result": {"_meta": {"second": True}}}),
    )
    playback.frames()
    params = {asked: second[asked], "arguments": {"other": "z"}}
    (answer,) = receive(playback, {"id": "b", "method": method, "params": params})
    assert answer == {"id": "b", "result": {"_meta": {"second": True}}}


def test_the_number_of_an_internal_error_may_differ() -> None:
    def answer(number: str, code: int = -32603) -> dict[str, Any]:
        data, text = {"correlationId": number}, f"Internal error, with correlation id {number}."
        return {"id": 1, "error": {"code": code, "message": text, "data": data}}

    for came, verdict in ((answer("7b"), "equal"), (answer("7b", -32000), "differs")):
        playback = played("client", ("client", {"id": 1, **CALL}), ("server", answer("5a")))
        playback.frames()
        receive(playback, came)
        assert [one.verdict for one in playback.outcomes] == [verdict]


def test_what_is_missing_since_the_client_has_left_says_so() -> None:
    playback = played("server", *SERVED, ("client", {"id": 3, **LIST}))
    playback.frames()
    playback.give_up("nothing within 1 s")
    playback.end("nothing")
    assert [(one.verdict, one.line, one.at_end) for one in playback.outcomes] == [
        ("missing", 1, False),
        ("missing", 3, True),
        ("missing", 6, True),
    ]
