"""The registry of a kernel: who may list, register and take out servers, and what is refused."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from kinwire import Host, Server
from kinwire.mgp import (
    AccessPrincipal,
    MgpKernel,
    Permissions,
    Registration,
    Registrations,
    ServerPolicy,
)
from kinwire.storage import Records, open_store
from kinwire.testing import pair
from kinwire_protocols import mgp
from kinwire_protocols.base import to_wire
from tests.runtime.mgp.fixtures_kernel import audited, guarded, outcome
from tests.runtime.mgp.raw_peers import Json, RawServer, codes, tool

pytestmark = pytest.mark.anyio

OFFER: Json = {
    "version": "0.1.0",
    "extensions": ["security", "discovery"],
    "permissions_required": ["network.outbound"],
}
HARMLESS = ["# subprocess not used", "subprocess_count = 1", "def retrieval(q): return q"]
BLOCKED = {
    "import subprocess": "subprocess",
    "import os\nos.system('x')": "os.system",
    "eval('1')": "eval",
    "__import__('os')": "__import__",
    "from . import helper": "import",
    "import helper": "helper",
    "open('x', 'w')": "open",
    "def (": "Python",
    "#!/bin/sh\nprint()": "interpreter",
    "x = 1\n" * 5000: "large",
}
REGISTER: Json = {
    "id": "dynamic.custom_tool",
    "command": "python",
    "args": ["tool.py"],
    "mgp": {
        "extensions": ["security"],
        "permissions_required": ["network.outbound"],
        "trust_level": "trusted",
    },
    "created_by": "operator",
    "justification": "why",
}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    (scripts / "tool.py").write_text("print()", encoding="utf-8")
    return scripts


def kernel_of(folder: Path, records: Records | None = None, **options: Any) -> MgpKernel:
    return MgpKernel(
        registrations=Registrations(folder=folder, **options),
        records=records,
        permissions=Permissions(policy="auto_approve"),
        servers={"configured": ServerPolicy()},
    )


@asynccontextmanager
async def asking(kernel: MgpKernel, *, name: str = "maker") -> AsyncGenerator[RawServer]:
    raw = RawServer(tool("think"), mgp=OFFER)
    async with guarded(raw, kernel, name):
        yield raw


async def register(raw: RawServer, number: object = 1, **changes: Any) -> Json:
    fields = {**REGISTER, **changes}
    params = {name: one for name, one in fields.items() if one is not None}
    return await raw.ask(number, "mgp/discovery/register", params)


@pytest.mark.spec("mgp-15.4-1", "mgp-15.4-2", "mgp-15.5-1")
async def test_a_server_registers_another_that_waits_for_an_operator(folder: Path) -> None:
    kernel = kernel_of(folder)
    with audited() as events:
        async with asking(kernel) as raw:
            reply = await register(raw)
            entry = {
                "id": "dynamic.custom_tool",
                "status": "registered",
                "extensions": ["security"],
                "trust_level": "sandboxed",
            }
            assert reply["result"] == entry
            (waiting,) = await kernel.registry.waiting()
            assert (waiting.by_kind, waiting.by) == ("server", "maker")
            assert (waiting.script, waiting.args) == ("print()", ("tool.py",))
            assert (await register(raw, 2))["result"] == entry  # the same again changes nothing
            assert len(await kernel.registry.all()) == 1
            assert codes(await register(raw, 3, args=["tool.py", "-x"]))[0] == -32602
            gone = {"id": "dynamic.custom_tool", "reason": "no_longer_needed"}
            assert (await raw.ask(4, "mgp/discovery/deregister", gone))["result"] == {
                "deregistered": True
            }
            assert (await raw.ask(5, "mgp/discovery/deregister", gone))["result"] == {
                "deregistered": False
            }
            assert await kernel.registry.all() == []
    kinds = ["io.kinwire.server_registered", "io.kinwire.server_deregistered"]
    found = events.of(*kinds)
    assert [one["event_type"] for one in found] == kinds
    assert {(one["actor"]["type"], one["actor"]["id"]) for one in found} == {("server", "maker")}


@pytest.mark.spec("mgp-15.4-3")
async def test_b089_and_b090_code_is_blocked_before_it_is_registered(folder: Path) -> None:
    """The case names the path of creation too: what creates a server is a call or this method."""
    kernel = kernel_of(folder)
    with audited() as events:
        async with asking(kernel) as raw:
            for number, (code, cause) in enumerate(BLOCKED.items()):
                (folder / "tool.py").write_text(code, encoding="utf-8")
                code_found, said = codes(await register(raw, number))
                assert code_found == 1011, code
                assert said["details"]["status"] == "rejected"
                assert cause in str(said["details"]["violations"]), (code, said)
            assert await kernel.registry.all() == []
            for number, code in enumerate(HARMLESS):
                (folder / "tool.py").write_text(code, encoding="utf-8")
                reply = await register(raw, f"h{number}", id=f"dynamic.{number}")
                assert reply["result"]["status"] == "registered"
    assert len(events.of("CODE_REJECTED")) == len(BLOCKED)


WRONG: list[tuple[Json, int]] = [
    ({"command": "npx", "args": ["-y", "evil"]}, 1010),
    ({"command": "uvx", "args": ["evil"]}, 1010),
    ({"command": "sh", "args": ["-c", "evil"]}, 1010),
    ({"args": ["-c", "print()"]}, 1010),
    ({"args": ["-m", "evil"]}, 1010),
    ({"args": None}, 1010),
    ({"args": ["absent.py"]}, 1010),
    ({"args": ["../outside.py"]}, 1010),
    ({"args": ["link.py"]}, 1010),
    ({"args": ["circle.py"]}, 1010),
    ({"args": ["pipe.py"]}, 1010),
    ({"args": ["folder.py"]}, 1010),
    ({"args": ["latin.py"]}, 1010),
    ({"args": ["nul\0.py"]}, 1010),
    ({"command": None, "args": None, "url": "http://10.0.0.1/"}, 1010),
    ({"mgp": {"permissions_required": ["shell.execute"]}}, 1000),
    ({"id": "configured"}, -32602),
    ({"id": "Configured"}, -32602),
    ({"id": "maker"}, -32602),
    ({"id": "a b"}, -32602),
    ({"command": None}, -32602),
    ({"transport": "carrier-pigeon"}, -32602),
]


async def test_what_cannot_be_checked_or_is_taken_is_refused_and_audited(folder: Path) -> None:
    outside = folder.parent / "outside.py"
    outside.write_text("password = 'SECRET'", encoding="utf-8")
    (folder / "link.py").symlink_to(outside)
    (folder / "circle.py").symlink_to("circle.py")
    os.mkfifo(folder / "pipe.py")
    (folder / "folder.py").mkdir()
    (folder / "latin.py").write_bytes(b"x = '\xe9'")
    kernel = kernel_of(folder)
    with audited() as events, anyio.fail_after(20):
        async with asking(kernel) as raw:
            for number, (changes, expected) in enumerate(WRONG):
                reply = await register(raw, number, **changes)
                assert codes(reply)[0] == expected, changes
                assert "SECRET" not in str(reply)
            assert await kernel.registry.all() == []
    refusals = events.of("VALIDATION_FAILED", "PERMISSION_DENIED")
    assert 20 <= len(refusals) <= len(WRONG)  # one caller does not fill the log
    assert {one["result"] for one in refusals} == {"BLOCKED"}


async def test_nobody_gains_access_by_registering(folder: Path) -> None:
    kernel = kernel_of(folder)
    await kernel.access.grant("agent.a", "old.files")
    await kernel.permissions.approve("old.mail", "network.outbound")
    dynamic = RawServer(tool("think"), mgp={**OFFER, "trust_level": "trusted"})
    call = {"name": "think", "arguments": {}}
    async with Host("h", "1", extensions=[kernel]) as host:
        raw = RawServer(mgp=OFFER)
        await host.connect(raw, server_id="maker")
        for number, id in enumerate(("old.files", "old.mail")):
            assert codes(await register(raw, number, id=id))[0] == -32602
        await register(raw, 9)
        (waiting,) = await kernel.registry.all()
        await kernel.registry.approve(waiting.id, waiting.digest)
        connection = await host.connect(dynamic, server_id=waiting.id)
        server = kernel.of(connection)
        assert server is not None
        assert (server.trust, server.policy.access) == ("sandboxed", "opt-in")
        with kernel.acting_for("agent.a"):
            assert await outcome(connection.session.raw("tools/call", call)) == 1001
            await kernel.access.grant("agent.a", waiting.id)
            assert "content" in await outcome(connection.session.raw("tools/call", call))
        assert codes(await register(dynamic, 1, id="grandchild"))[0] == 1000
        assert await kernel.registry.deregister(waiting.id)
        with kernel.acting_for("agent.a"):
            assert await outcome(connection.session.raw("tools/call", call)) == 1001
    assert await kernel.access.list(server=waiting.id) == []


async def test_an_approval_is_of_what_the_operator_has_seen(folder: Path) -> None:
    kernel = kernel_of(folder)
    with audited() as events, kernel.acting_as_operator("admin"):
        async with asking(kernel) as raw:
            await register(raw)
            (seen,) = await kernel.registry.waiting()
            await raw.ask(2, "mgp/discovery/deregister", {"id": seen.id})
            (folder / "tool.py").write_text("print(1)", encoding="utf-8")
            await register(raw, 3)
            with pytest.raises(ValueError, match="digest"):
                await kernel.registry.approve(seen.id, seen.digest)
            (seen,) = await kernel.registry.waiting()
            approved = await kernel.registry.approve(seen.id, seen.digest)
            assert approved.is_approved
            assert await kernel.registry.waiting() == []
            with pytest.raises(ValueError, match="digest"):
                await kernel.registry.approve("absent", seen.digest)
    (event,) = events.of("io.kinwire.server_approved")
    assert event["actor"] == {"type": "operator", "id": "admin"}


async def test_a_person_is_asked_if_there_is_a_function_for_that(folder: Path) -> None:
    asked: list[Registration] = []
    answer: Any = None

    async def ask(question: Registration) -> Any:
        asked.append(question)
        if answer is None:
            raise RuntimeError("nobody is there")
        return answer

    kernel = kernel_of(folder, ask=ask)
    async with asking(kernel) as raw:
        for id, answer, expected in (  # noqa: B007 - `ask` returns it
            ("yes", True, [True]),
            ("no", False, []),
            ("unsure", 1, []),
            ("absent", None, [False]),
        ):
            assert "result" in await register(raw, id, id=id)
            await raw.settle()
            assert [one.is_approved for one in await kernel.registry.all() if one.id == id] == (
                expected
            )
    assert [one.id for one in asked] == ["yes", "no", "unsure", "absent"]


async def test_only_who_has_registered_a_server_or_an_operator_takes_it_out(folder: Path) -> None:
    console = AccessPrincipal("server", "console")
    kernel = kernel_of(folder, is_operator=lambda caller: caller == console)
    peers = {name: RawServer(mgp=OFFER) for name in ("maker", "other", "console")}
    async with Host("h", "1", extensions=[kernel]) as host:
        for name, raw in peers.items():
            await host.connect(raw, server_id=name)
        await register(peers["maker"])
        gone = {"id": REGISTER["id"]}
        reply = await peers["other"].ask(1, "mgp/discovery/deregister", gone)
        assert codes(reply)[0] == 1000
        assert codes(await register(peers["other"], 2))[0] == -32602
        reply = await peers["console"].ask(1, "mgp/discovery/deregister", gone)
        assert reply["result"] == {"deregistered": True}
        reply = await peers["console"].ask(2, "mgp/discovery/deregister", {"id": "configured"})
        assert reply["result"] == {"deregistered": False}
        await register(peers["console"], 3)
        (own,) = await kernel.registry.all()
        assert own.is_approved  # by whom it was registered
        assert own.approval is not None
        assert own.approval.by == "console"
        assert await kernel.registry.deregister(own.id, reason="done")
        entry = await kernel.registry.register("by.program", command="python", args=["tool.py"])
        assert (entry.trust_level, await kernel.registry.waiting()) == ("sandboxed", [])


async def test_agents_have_the_same_as_tools(folder: Path) -> None:
    kernel, server = kernel_of(folder), Server("gate", "1")
    kernel.add_discovery_tools(server, lambda context: "agent.a")
    async with pair(server) as client, asking(kernel):

        async def call(name: str, **arguments: Any) -> Any:
            found = to_wire(await client.mcp.tools_call(name=name, arguments=arguments))
            return found.get("isError"), json.loads(found["content"][0]["text"])

        names = [tool.name async for tool in client.tools()]
        assert names == [f"mgp.discovery.{one}" for one in ("list", "register", "deregister")]
        failed, said = await call("mgp.discovery.register", **REGISTER)
        assert (failed, said["trust_level"]) == (None, "sandboxed")
        (waiting,) = await kernel.registry.waiting()
        assert (waiting.by_kind, waiting.by) == ("agent", "agent.a")  # not `created_by`
        failed, said = await call("mgp.discovery.register", **{**REGISTER, "command": "npx"})
        assert (failed, said["error"]["code"]) == (True, 1010)
        await kernel.access.grant("agent.a", "maker", "deny", tool="think")
        _, said = await call("mgp.discovery.list", filter={"status": "connected"})
        assert [(one["id"], one["tools"]) for one in said["servers"]] == [("maker", [])]
        await kernel.access.revoke("agent.a", "maker", tool="think")
        _, said = await call("mgp.discovery.list")
        assert [one["id"] for one in said["servers"]] == ["configured", REGISTER["id"], "maker"]
        assert said["servers"][2]["tools"] == ["think"]
        _, said = await call("mgp.discovery.deregister", id=REGISTER["id"])
        assert said == {"deregistered": True}


@pytest.mark.spec(
    "mgp-15.2-Registry-Endpoint-Discovery-1",
    "mgp-15.2-Registry-Endpoint-Discovery-2",
    "mgp-15.3-2",
)
async def test_the_kernel_lists_what_is_connected_configured_and_registered(folder: Path) -> None:
    kernel = kernel_of(folder)
    profile = mgp.ServerProfile(extensions=["streaming"], permissions_required=["memory.read"])
    kernel.registry.advertise({"gone": profile})
    kernel.registry.advertise({"configured": profile})
    quiet = RawServer(mgp={**OFFER, "trust_level": "sandboxed"})
    plain, raw = RawServer(tool("a"), tool("b")), RawServer(tool("think"), mgp=OFFER)
    async with Host("h", "1", extensions=[kernel]) as host:
        for name, peer in (("maker", raw), ("plain", plain), ("quiet", quiet)):
            await host.connect(peer, server_id=name)
        await register(raw)
        found = (await raw.ask(2, "mgp/discovery/list", {}))["result"]["servers"]
        by_id = {one["id"]: one for one in found}
        assert list(by_id) == ["configured", REGISTER["id"], "maker", "plain", "quiet"]
        assert by_id["maker"] == {
            "id": "maker",
            "status": "connected",
            "mgp_version": "0.1.0",
            "extensions": ["discovery", "security"],
            "tools": ["think"],
            "trust_level": "standard",
        }
        assert by_id["plain"]["tools"] == ["a", "b"]
        assert "mgp_version" not in by_id["plain"]
        assert by_id["configured"] == {
            "id": "configured",
            "status": "registered",
            "extensions": ["streaming"],
            "trust_level": "standard",
        }
        filters: list[tuple[Json, list[str]]] = [
            ({"extensions": ["discovery"]}, ["maker", "quiet"]),
            ({"permissions": ["memory.read"]}, ["configured"]),
            ({"permissions": ["network.outbound"], "status": "registered"}, [REGISTER["id"]]),
            ({"status": "error"}, []),
        ]
        for number, (wanted, expected) in enumerate(filters):
            reply = await raw.ask(f"f{number}", "mgp/discovery/list", {"filter": wanted})
            assert [one["id"] for one in reply["result"]["servers"]] == expected
        reply = await raw.ask("x", "mgp/discovery/list", {"filter": {"status": "asleep"}})
        assert codes(reply)[0] == -32602
        own = (await quiet.ask(1, "mgp/discovery/list", {}))["result"]["servers"]
        assert [one["id"] for one in own] == ["quiet"]
        assert len(await kernel.registry.list()) == 5
        assert plain.of("mgp/discovery/list") == []


async def test_there_is_room_for_so_many_servers(folder: Path) -> None:
    kernel = kernel_of(folder)
    async with asking(kernel) as raw:
        for number in range(100):
            await register(raw, number, id=f"d{number}")
        assert codes(await register(raw, "x"))[0] == 3001
        first = (await kernel.registry.all())[0]
        await kernel.registry.approve(first.id, first.digest)
        assert "result" in await register(raw, "y")


async def test_kernels_that_share_records_have_one_registry(folder: Path) -> None:
    async with open_store("memory:") as store:
        records = await store.records("mgp")
        kernels = [kernel_of(folder, records) for _ in range(2)]
        async with asking(kernels[0]) as raw, asking(kernels[1], name="other") as other:
            await register(raw)
            assert codes(await register(other))[0] == -32602
            (waiting,) = await kernels[1].registry.waiting()
            await kernels[1].registry.approve(waiting.id, waiting.digest)
            assert await kernels[0].registry.waiting() == []
            found = await kernels[1].registry.list()
            assert [one.id for one in found] == ["configured", REGISTER["id"], "other"]
        (record,) = [one async for one in records.scan("registry/")]
        await records.put(record.key, {**record.value, "args": ["other.py"]})
        (changed,) = await kernels[0].registry.all()
        assert not changed.is_approved
        await records.put(record.key, {"id": 1})
        assert await kernels[0].registry.all() == []  # it is logged


def test_options_and_arguments_are_checked(folder: Path) -> None:
    for wrong in ({"ask": 1}, {"lease": 0}, {"name": ""}, {"imports": [1]}, {"folder": 1}):
        with pytest.raises((TypeError, ValueError)):
            Registrations(**wrong)
    assert Registrations().name != Registrations().name
