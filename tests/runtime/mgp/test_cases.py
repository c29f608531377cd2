"""Cases from public reports about others, B082 to B090 and B097, each over a live session.

Of these B084 is in `kernel/access/test_live.py`, B086 and B087 are in `kernel/test_validators.py`.
B096 is in `server/test_callbacks.py`.
What the rules alone decide is a table in `rules/` too; here a raw server sees what is left of it.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from kinwire import Connection, Host, Server
from kinwire.mgp import AuditOptions, MgpKernel, MgpServer, Permissions, Retries, ServerPolicy
from kinwire.storage import open_store
from kinwire.support.background import background
from kinwire_protocols.mgp.errors import CodeSafetyViolationError
from tests.runtime.mgp.fixtures_kernel import audited, guarded, outcome
from tests.runtime.mgp.raw_peers import Json, RawKernel, RawServer, tool
from tests.runtime.transports.guarded_fetch.fake_network import TestNetwork

pytestmark = pytest.mark.anyio

OFFER: Json = {"version": "0.2.0", "extensions": ["security", "audit"]}
AUDITED = "notifications/mgp.audit"
SECRET = "SECRET-123"
UNCONFIRMED = ServerPolicy(confirm=[])


def secured(name: str, *parameters: str, **security: Any) -> Json:
    return tool(name, *parameters, security={"risk_level": "safe", **security})


async def called(connection: Connection, name: str, **arguments: Any) -> Any:
    """Return 0 for a call that went through, else the code of its error."""
    params = {"name": name, "arguments": arguments}
    found = await outcome(connection.session.raw("tools/call", params))
    return found if isinstance(found, int) else 0


HANDSHAKES: list[tuple[Json | None, list[str] | None]] = [
    ({"version": "0.1.0", "extensions": ["audit", "security"]}, ["audit", "security"]),
    (
        {"version": "0.2.0", "extensions": ["audit", "x", "security", "audit"]},
        ["audit", "security"],
    ),
    ({"version": "0.10.0", "extensions": ["security"]}, ["security"]),
    ({"version": "0.2.0-beta.11", "extensions": ["audit"]}, ["audit"]),
    ({"version": "1.0.0", "extensions": ["audit", "security"]}, None),
    (None, None),
]


@pytest.mark.spec("mgp-2-1", "mgp-2.1-1", "mgp-2.1-4")
async def test_b082_versions_and_extensions_are_settled_in_the_handshake_of_mcp() -> None:
    server = Server("s", "1", extensions=[MgpServer(extensions=["audit"])])
    for offer, both in HANDSHAKES:
        to_us, raw = RawKernel(), RawServer(tool("think"), mgp=offer)
        async with background() as tasks:
            tasks.start_soon(server.serve, to_us)
            answered: Json | None = (await to_us.greet(offer)).get("mgp")
            assert [one["method"] for one in to_us.heard if "method" in one] == []
            tasks.cancel_scope.cancel()
        assert both == (None if answered is None else answered["extensions"]), offer
        kernel = MgpKernel()
        async with guarded(raw, kernel) as connection:
            assert await called(connection, "think") == 0
            (found,) = kernel.servers
            assert (found.offer is None) is (both is None)
            assert found.extensions == frozenset(both or ())
        sent = [one for one in raw.heard if one.get("method") not in ("initialize", AUDITED)]
        assert [one["method"] for one in sent if "id" not in one] == ["notifications/initialized"]
        assert "mgp" not in json.dumps(sent)
        assert ("trace_id" in raw.calls[0]) is (both is not None)


@asynccontextmanager
async def parent_and_child(now: list[float]) -> AsyncGenerator[list[tuple[MgpKernel, Connection]]]:
    """Yield two processes with one store, each connected to the server `files`."""
    async with open_store("memory:") as store:
        records = await store.records("mgp")
        shell = secured("run", permissions_required=["shell.execute"])
        kernels = [
            MgpKernel(
                servers={"files": UNCONFIRMED},
                records=records,
                permissions=Permissions(policy="auto_approve", timeout=0.01),
                clock=lambda: now[0],
            )
            for _ in range(2)
        ]
        hosts = [Host("h", "1", extensions=[kernel]) for kernel in kernels]
        async with hosts[0], hosts[1]:
            yield [
                (kernel, await host.connect(RawServer(shell, mgp=OFFER), server_id="files"))
                for kernel, host in zip(kernels, hosts, strict=True)
            ]


async def test_b083_a_revoked_permission_ends_for_open_sessions_and_those_they_started() -> None:
    now = [time.time()]  # that of the store, whose records end
    with audited() as events, anyio.fail_after(20):
        async with parent_and_child(now) as sessions:
            (kernel, parent), _ = sessions

            async def codes() -> list[int]:
                await anyio.wait_all_tasks_blocked()
                found = [await called(connection, "run") for _, connection in sessions]
                with kernel.acting_for("agent.child"):
                    return [*found, await called(parent, "run")]

            assert await codes() == [0, 0, 0]
            kernel.permissions.policy = "deny_all"
            await kernel.permissions.revoke("files", "shell.execute")
            assert await codes() == [1000, 1000, 1000]
            assert len(events.of("PERMISSION_REVOKED")) == 1
            for one, _ in sessions:
                one.permissions.policy = "interactive"
            await kernel.permissions.approve("files", "shell.execute", lasts=10.0)
            assert await codes() == [0, 0, 0]
            now[0] += 60.0
            assert await codes() == [1000, 1000, 1000]


ENDS = {
    "read": ("TOOL_EXECUTED", "SUCCESS"),
    "shell": ("VALIDATION_FAILED", "BLOCKED"),
    "secret": ("TOOL_BLOCKED", "BLOCKED"),
    "absent": ("TOOL_BLOCKED", "BLOCKED"),
    "look": ("TOOL_BLOCKED", "BLOCKED"),
}


async def test_b085_refusals_are_audited_and_arguments_are_not() -> None:
    made = [secured("read", "text"), secured("secret", "text")]
    made += [secured("shell", "command", validator="sandbox")]
    made += [secured("look", "text", permissions_required=["camera"])]
    raw, auditor = RawServer(*made, mgp=OFFER), RawServer(mgp=OFFER)
    async with open_store("memory:") as store:
        log = await store.log("mgp-audit")
        kernel = MgpKernel(
            servers={"s": UNCONFIRMED},
            permissions=Permissions(policy="deny_all"),
            audit=AuditOptions(log=log, buffered=False),
        )
        await kernel.access.grant("host", "s", "deny", tool="secret")
        async with Host("h", "1", extensions=[kernel]) as host:
            await host.connect(auditor, server_id="auditor")
            connection = await host.connect(raw, server_id="s")
            for name in ENDS:
                given = {"text": SECRET, "command": f"ls; rm -rf {SECRET}"}
                params = {"name": name, "arguments": given}
                await outcome(connection.session.raw("tools/call", params | {"trace_id": name}))
            await anyio.wait_all_tasks_blocked()
        written = [entry.value for entry in await log.read()]
    heard = [one for one in auditor.of(AUDITED) if one["trace_id"] in ENDS]
    assert {one["trace_id"]: (one["event_type"], one["result"]) for one in heard} == ENDS
    assert len(heard) == len(ENDS)
    assert all(re.fullmatch(r"\S{10}T\S{12}Z", one["timestamp"]) for one in heard)
    assert SECRET not in json.dumps([auditor.heard, written])
    assert [one["name"] for one in raw.calls] == ["read"]


async def test_b088_private_addresses_are_found_in_every_notation() -> None:
    network = TestNetwork(1, {"silent.example": [[]]})
    raw = RawServer(secured("get", "url", validator="network_restricted"), mgp=OFFER)
    async with guarded(raw, MgpKernel(network=network)) as connection:
        for host in (
            *("[::ffff:7f00:1]", "[::ffff:169.254.169.254]", "2130706433", "0x7f.1", "127.1"),
            *("unknown.example", "silent.example"),  # names without an address
        ):
            assert await called(connection, "get", url=f"http://{host}/") == 1010, host
        assert await called(connection, "get", url="http://8.8.8.8/") == 0
    assert [one["arguments"]["url"] for one in raw.calls] == ["http://8.8.8.8/"]
    assert network.connected == []


REJECTED = {
    'import importlib as i; i.import_module("subprocess")': "importlib",
    '__import__("subprocess")': "__import__",
    "from subprocess import run as r": "subprocess",
    "import json, subprocess": "subprocess",
    "import subprocess.x": "subprocess",
    "import subprocess as (": "syntax",
}
HARMLESS = ["# subprocess not used", "subprocess_count = 1", "def retrieval(q): return q"]


@pytest.mark.spec("mgp-7-1")
async def test_b089_and_b090_code_is_read_and_not_searched() -> None:
    safety = {"level": "standard", "language": "python", "blocked_imports": ["subprocess"]}
    create = secured("create", "code", validator="code_safety", code_safety=safety)
    raw = RawServer(create, mgp=OFFER)
    kernel = MgpKernel(servers={"s": UNCONFIRMED})
    with audited() as events:
        async with guarded(raw, kernel) as connection:
            for code, cause in REJECTED.items():
                with pytest.raises(CodeSafetyViolationError) as caught:
                    await connection.mcp.tools_call(name="create", arguments={"code": code})
                assert caught.value.code == 1011
                details = caught.value.data["_mgp"]["details"]
                assert details["status"] == "rejected"
                assert cause in str(details["violations"]).lower(), (code, details)
            for code in HARMLESS:
                assert await called(connection, "create", code=code) == 0, code
    assert [one["arguments"]["code"] for one in raw.calls] == HARMLESS
    assert [one["event_type"] for one in events.of_calls] == (
        ["CODE_REJECTED"] * len(REJECTED) + ["TOOL_EXECUTED"] * len(HARMLESS)
    )


@pytest.mark.parametrize(("asked", "tries"), [(3, 4), (0, 1), (None, 4), (5000, 1201)])
async def test_b097_delays_of_many_tries_do_not_overflow(
    monkeypatch: pytest.MonkeyPatch, asked: int | None, tries: int
) -> None:
    recovery = {"retryable": True, "retry_strategy": "exponential_backoff", "retry_after_ms": 1}
    recovery |= {"fallback_tool": "steady"} | ({} if asked is None else {"max_retries": asked})
    failed = {"code": 3000, "message": "not now", "data": {"_mgp": recovery}}

    def answer(params: Json) -> Json:
        return {"content": []} if params["name"] == "steady" else failed

    answers: dict[str, Any] = {"tools/call": answer}
    raw, waits = RawServer(tool("shaky"), tool("steady"), mgp=OFFER, **answers), list[float]()
    most = Retries().most if asked in (None, 0, 3) else 1200  # 2 ** 1024 overflows
    kernel = MgpKernel(retries=Retries(most=most, burst=most))

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(kernel._retries, "sleep", sleep)  # pyright: ignore[reportPrivateUsage]
    with audited() as events:
        async with guarded(raw, kernel) as connection:
            assert await called(connection, "shaky") == 0
    assert [one["name"] for one in raw.calls] == ["shaky"] * tries + ["steady"]
    assert len(events.of("io.kinwire.tool_retried")) == len(waits) == tries - 1
    assert all(0.001 <= one <= 60.0 for one in waits)
