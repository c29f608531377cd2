"""When reading pauses for readers that are behind with the parts of an answer."""

from __future__ import annotations

from kinwire.rpc.engine.io import PauseReason
from kinwire.rpc.engine.streamed import Backlog, StreamedCalls
from tests.each import each

NONE, BEHIND, FAR = Backlog.NONE, Backlog.BEHIND, Backlog.FAR_BEHIND


class Reading:
    """Stands in for the driver."""

    def __init__(self) -> None:
        self.paused: list[PauseReason] = []

    def pause_reading(self, why: PauseReason = "unsent", /) -> None:
        self.paused.append(why)

    def resume_reading(self, why: PauseReason = "unsent", /) -> None:
        self.paused.remove(why)


@each(
    ("backlogs", "ordinary", "pauses"),
    [
        ({}, 0, False),
        ({1: NONE}, 0, False),
        ({1: BEHIND}, 0, True),
        ({1: BEHIND, 2: NONE}, 0, True),  # another stream waits with it
        ({1: BEHIND, 2: NONE}, 1, False),  # a ping does not
        ({1: FAR, 2: NONE}, 1, True),
    ],
)
def test_one_reader_holds_up_streams_but_ordinary_calls_only_when_far_behind(
    backlogs: dict[int, Backlog], ordinary: int, pauses: bool
) -> None:
    io = Reading()
    pending = {*backlogs, *range(100, 100 + ordinary)}
    streamed = StreamedCalls(io, pending)  # type: ignore[arg-type]
    for identifier, backlog in backlogs.items():
        streamed.set(identifier, backlog)
    assert io.paused == ["unread"] * pauses
    pending -= {one for one in pending if one >= 100}  # what was waited for is answered
    streamed.changed()
    assert io.paused == ["unread"] * (max(backlogs.values(), default=NONE) > NONE)
    for identifier in backlogs:
        streamed.end(identifier)
    assert io.paused == []
    assert not streamed
