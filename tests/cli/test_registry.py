"""`kinwire registry` on the store of a kernel with which a raw server has registered another."""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import pytest

from kinwire.mgp import MgpKernel, Registration, Registrations
from kinwire.storage import open_store
from tests.cli.fixtures_scripts import Captured, ran
from tests.each import each
from tests.runtime.mgp.fixtures_kernel import guarded
from tests.runtime.mgp.raw_peers import RawServer

PARAMS = {
    "id": "dynamic.tool",
    "command": "python",
    "args": ["tool.py"],
    "mgp": {"permissions_required": ["memory.read"]},
    "justification": "it\x1b[2J helps",
}
DIGEST = "0" * 64


@pytest.fixture
def url(tmp_path: Path) -> str:
    """Return the store."""
    (tmp_path / "tool.py").write_text("print('\x1b[2J')\n", encoding="utf-8")
    url = f"sqlite:///{tmp_path}/kernel.db"

    async def register() -> None:
        async with open_store(url) as store:
            records = await store.records("mgp")
            kernel = MgpKernel(records=records, registrations=Registrations(folder=tmp_path))
            raw = RawServer(mgp={"version": "0.2.0", "extensions": ["discovery"]})
            async with guarded(raw, kernel, "maker"):
                reply = await raw.ask(1, "mgp/discovery/register", PARAMS)
                assert "result" in reply, reply

    anyio.run(register)
    return url


def registered(url: str) -> list[Registration]:
    """Return what the kernel knows."""

    async def read() -> list[Registration]:
        async with open_store(url) as store:
            return await MgpKernel(records=await store.records("mgp")).registry.all()

    return anyio.run(read)


def test_a_server_is_looked_at_and_approved_by_the_digest_of_that(
    url: str, capsys: Captured
) -> None:
    code, out, err = ran(capsys, "registry", "list", "--store", url)
    assert (code, err, out.split("\n")[0].split()[:2]) == (0, "", ["server", "state"])
    assert out.split("\n")[1].split()[:4] == ["dynamic.tool", "waits", "server", "maker"]
    assert out.split("\n")[1].endswith("python tool.py  it\\u001b[2J helps")
    code, out, _ = ran(capsys, "registry", "show", "dynamic.tool", "--store", url)
    assert (code, "print('\\u001b[2J')" in out, "\x1b" in out) == (0, True, False)
    (found,) = registered(url)
    assert f"digest       {found.digest}\n" in out
    code, out, err = ran(capsys, "registry", "approve", "dynamic.tool", DIGEST, "--store", url)
    assert (code, out, "would run something else" in err) == (2, "", True)
    assert not registered(url)[0].is_approved
    words = ["approve", "dynamic.tool", found.digest, "--by", "alice", "--format", "json"]
    code, out, _ = ran(capsys, "registry", *words, "--store", url)
    shown = json.loads(out)
    assert (code, shown["state"], shown["approval"]["by"]) == (0, "approved", "alice")
    assert registered(url)[0].is_approved
    code, out, _ = ran(capsys, "audit", "search", "--store", url, "--format", "json")
    assert "io.kinwire.server_approved" in out


def test_a_server_is_taken_out(url: str, capsys: Captured) -> None:
    words = ["deregister", "dynamic.tool", "--reason", "not needed", "--store", url]
    found = ran(capsys, "registry", *words)
    assert found == (0, "", "dynamic.tool is taken out\n")
    assert registered(url) == []
    code, out, err = ran(capsys, "registry", *words)
    assert (code, out, "No server 'dynamic.tool' was registered" in err) == (2, "", True)


@each(
    ("words", "message"),
    [
        (["list", "x"], "registry list takes no SERVER."),
        (["show"], "registry show needs SERVER."),
        (["show", "x", "y"], "registry show takes no DIGEST."),
        (["approve", "x"], "registry approve needs DIGEST."),
        (["approve", "x", "y", "--reason", "z"], "--reason is an option of registry deregister."),
        (["list", "--by", "z"], "--by is an option of registry approve and deregister."),
    ],
)
def test_wrong_words_end_with_2(capsys: Captured, words: list[str], message: str) -> None:
    code, _, err = ran(capsys, "registry", *words, "--store", "sqlite:///absent.db")
    assert (code, message in err) == (2, True)
