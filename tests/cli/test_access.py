"""`kinwire access` on the store of a kernel."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from kinwire.storage import open_store
from kinwire_cli.failure import PROBLEMS_FOUND, USAGE
from tests.cli.fixtures_scripts import Captured, ran


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/kernel.db"


def as_json(capsys: Captured, *words: str) -> Any:
    code, out, err = ran(capsys, "access", *words, "--format", "json")
    assert code == 0, err
    return json.loads(out)


def test_entries_are_granted_listed_explained_and_revoked(capsys: Captured, store: str) -> None:
    here = ("--store", store)
    code, out, err = ran(capsys, "access", "grant", "agent.a", "files", "--deny", *here)
    assert (code, "made the new store" in err) == (0, True)
    header, row = out.splitlines()
    assert header.split()[:5] == ["agent", "server", "tool", "permission", "granted_by"]
    assert row.split()[:5] == ["agent.a", "files", "*", "deny", "operator"]
    entry = as_json(
        capsys, "grant", "agent.a", "files", "t", "--expires-in", "60", "--reason", "x y", *here
    )
    assert (entry["entry_type"], entry["permission"]) == ("tool_grant", "allow")
    assert (entry["justification"], entry["expires_at"] > entry["granted_at"]) == ("x y", True)
    as_json(capsys, "grant", "agent.b", "mail", *here)

    assert len(as_json(capsys, "list", *here)) == 3
    assert len(as_json(capsys, "list", "agent.a", *here)) == 2
    assert len(as_json(capsys, "list", "agent.b", "mail", *here)) == 1
    assert [line.split()[0] for line in ran(capsys, "access", "list", *here)[1].splitlines()] == [
        "agent",
        "agent.a",
        "agent.a",
        "agent.b",
    ]

    assert as_json(capsys, "revoke", "agent.a", "files", "t", *here) == entry
    code, out, err = ran(capsys, "access", "revoke", "agent.a", "files", "t", *here)
    assert (code, out) == (PROBLEMS_FOUND, "")
    assert "there was no entry of agent.a for files, t" in err
    assert len(as_json(capsys, "list", *here)) == 2
    assert event_types(store) == ["ACCESS_GRANTED"] * 3 + ["ACCESS_REVOKED"]


def test_an_explanation_marks_what_decided(capsys: Captured, store: str) -> None:
    here = ("--store", store)
    ran(capsys, "access", "grant", "agent.a", "files", "--deny", *here)
    ran(capsys, "access", "grant", "agent.a", "files", "t", *here)
    code, out, _ = ran(capsys, "access", "explain", "agent.a", "files", "t", *here)
    assert (code, out.splitlines()[0]) == (0, "agent.a may use t of files")
    assert out.splitlines()[1].startswith("->  tool_grant")
    code, out, _ = ran(capsys, "access", "explain", "agent.a", "files", "u", *here)
    assert (code, out.splitlines()[0]) == (PROBLEMS_FOUND, "agent.a may not use u of files")
    assert [line.startswith("->") for line in out.splitlines()[1:]] == [False, True, False]
    words = ("access", "explain", "agent.c", "files", "t", *here)
    assert ran(capsys, *words)[0] == 0
    code, out, _ = ran(capsys, *words, "--default", "opt-in", "--format", "json")
    found = json.loads(out)
    assert (code, found["permission"], found["source"]) == (1, "deny", "default_policy")
    assert [step["permission"] for step in found["steps"]] == [None, None, "deny"]


def event_types(store: str) -> list[str]:
    """Return the types of the events in the audit log of a store."""

    async def main() -> list[str]:
        async with open_store(store) as opened:
            found = await (await opened.log("mgp-audit")).read()
        return [one.subject.rpartition(".")[2] for one in found]

    return anyio.run(main)


def test_words_that_do_not_fit_are_refused_before_a_store_is_made(
    capsys: Captured, store: str, tmp_path: Path
) -> None:
    wrong = {
        ("grant", "agent.a"): "needs SERVER",
        ("revoke",): "needs AGENT",
        ("explain", "agent.a", "files"): "needs TOOL",
        ("list", "agent.a", "files", "t"): "takes no TOOL",
        ("revoke", "agent.a", "files", "--deny"): "--deny is an option of access grant",
        ("list", "--expires-in", "5"): "--expires-in is an option of access grant",
        ("grant", "agent.a", "files", "--default", "opt-in"): "--default is an option of access",
        ("list",): "there is no such file",
        ("revoke", "agent.a", "files"): "there is no such file",
    }
    for words, problem in wrong.items():
        code, out, err = ran(capsys, "access", *words, "--store", store)
        assert (code, out) == (USAGE, "")
        assert problem in err
    assert list(tmp_path.iterdir()) == []
    code, _, err = ran(capsys, "access", "list", "--store", "memory:")
    assert (code, "belongs to one process" in err) == (USAGE, True)
    for words in (("grant", "a\x1b[0m", "files"), ("grant", "a", "files", "--expires-in", "-1")):
        code, _, err = ran(capsys, "access", *words, "--store", store)
        assert (code, "\x1b" in err) == (USAGE, False)


def test_no_entries_are_reported(capsys: Captured, store: str) -> None:
    ran(capsys, "access", "grant", "a", "files", "--store", store)
    ran(capsys, "access", "revoke", "a", "files", "--store", store)
    assert ran(capsys, "access", "list", "--store", store)[:2] == (0, "")
