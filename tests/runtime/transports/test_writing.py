"""What waits when a connection closes: written as long as it is taken, and no silent loss."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator

import anyio
import pytest

from kinwire.rpc.transport import SessionCallbacks
from kinwire.transports.writing import FrameWriter

LARGE = b"x" * 1_000_000


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    yield reader, writer
    for end in (reader, writer):
        os.close(end)


def writer_of(fd: int, *frames: bytes, patience: float) -> FrameWriter:
    waiting = deque(frames)
    callbacks = SessionCallbacks(
        feed=lambda _: None,
        waiting=waiting,
        take=lambda: [waiting.popleft()],
        take_frames=list,
        write_with=lambda _, __: None,
        hold_back=lambda _: None,
        overlong=lambda _: None,
        answer=lambda frame, _: None,
        waits=lambda _: False,
        fail=lambda _, error: None,
        end=lambda _: None,
        ask_to_end=lambda _: None,
        frame_size=0,
        loop=None,
    )
    return FrameWriter(fd, callbacks, watchable=True, broken=lambda _: None, patience=patience)


@pytest.mark.anyio
async def test_a_reader_that_is_late_gets_everything(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    got = 0

    async def read_late() -> None:
        nonlocal got
        await anyio.wait_all_tasks_blocked()  # the flush has filled the pipe, and waits
        while got < len(LARGE) + 1:
            await anyio.wait_readable(reader)
            got += len(os.read(reader, 100_000))

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read_late)
            await writer_of(writer, LARGE, patience=10).flush()
    assert got == len(LARGE) + 1


@pytest.mark.anyio
async def test_what_nobody_reads_is_given_up_aloud(
    pipe: tuple[int, int], caplog: pytest.LogCaptureFixture
) -> None:
    with anyio.fail_after(20):
        await writer_of(pipe[1], LARGE, b"more", patience=0.01).flush()
    left = len(LARGE) + 1 + 4 - len(os.read(pipe[0], len(LARGE)))
    assert caplog.messages == [f"The peer does not read: {left} bytes are not sent any more"]
