"""Servers that were registered at run time, as real processes: what runs is what was approved."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Event
from typing import Any

import anyio
import pytest

from kinwire import Host, result_text
from kinwire.mgp import MgpKernel, Registrations, ServerPolicy
from kinwire.mgp.kernel.registered_copies import ScriptCopies
from kinwire.mgp.kernel.supervisor.supervised import SupervisedServer
from kinwire.mgp.kernel.supervisor.supervisor import Supervisor
from kinwire.mgp.rules.server_spec import ServerSpec
from kinwire.storage import open_store
from tests.runtime.managers.fixtures_records import FailingRecords
from tests.runtime.mgp.fixtures_kernel import outcome

pytestmark = pytest.mark.anyio

SCRIPT = """
import json
import sys

for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    answers = {
        "initialize": {
            "protocolVersion": "2024-11-05",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "dynamic", "version": "0"},
        },
        "tools/list": {"tools": [{"name": "show", "inputSchema": {"type": "object"}}]},
        "tools/call": {"content": [{"type": "text", "text": "TEXT " + " ".join(sys.argv[1:])}]},
    }
    result = answers.get(asked["method"], {})
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tool.py").write_text(SCRIPT, encoding="utf-8")
    return tmp_path


async def said(server: SupervisedServer) -> str:
    result = await server.mcp.tools_call(name="show", arguments={})
    return result_text(result)


async def until(supervisor: Supervisor, id: str, *, there: bool = True) -> None:
    with supervisor.changes() as changes:
        if any(one.id == id for one in supervisor.servers) is there:
            return
        async for _ in changes:
            if any(one.id == id for one in supervisor.servers) is there:
                return


@asynccontextmanager
async def supervised(kernel: MgpKernel) -> AsyncGenerator[Supervisor]:
    async with Host("h", "1", extensions=[kernel]) as host, kernel.supervise(host) as supervisor:
        await anyio.wait_all_tasks_blocked()
        yield supervisor


@pytest.mark.spec("mgp-15.4-1", "mgp-15.4-3", "mgp-15.5-1")
async def test_a_server_runs_from_its_approval_until_it_is_taken_out(folder: Path) -> None:
    kernel = MgpKernel(
        unknown=ServerPolicy(trust="trusted", access="opt-out"),
        registrations=Registrations(folder=folder),
    )
    command: Any = {"command": "python", "args": ["-u", "tool.py", "loudly"]}
    with anyio.fail_after(30):
        async with supervised(kernel) as supervisor:
            entry = await kernel.registry.register("dynamic.say", **command)
            assert entry.trust_level == "sandboxed"
            await until(supervisor, "dynamic.say")
            server = supervisor["dynamic.say"]
            await server.wait_connected()
            assert await outcome(said(server)) == 1001  # no entry allows it
            await kernel.access.grant("host", "dynamic.say")
            assert await said(server) == "TEXT loudly"

            # Neither another file nor a module next to it takes the place of what was approved.
            (folder / "tool.py").write_text("raise SystemExit", encoding="utf-8")
            (folder / "json.py").write_text("raise SystemExit", encoding="utf-8")
            await supervisor.restart("dynamic.say")
            assert await said(server) == "TEXT loudly"

            await supervisor.replace([])  # as a configuration that was read again
            with pytest.raises(ValueError, match="registered at run time"):
                await supervisor.replace([ServerSpec("dynamic.say", command="python")])
            (listed,) = await kernel.registry.list()
            assert (listed.status, listed.tools) == ("connected", ["show"])
            assert await kernel.registry.deregister("dynamic.say")
            assert supervisor.servers == []
            assert await kernel.registry.list() == []


