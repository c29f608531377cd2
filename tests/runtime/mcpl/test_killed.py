"""A host that is killed: what it had answered is known to the one after it."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import anyio
import pytest

from kinwire import Host, pair
from kinwire.mcpl import McplHost, PushedEvent, ScopeRequest, Scopes
from kinwire.storage import open_store
from kinwire_protocols import mcpl
from tests.runtime.mcpl.remembered import ONE, notes
from tests.runtime.wire import PROGRAMS

ROOT = Path(__file__).parents[3]


@pytest.mark.slow
@pytest.mark.anyio
async def test_checkpoints_approvals_and_events_outlive_a_host_that_is_killed(
    tmp_path: Path,
) -> None:
    url = f"sqlite:///{tmp_path}/host.db"
    program = [sys.executable, str(PROGRAMS / "remember.py"), url]
    done = await anyio.run_process(program, cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, check=False)
    assert (done.returncode, done.stderr) == (-signal.SIGKILL, b"")

    async def no(request: ScopeRequest) -> bool:
        return False

    async def take(event: PushedEvent) -> mcpl.PushEventResult:
        raise AssertionError("it was taken before")

    async with open_store(url) as store:
        records = await store.records("mcpl")
        live = McplHost(enabled=["*"], scopes=Scopes(ask=no), on_push=take, records=records)
        served, server = notes()
        async with pair(server, Host("h", "1", extensions=[live])) as connection:
            side = live.of(connection)
            assert side is not None
            state = await side.state("notes.edit")
            assert [one.data for one in state.tree.checkpoints] == [["one"], ["one", "two"]]
            await connection.mcp.tools_call(name="add_note", arguments={"text": "three"})
            assert state.tree.data == ["one", "two", "three"]
            host = served.hosts[0]
            scope = mcpl.Scope(label="/etc/hosts")
            asked = mcpl.Client(host.session).scope_elevate(feature_set="notes.edit", scope=scope)
            assert (await asked).approved
            answer = await host.push("notes.remind", "Now", **ONE)
            assert answer.inference_id == "inf_before"
