"""The pieces of one answer: which are taken, and what the whole answer adds (MCPL 11.4)."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from kinwire.mcpl.server import inference_streams
from kinwire.mcpl.server.inference_streams import InferenceStream
from kinwire.rpc.errors import InvalidResponseError
from kinwire_protocols.mcpl.models import InferenceRequestResult

pytestmark = [pytest.mark.anyio, pytest.mark.spec("mcpl-11.4-2", "mcpl-11.4-3")]

FAILED = ConnectionError("gone")


def whole(content: str) -> InferenceRequestResult:
    return InferenceRequestResult(content=content, model="m", finish_reason="end_turn")


async def read(stream: InferenceStream) -> list[str]:
    """Return the pieces; the last one is the class of the error, if there was one."""
    found: list[str] = []
    try:
        async for piece in stream:
            found.append(piece)  # noqa: PERF401 - pieces before an error count
    except Exception as error:
        found.append(type(error).__name__)
    return found


@pytest.mark.parametrize(
    ("pieces", "result", "expected"),
    [
        ([(0, "a"), (1, "b")], whole("ab"), ["a", "b"]),
        ([(0, "a"), (0, "x"), (1, "b")], whole("ab"), ["a", "b"]),
        ([(0, "a")], whole("abc"), ["a", "bc"]),
        ([(0, "wrong")], whole("the answer"), ["wrong"]),
        ([(0, "a")], FAILED, ["a", "ConnectionError"]),
    ],
    ids=["all pieces", "a repeated piece", "a missing piece", "another answer", "an error"],
)
async def test_the_whole_answer_completes_the_pieces(
    pieces: list[tuple[int, str]], result: Any, expected: list[str]
) -> None:
    stream = InferenceStream()
    for index, delta in pieces:
        stream.take(index, delta)
    failed = isinstance(result, Exception)
    stream.end(None if failed else result, result if failed else None)
    stream.take(9, "too late")
    assert await read(stream) == expected


@pytest.mark.parametrize(("deltas", "fits"), [(["abc", "d"], True), (["abc", "de"], False)])
async def test_an_answer_has_a_limit(
    monkeypatch: pytest.MonkeyPatch, deltas: list[str], fits: bool
) -> None:
    monkeypatch.setattr(inference_streams, "_MOST_SAID", 4)
    stream = InferenceStream()
    for index, delta in enumerate(deltas):
        stream.take(index, delta)
    stream.end(whole("".join(deltas)), None)
    assert await read(stream) == (deltas if fits else ["abc", InvalidResponseError.__name__])


async def test_unread_pieces_are_joined_at_their_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inference_streams, "_MOST_UNREAD", 2)
    stream = InferenceStream()
    for index, delta in enumerate("abcd"):
        stream.take(index, delta)
    stream.end(whole("abcd"), None)
    assert await read(stream) == ["a", "bcd"]


async def test_the_end_waits_for_missing_pieces_only() -> None:
    stream = InferenceStream()
    stream.take(0, "ab")
    for length, waits in ((2, False), (3, True)):
        with anyio.move_on_after(0) as scope:
            await stream.has_length(length)
        assert scope.cancelled_caught is waits
