"""What a server writes in addition to the answers to a session."""

from __future__ import annotations

import pytest

from kinwire.rpc.codec import OutgoingFrame
from kinwire.rpc.transport import SessionCallbacks
from kinwire_cli.listening import Listening

REQUEST = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
ANSWER = b'{"jsonrpc":"2.0","id":1,"result":{}}'


class Frames:
    """A transport on which these frames arrive behind a request of id 1, and nothing else."""

    peer_may_emit_noise = True
    address: str | None = None

    def __init__(self, *frames: bytes) -> None:
        self._frames = frames

    async def run(self, callbacks: SessionCallbacks, /) -> None:
        callbacks.take()
        for frame in self._frames:
            callbacks.feed(frame)
        callbacks.overlong(b"x")

    def wake(self) -> None: ...

    def resume(self) -> None: ...

    async def aclose(self) -> None: ...


async def heard_of(*frames: bytes, passes: bool = False) -> tuple[Listening, list[bytes]]:
    """Return the listener after these frames, and those that it passed on."""
    passed: list[bytes] = []
    listening = Listening(Frames(*frames), passes=passes)
    callbacks = SessionCallbacks(
        feed=passed.append,
        waiting=(),
        take=list,
        take_frames=lambda: [OutgoingFrame(REQUEST, "request", 1, "ping")],
        write_with=lambda _, __: None,
        hold_back=lambda _: None,
        overlong=passed.append,
        answer=lambda frame, _: passed.append(frame),
        waits=lambda _: False,
        fail=lambda _, error: None,
        end=lambda why: None,
        ask_to_end=lambda why: None,
        frame_size=100,
        loop=None,
    )
    await listening.run(callbacks)
    return listening, passed


@pytest.mark.anyio
async def test_messages_are_passed_on_and_stray_lines_are_kept() -> None:
    news = b'{"jsonrpc":"2.0","method":"x/news"}'
    heard, passed = await heard_of(b"Loading\r", b"", b"  ", news, ANSWER, b"[1]", b"\xff")
    assert passed == [news, ANSWER, b"x"]
    assert (heard.stray_count, heard.strays) == (3, ["Loading", "[1]", "\ufffd"])
    assert [message["method"] for message in heard.unasked] == ["x/news"]
    assert (heard.overlong_count, heard.foreign_ids) == (1, [])


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("id", "foreign", "shown"),
    [(b'"1"', "1", '"1"'), (b"1.0", 1.0, "1.0"), (b"null", None, "null"), (b"2", 2, "2")],
)
async def test_an_id_that_was_not_asked_is_kept(id: bytes, foreign: object, shown: str) -> None:
    answer = ANSWER.replace(b'"id":1', b'"id":' + id)
    heard, passed = await heard_of(answer)
    assert (heard.foreign_ids, passed) == ([foreign], [answer, b"x"])
    assert heard.other_id == f"answered another id: {shown}, asked 1"


@pytest.mark.anyio
async def test_a_second_answer_to_a_request_is_kept() -> None:
    heard, _ = await heard_of(ANSWER, ANSWER)
    assert (heard.foreign_ids, heard.other_id) == ([1], "")  # nothing waits any more


@pytest.mark.anyio
async def test_stray_lines_are_passed_on_where_the_session_reports_them() -> None:
    heard, passed = await heard_of(b"Loading", passes=True)
    assert (heard.strays, passed) == (["Loading"], [b"Loading", b"x"])


@pytest.mark.anyio
async def test_a_broken_answer_with_an_id_still_reaches_its_call() -> None:
    frame = b'{"jsonrpc":"2.0","id":1,"result":NaN}'
    heard, passed = await heard_of(frame)
    assert (heard.stray_count, passed) == (0, [frame, b"x"])


@pytest.mark.anyio
async def test_only_the_first_of_very_many_are_kept() -> None:
    heard, _ = await heard_of(*[b"noise"] * 1000, *[b'{"jsonrpc":"2.0","method":"x"}'] * 1000)
    assert (heard.stray_count, len(heard.strays), len(heard.unasked)) == (1000, 100, 100)
