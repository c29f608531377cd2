"""Servers behind a gateway end and start again while its clients stay."""

from __future__ import annotations

import anyio
import pytest

from kinwire.mgp import Gateway, MgpKernel
from tests.runtime.mgp.gateway.fixtures_gateway import RawClient
from tests.runtime.mgp.kernel.supervisor.fixtures_raw import LATER, Raws, spec
from tests.runtime.mgp.kernel.supervisor.fixtures_supervisor import reached, supervising
from tests.runtime.mgp.raw_peers import NOTHING, Json

pytestmark = pytest.mark.anyio


async def test_a_server_starts_again_while_clients_stay() -> None:
    kernel, client, raws = MgpKernel(), RawClient(), Raws(answers={"tools/call": NOTHING})
    async with supervising(spec(), raw=raws, kernel=kernel) as supervisor:
        gateway = Gateway(kernel, supervisor, level="L2")
        await reached(supervisor, "s", "connected")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(gateway.server.serve, client)
            await client.greet(None)
            client.say(id="lost", method="tools/call", params={"name": "s__run"})
            await raws[0].tells("tools/call")
            raws[0].hang_up()
            while len(raws) < 2:
                await anyio.wait_all_tasks_blocked()
            await reached(supervisor, "s", "connected")
            raws[1].answers["tools/call"] = {"content": [], "again": True}
            found = await client.ask("next", "tools/call", {"name": "s__run"})
            assert found["result"]["again"]
            [lost] = [one for one in client.heard if one.get("id") == "lost"]
            assert lost["error"]["code"] == 2000
            tasks.cancel_scope.cancel()
    assert [len(raw.calls) for raw in raws] == [1, 1]


async def test_a_call_of_a_server_that_is_down_says_so_with_the_code_of_its_state() -> None:
    kernel, client, raws = MgpKernel(), RawClient(), Raws()
    codes: list[int] = []

    async def call(id: str) -> None:
        reply: Json = await client.ask(id, "tools/call", {"name": "s__run"})
        codes.append(reply["error"]["code"])

    later = spec(restart=LATER, when_restarting="refuse")
    async with supervising(later, raw=raws, kernel=kernel) as supervisor:
        gateway = Gateway(kernel, supervisor, level="L2")
        await reached(supervisor, "s", "connected")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(gateway.server.serve, client)
            await client.greet(None)
            assert "result" in await client.ask("well", "tools/call", {"name": "s__run"})
            raws[0].hang_up()
            await reached(supervisor, "s", "restarting", "error")
            await call("restarting")
            await supervisor.stop("s")
            await call("stopped")
            tasks.cancel_scope.cancel()
    assert codes == [2002, 2000]


async def test_the_tools_of_a_server_that_is_taken_out_are_unknown_until_it_comes_back() -> None:
    kernel, client, raws = MgpKernel(), RawClient(), Raws()
    found: list[Json] = []
    async with supervising(spec(), raw=raws, kernel=kernel) as supervisor:
        gateway = Gateway(kernel, supervisor, level="L2")
        await reached(supervisor, "s", "connected")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(gateway.server.serve, client)
            await client.greet(None)
            for number, specs in enumerate(([spec()], [], [spec()])):
                await supervisor.replace(specs)
                if specs:
                    await reached(supervisor, "s", "connected")
                found.append(await client.ask(number, "tools/call", {"name": "s__run"}))
            tasks.cancel_scope.cancel()
    assert ["result" in one for one in found] == [True, False, True]
    assert found[1]["error"]["code"] == -32602