async def test_nothing_runs_before_it_is_approved_or_after_it_was_changed(folder: Path) -> None:
    async with open_store("memory:") as store:
        records = await store.records("mgp")
        kernel = MgpKernel(records=records, registrations=Registrations(folder=folder))
        with anyio.fail_after(30):
            async with supervised(kernel) as supervisor:
                await kernel.registry.register("one", command="python", args=["tool.py"])
                await until(supervisor, "one")
                await supervisor["one"].wait_connected()
                (record,) = [one async for one in records.scan("registry/")]
                await records.put(record.key, {**record.value, "script": "print('evil')"})
                await until(supervisor, "one", there=False)
                await records.put(record.key, {**record.value, "script": "import subprocess"})
                (waiting,) = await kernel.registry.waiting()
                await kernel.registry.approve("one", waiting.digest)  # by mistake
                await anyio.wait_all_tasks_blocked()
                assert supervisor.servers == []  # this kernel judges the code again


async def test_a_kernel_may_end_while_it_writes_the_script_of_a_server(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    began, goes_on = Event(), Event()

    def slow(_: object, __: object) -> tuple[str, list[str]]:
        began.set()
        goes_on.wait(10)
        return sys.executable, ["tool.py"]

    async def go_on_at_the_end_of(supervisor: Supervisor) -> None:
        with supervisor.changes() as changes:
            async for _ in changes:
                pass
        goes_on.set()

    monkeypatch.setattr(ScriptCopies, "command_of", slow)
    kernel = MgpKernel(registrations=Registrations(folder=folder))
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks, supervised(kernel) as supervisor:
            await kernel.registry.register("one", command="python", args=["tool.py"])
            await anyio.to_thread.run_sync(began.wait)
            tasks.start_soon(go_on_at_the_end_of, supervisor)
            await anyio.wait_all_tasks_blocked()
    assert caplog.messages == []


async def test_one_of_two_kernels_runs_a_server_and_the_other_takes_over(folder: Path) -> None:
    async with open_store("memory:") as store:
        records = await store.records("mgp")
        first, second = (
            MgpKernel(records=records, registrations=Registrations(folder=folder, lease=1.0))
            for _ in range(2)
        )
        with anyio.fail_after(40):
            async with supervised(second) as standing_by:
                async with supervised(first) as running:
                    await first.registry.register("one", command="python", args=["tool.py"])
                    await until(running, "one")
                    await until(standing_by, "one")
                    both = (running["one"], standing_by["one"])
                    holder = await connected(*both)
                    (other,) = [one for one in both if one is not holder]
                    assert (other.status.state, other.status.pid) == ("registered", None)
                    await first.access.grant("host", "one")
                    assert await said(holder) == "TEXT "
                    assert await outcome(said(other)) == 2000
                    for kernel in (first, second):
                        (found,) = await kernel.registry.list()
                        assert found.status == "connected"  # also where it does not run
                await standing_by["one"].wait_connected()
                assert await said(standing_by["one"]) == "TEXT "


async def connected(*servers: SupervisedServer) -> SupervisedServer:
    """Return the server that is connected first."""
    found = list[SupervisedServer]()

    async def wait(server: SupervisedServer) -> None:
        await server.wait_connected()
        found.append(server)
        tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        for server in servers:
            tasks.start_soon(wait, server)
    return found[0]


async def test_a_configured_server_with_a_lease_ends_when_the_lease_cannot_be_renewed(
    folder: Path,
) -> None:
    async with open_store("memory:") as store:
        records = FailingRecords(await store.records("mgp"))
        kernel = MgpKernel(records=records, registrations=Registrations(lease=0.6))
        script = str(folder / "tool.py")
        spec = ServerSpec("files", command=sys.executable, args=[script], leased=True)
        with anyio.fail_after(30):
            async with (
                Host("h", "1", extensions=[kernel]) as host,
                kernel.supervise(host, [spec]) as supervisor,
            ):
                server = supervisor["files"]
                await server.wait_connected()
                child = server.status.pid
                records.fails = True
                with supervisor.changes() as changes:
                    async for _ in changes:
                        if server.status.state == "disconnected":
                            break
                assert server.status.pid is None
                await supervisor.stop("files")  # it stands by, and so it stays down
                await supervisor.start("files")
                records.fails = False
                await server.wait_connected()
                assert server.status.pid not in (None, child)
        assert [one async for one in records.scan("lease/")] == []
