"""The demo of MCP Events: what its steps show is what its servers have done."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from subprocess import run
from sys import executable

import anyio
import pytest

from kinwire import pair
from kinwire.mcpe.rules import features
from kinwire.rpc.transport import Transport
from kinwire.support.background import background
from kinwire.transports.memory import memory_pair
from kinwire_cli.demos import SERVERS, server_of
from kinwire_cli.demos.mcpe.conversation import converse
from kinwire_cli.demos.narration import Line
from tests.cli.demos.fixtures_audience import Audience, served_by
from tests.each import each

FOLDER = Path(__file__).parents[3] / "runtime" / "kinwire_cli" / "demos" / "mcpe"
INITIALIZE = (
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",'
    '"capabilities":{},"clientInfo":{"name":"c","version":"1"}}}\n'
)


def told(lines: list[Line], who: str, to: str) -> Iterator[str]:
    return (line.text for line in lines if (line.who, line.to) == (who, to))


async def played() -> Audience:
    """Return who has heard the conversation, played with servers in this process."""
    audience = Audience()
    async with background() as tasks:

        def reach(name: str) -> Transport:
            host_end, server_end = memory_pair(lambda _, frame: None)
            tasks.start_soon(served_by(FOLDER / f"{name}.py").serve, server_end)
            return host_end

        with anyio.fail_after(30):
            await converse(reach, audience)
    return audience


@pytest.mark.anyio
async def test_each_step_shows_what_has_come_to_the_client() -> None:
    audience = await played()
    assert len(audience.titles) == 6
    types, *events = told(audience.lines, "project", "client")
    assert types == "has its types of events in mcpe://event-types"
    assert events == [
        "github.push {'branch': 'main', 'message': 'Fix the clock'}",
        "github.push {'branch': 'main', 'message': 'Wind it up'}",
        "github.issue.opened {'title': 'It stands still'}",
    ]
    assert list(told(audience.lines, "bookings", "client"))[1:] == [
        "bookings.room.booked {'room': 'attic', 'by': 'Emma'}\n"
        "bookings.room.booked {'room': 'cellar', 'by': 'Ben'}",
        "bookings.room.booked {'room': 'attic', 'by': 'Ada'}",
        "the subscription has expired at 2026-01-05T21:00:00.000Z",
    ]


@pytest.mark.anyio
async def test_schedules_are_skipped_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(features, "find_spec", lambda name: None)
    audience = await played()
    step = audience.titles.index("A schedule collects events") + 1
    lines = [line for line, at in zip(audience.lines, audience.steps, strict=True) if at == step]
    assert [line.text.partition("[events]")[1] for line in lines] == ["[events]"]


@pytest.mark.anyio
async def test_one_server_has_the_tools_of_all() -> None:
    async with pair(server_of("mcpe")) as connection:
        names = {tool.name async for tool in connection.tools()}
    assert names >= {"push", "open_issue", "book", "pass_time", "events_subscribe"}


@pytest.mark.slow
@each("name", SERVERS["mcpe"])
def test_a_server_of_the_demo_runs_from_a_copy_of_its_file(name: str, tmp_path: Path) -> None:
    copy = shutil.copy(FOLDER / f"{name}.py", tmp_path / f"my_{name}.py")
    done = run([executable, copy], input=INITIALIZE, capture_output=True, text=True, timeout=60)
    assert f'"name":"{name}"' in done.stdout
    assert '"mcpe"' in done.stdout
