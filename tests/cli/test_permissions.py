"""`kinwire permissions` on the store of a kernel, which may be running."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.from_thread import start_blocking_portal

from kinwire import Host
from kinwire.mgp import MgpKernel, ServerPolicy
from kinwire.storage import open_store
from kinwire_cli.failure import USAGE
from tests.cli.fixtures_scripts import Captured, ran
from tests.runtime.mgp.raw_peers import RawServer, tool


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/kernel.db"


def as_json(capsys: Captured, *words: str) -> Any:
    code, out, err = ran(capsys, "permissions", *words, "--format", "json")
    assert code == 0, err
    return json.loads(out)


def test_permissions_are_approved_listed_denied_and_revoked(capsys: Captured, store: str) -> None:
    here = ("--store", store)
    code, out, err = ran(capsys, "permissions", "approve", "files", "network", *here)
    assert (code, "made the new store" in err) == (0, True)
    header, *rows = out.splitlines()
    assert header.split() == [
        "server",
        "permission",
        "state",
        "risk",
        "by",
        "at",
        "expires_at",
        "why",
    ]
    assert [row.split()[:5] for row in rows] == [
        ["files", "network.listen", "approved", "dangerous", "operator"],
        ["files", "network.outbound", "approved", "moderate", "operator"],
    ]
    [row] = as_json(capsys, "approve", "a b", "camera", "--expires-in", "60", "--by", "ann", *here)
    assert (row["by"], row["at"] < row["expires_at"]) == ("ann", True)
    [row] = as_json(capsys, "revoke", "files", "network.listen", "--reason", "enough", *here)
    assert (row["state"], row["why"]) == ("revoked", "enough")
    [row] = as_json(capsys, "deny", "files", "shell", *here)
    assert (row["permission"], row["state"]) == ("shell.execute", "denied")
    assert [(one["server"], one["state"]) for one in as_json(capsys, "list", *here)] == [
        ("a b", "approved"),
        ("files", "revoked"),
        ("files", "approved"),
        ("files", "denied"),
    ]
    assert len(as_json(capsys, "list", "files", *here)) == 3
    [row] = as_json(capsys, "approve", "files", "shell.execute", *here)
    assert row["state"] == "approved"
    assert event_types(store) == ["GRANTED"] * 3 + ["REVOKED", "DENIED", "GRANTED"]


def event_types(store: str) -> list[str]:
    """Return the types of the events in the audit log of a store, without their beginning."""

    async def read() -> list[str]:
        async with open_store(store) as opened:
            entries = await (await opened.log("mgp-audit")).read()
        return [str(entry.value) for entry in entries]

    texts = anyio.run(read)
    kinds = ("GRANTED", "DENIED", "REVOKED")
    return [kind for text in texts for kind in kinds if f"PERMISSION_{kind}" in text]


NAME = "look\x1b[2J\nfiles"  # would clear the screen and begin a line of its own


async def calling(store: str) -> str:
    """Call a tool that needs a permission, in a kernel on that store; return the answer."""
    server = RawServer(
        tool(NAME, security={"risk_level": "safe", "permissions_required": ["memory.read"]}),
        mgp={"version": "0.2.0", "extensions": ["security"], "permissions_required": ["camera"]},
    )
    async with open_store(store) as opened:
        kernel = MgpKernel(
            servers={"files": ServerPolicy(confirm=[])}, records=await opened.records("mgp")
        )
        async with Host("h", "1", extensions=[kernel]) as host:
            connection = await host.connect(server, server_id="files")
            result: Any = await connection.mcp.tools_call(name=NAME)
            return str(result.content[0].text)


def test_a_call_that_waits_in_a_running_kernel_goes_on(capsys: Captured, store: str) -> None:
    here = ("--store", store)
    with start_blocking_portal() as portal:
        outcome = portal.start_task_soon(calling, store)
        out = ""
        while "memory.read" not in out:
            out = ran(capsys, "permissions", "list", *here)[1]
        assert out.replace("\n", "").isprintable()
        assert len(out.splitlines()) == 3
        rows = as_json(capsys, "list", *here)
        assert [(row["permission"], row["state"], row["why"]) for row in rows] == [
            ("camera", "waits", None),
            ("memory.read", "waits", f"host calls {NAME}"),
        ]
        approved = as_json(capsys, "approve", "files", *here)
        assert [row["state"] for row in approved] == ["approved", "approved"]
        assert outcome.result(timeout=5.0) == NAME  # it takes less than one on a free machine


def test_a_name_that_may_be_misspelt_is_noted(capsys: Captured, store: str) -> None:
    here = ("--store", store)
    for action in ("approve", "deny", "revoke"):
        code, _, err = ran(capsys, "permissions", action, action, "shell.exec", *here)
        assert code == 0
        text = f"note: shell.exec is not a standard permission, and {action} has not asked for it."
        assert f"{text} Did you mean 'shell.execute'?\n" in err
    ran(capsys, "permissions", "approve", "files", "exec", *here)
    for name in ("exec", "shell", "com.example.custom"):
        assert ran(capsys, "permissions", "deny", "files", name, *here)[2] == ""


def test_records_of_another_name_are_noted(capsys: Captured, store: str) -> None:
    async def other() -> None:
        async with open_store(store) as opened:
            await MgpKernel(records=await opened.records("kernel")).access.grant("a", "files")

    anyio.run(other)
    for command in ("permissions", "access"):
        code, _, err = ran(capsys, command, "list", "--store", store)
        assert (code, "'mgp', which are read, are empty; the store also has 'kernel'\n" in err) == (
            0,
            True,
        )
    # a command that only reads makes no log
    assert "has no log 'mgp-audit'" in ran(capsys, "audit", "tail", "--store", store)[2]


async def confirming(store: str, *agents: str) -> None:
    """Let calls of a dangerous tool by some agents through, in a kernel on that store."""
    server = RawServer(
        tool("remove", security={"risk_level": "dangerous"}),
        mgp={"version": "0.2.0", "extensions": ["security"]},
    )
    async with open_store(store) as opened:
        kernel = MgpKernel(records=await opened.records("mgp"))
        async with Host("h", "1", extensions=[kernel]) as host:
            await host.connect(server, server_id="files")
            for agent in agents:
                await kernel.confirmations.allow(agent, "files", "remove")


def test_standing_confirmations_are_listed_and_end(capsys: Captured, store: str) -> None:
    here = ("--store", store)
    ran(capsys, "permissions", "approve", "files", "camera", *here)
    anyio.run(confirming, store, "agent.a", "agent.b", "agent.c")
    rows = as_json(capsys, "list", "files", *here)
    assert [(row["permission"], row["state"], row["risk"], row["why"]) for row in rows] == [
        ("camera", "approved", "dangerous", None),
        *((None, "confirmed", None, f"whenever agent.{one} calls remove") for one in "abc"),
    ]
    assert as_json(capsys, "list", "other", *here) == []
    revoke = ("revoke", "files", "--tool", "remove")
    rows = as_json(capsys, *revoke, "--agent", "agent.b", "--by", "ann", *here)
    assert [row["why"][-16:-13] for row in rows] == ["t.a", "t.c"]
    assert "No confirmation" in ran(capsys, "permissions", *revoke, "--agent", "agent.b", *here)[2]
    assert as_json(capsys, *revoke, *here) == []
    assert [row["permission"] for row in as_json(capsys, "list", *here)] == ["camera"]
    assert event_types(store) == ["GRANTED"] + ["REVOKED"] * 3


def test_wrong_commands_say_what_is_wrong(capsys: Captured, store: str) -> None:
    here = ("--store", store)
    ran(capsys, "permissions", "approve", "files", "camera", *here)
    wrong = {
        ("approve",): "permissions approve needs SERVER",
        ("revoke", "files"): "permissions revoke needs PERMISSION, or --tool",
        ("revoke", "files", "shell", "--tool", "x"): "permissions revoke needs PERMISSION, or",
        ("revoke", "files", "shell", "--agent", "x"): "--agent is an option of revoke --tool",
        ("revoke", "files", "--tool", "x", "--reason", "y"): "--reason is not an option of revoke",
        ("revoke", "files", "--tool", "x"): "No confirmation of x of files stands",
        ("deny", "files", "camera", "--tool", "x"): "--tool is an option of permissions revoke",
        ("list", "files", "camera"): "permissions list takes no PERMISSION",
        ("list", "--by", "ann"): "--by is an option of permissions approve and deny and revoke",
        ("deny", "files", "camera", "--expires-in", "5"): "--expires-in is an option of",
        ("approve", "files", "camera", "--reason", "x"): "--reason is an option of",
        ("approve", "other"): "No permission of other waits for a decision",
        ("approve", "files", "shell.*"): "expected names of permissions",
        ("approve", "unnamed-123456789012", "camera"): "expected a server_id",
        ("approve", "files", "camera", "--expires-in", "0"): "expected seconds, more than 0",
    }
    for words, text in wrong.items():
        code, _, err = ran(capsys, "permissions", *words, *here)
        assert (code, text in err) == (USAGE, True), (words, err)
    code, _, err = ran(capsys, "permissions", "list", "--store", store.replace("kernel", "other"))
    assert (code, "there is no such file" in err) == (USAGE, True)
