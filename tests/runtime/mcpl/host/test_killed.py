"""A host that is killed: what it had answered is known to the one after it, also to one server."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import to_thread

from kinwire import Connection, Host, stdio
from kinwire.mcpl import (
    Channels,
    McplHost,
    PushedEvent,
    ScopeRequest,
    Scopes,
    ServerPeer,
    UserTurn,
)
from kinwire.storage import open_store
from kinwire_protocols import mcp, mcpl
from tests.runtime.fixtures_wire import PROGRAMS
from tests.runtime.programs import live
from tests.runtime.transports.fixtures_processes import Program, serving
from tests.sample import IS_SAMPLE

LIVE = Path(live.__file__)


class After:
    """The host after the one that was killed: servers are given no leave, and all is noted."""

    def __init__(self) -> None:
        self.events: list[PushedEvent] = []
        self.turns: list[UserTurn] = []
        self.mcpl: McplHost
        self.connection: Connection

    @asynccontextmanager
    async def connected(self, store: str, target: str) -> AsyncGenerator[ServerPeer]:
        async with open_store(store) as opened:
            self.mcpl = McplHost(
                enabled=["*"],
                scopes=Scopes(ask=self._no),
                channels=Channels(on_turn=self._turn),
                on_push=self._take,
                records=await opened.records("mcpl"),
            )
            async with Host("h", "1", extensions=[self.mcpl]) as host:
                server = target if "://" in target else stdio(sys.executable, target)
                self.connection = await host.connect(server, server_id="live")
                (side,) = self.mcpl.servers
                yield side

    @property
    def taken(self) -> dict[str, bool]:
        """What was taken over, and whether it was said to have been before."""
        events = {f"event {one.params.event_id}": one.again for one in self.events}
        messages = {
            f"message {one.message_id}": one in turn.again
            for turn in self.turns
            for one in turn.messages
        }
        return events | messages

    async def call(self, tool: str, **arguments: Any) -> Any:
        result = await self.connection.mcp.tools_call(name=tool, arguments=arguments)
        (block,) = result.content
        assert isinstance(block, mcp.TextContent)
        return json.loads(block.text)

    async def _no(self, request: ScopeRequest) -> bool:
        return request.tool is not None  # a call may be made, but nobody allows anything else

    async def _take(self, event: PushedEvent) -> mcpl.PushEventResult:
        self.events.append(event)
        return mcpl.PushEventResult(accepted=True, inference_id=f"inf_{len(self.events)}")

    async def _turn(self, turn: UserTurn) -> None:
        self.turns.append(turn)


@pytest.fixture(scope="module")
def listening() -> Iterator[Program]:
    with serving(LIVE) as program:
        yield program


def killed(store: str, server: str, moment: str) -> bool:
    """Run a host until it is killed; return whether it was."""
    program = (sys.executable, str(PROGRAMS / "remember.py"), store, server, moment)
    done = subprocess.run(program, capture_output=True, timeout=30)
    assert done.stderr == b""
    assert done.returncode in (0, -signal.SIGKILL)
    return done.returncode != 0


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.parametrize("moment", ["push", "turn"])
@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_what_a_killed_host_has_answered_is_known_to_the_one_after_it(
    transport: str, moment: str, listening: Program, tmp_path: Path
) -> None:
    store = f"sqlite:///{tmp_path}/host.db"
    server = str(LIVE) if transport == "stdio" else listening.url("http")
    assert killed(store, server, moment)
    after = After()
    with anyio.fail_after(30):
        async with after.connected(store, server) as side:
            await keeps_checkpoints_and_approvals(after, side)
            await keeps_what_was_pushed(after, moment)
            await keeps_conversations(after, side, moment)


async def keeps_checkpoints_and_approvals(after: After, side: ServerPeer) -> None:
    state = await side.state("notes.edit")
    first, second = ["/home/a: one"], ["/home/a: one", "/home/a: two"]
    assert [one.data for one in state.tree.checkpoints] == [first, second]
    assert await after.call("add_note", text="three", place="/home/a") == 3
    assert state.tree.data == [*second, "/home/a: three"]
    assert (await after.call("elevate", label="/etc/hosts"))["approved"]
    assert not (await after.call("elevate", label="/etc/passwd"))["approved"]


async def keeps_what_was_pushed(after: After, moment: str) -> None:
    answers = [await after.call("push", event_id="first", text="Now") for _ in range(2)]
    assert answers == [{"accepted": True, "inferenceId": "inf_before"}] * 2
    other = await after.call("push", event_id="first", text="Later")
    assert "used for another event" in other["reason"]
    assert after.events == []
    answers = [await after.call("push", event_id="last", text="Now") for _ in range(2)]
    assert answers == [{"accepted": True, "inferenceId": "inf_1"}] * 2
    assert [event.again for event in after.events] == [moment == "push"]


async def keeps_conversations(after: After, side: ServerPeer, moment: str) -> None:
    (first,) = await after.call("bring", messages=["first"], thread_id="t_1")
    assert after.turns == []
    (last,) = await after.call("bring", messages=["last"], thread_id="t_1")
    assert last["conversationId"] == first["conversationId"]
    (turn,) = after.turns
    assert [one.message_id for one in turn.messages] == ["last"]
    assert [one.message_id for one in turn.again] == (["last"] if moment == "turn" else [])
    assert turn.index == (2 if moment == "turn" else 1)  # that of the lost turn is left out
    assert [one.id for one in await side.channels.reopen()] == ["chat:#new"]
    response = await after.mcpl.channels.write(first["conversationId"], inference_id="inf_9")
    await response.finish("Answer")
    assert ["publish", "chat:#general", "Answer", False] in await after.call("heard")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an event or a message, before the kill and after it."""

    taken_before: bool
    answered_before: Any
    """What the server heard, None for nothing."""
    answered: Any
    again: bool | None
    """Whether the second host learned that it may be the second; None if it took nothing over."""

    @property
    def fault(self) -> str | None:
        if self.answered_before is not None:
            if self.answered_before != self.answered:
                return "another answer"
            return None if self.again is None else "done again after its answer"
        if self.taken_before:
            return None if self.again in (None, True) else "done again without a word"
        return "never done" if self.again is None else None


@pytest.mark.faults
@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True)
async def test_a_host_killed_before_any_write_loses_and_repeats_nothing_silently(
    listening: Program, tmp_path: Path
) -> None:
    server = listening.url("http")  # which lives on
    for write in count(1, 3 if IS_SAMPLE else 1):
        file = tmp_path / f"{write}.db"
        was_killed = await to_thread.run_sync(killed, f"sqlite:///{file}", server, str(write))
        taken = await to_thread.run_sync(taken_over, Path(f"{file}.taken"))
        outcomes = await after_the_kill(f"sqlite:///{file}", server, taken)
        assert [(write, name, one.fault) for name, one in outcomes.items() if one.fault] == []
        if not was_killed:
            break
    assert all(one.answered_before is not None for one in outcomes.values())
    assert write > 8


def taken_over(file: Path) -> list[str]:
    return file.read_text(encoding="ascii").splitlines() if file.exists() else []


async def after_the_kill(store: str, server: str, taken: list[str]) -> dict[str, Outcome]:
    after = After()
    with anyio.fail_after(30):
        async with after.connected(store, server) as side:
            before = {f"{one[0]} {one[1]}": one[2] for one in await after.call("heard")}
            event = await after.call("push", event_id="first", text="Now")
            (message,) = await after.call("bring", messages=["first"], thread_id="t_1")
            await builds_on_a_whole_state(after, side)
            await after.call("heard")  # forgets it
    answers = {"event first": event, "message first": message}
    return {
        name: Outcome(name in taken, before.get(name), answer, after.taken.get(name))
        for name, answer in answers.items()
    }


async def builds_on_a_whole_state(after: After, side: ServerPeer) -> None:
    tree = (await side.state("notes.edit")).tree
    before = [] if tree.head is None else tree.data
    assert before == ["/home/a: one", "/home/a: two"][: len(before)]
    assert await after.call("add_note", text="three", place="/home/a") == len(before) + 1
    assert tree.data == [*before, "/home/a: three"]
