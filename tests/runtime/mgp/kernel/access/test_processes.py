"""Four processes grant, revoke and query on one store: every answer fits one order of changes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.runtime.mgp.kernel.access.reference import Reference
from tests.runtime.storage.fixtures_engines import Engine, NatsServer
from tests.sample import rounds

PROGRAM = Path(__file__).parent / "programs" / "access_race.py"


class Done(NamedTuple):
    """One call of one process."""

    began: int
    ended: int
    action: str
    agent: str
    tool: str | None
    said: str
    revision: int


def store_of(engine: str, request: pytest.FixtureRequest, folder: Path) -> Engine:
    """Return a store that several processes can open."""
    if engine == "sqlite":
        return Engine("sqlite", f"sqlite:///{folder}/store.db")
    server: NatsServer = request.getfixturevalue("nats_server")
    return Engine("nats", server.url)


@pytest.mark.parametrize(
    ("engine", "processes", "times"),
    [
        ("sqlite", 2, 60),
        pytest.param("sqlite", 4, rounds(1000), marks=pytest.mark.faults),
        pytest.param("nats", 4, rounds(250), marks=pytest.mark.faults),
    ],
)
def test_answers_of_several_processes_fit_one_order(
    engine: str, processes: int, times: int, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    done = race(store_of(engine, request, tmp_path).url, processes, times)
    assert len(done) == processes * times
    for agent in "ab":
        check([one for one in done if one.agent == agent])


def race(url: str, processes: int, times: int) -> list[Done]:
    """Run the program in several processes, which start together."""
    running = [
        subprocess.Popen(
            [sys.executable, str(PROGRAM), url, name, str(times)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in "wxyz"[:processes]
    ]
    for one in running:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n", one.communicate()
    for one in running:
        assert one.stdin is not None
        one.stdin.write("\n")
        one.stdin.flush()
    found: list[Done] = []
    for one in running:
        out, complaint = one.communicate(timeout=300)
        assert one.returncode == 0, complaint
        found += [Done(*json.loads(line)) for line in out.splitlines()]
    return found


def check(done: list[Done]) -> None:
    """Check the calls about one agent: each is at one place in the order of revisions."""
    reference = Reference()
    by_revision = defaultdict[int, list[Done]](list)
    for one in done:
        by_revision[one.revision].append(one)
    for revision in sorted(by_revision):
        check_at(reference, by_revision[revision])
    check_times(done)


def check_at(reference: Reference, done: list[Done]) -> None:
    """Apply the change that made a revision, and check what was answered at it."""
    queries = [one for one in done if one.action == "query"]
    idle = [one for one in done if one.said == "False"]
    changes = [one for one in done if one not in queries and one not in idle]
    assert len(changes) <= 1, changes
    for one in changes:
        apply(reference, one)
    for one in queries:
        assert one.tool is not None
        wanted = reference.decide(one.agent, "s", one.tool, "opt-in", 0.0)
        assert one.said == " ".join(wanted), one
    for one in idle:  # there was nothing to revoke
        assert not reference.revoke(one.agent, "s", one.tool, 0.0), one


def check_times(done: list[Done]) -> None:
    """Check that each call saw all changes of calls that had ended before it began."""
    ends = sorted(done, key=lambda one: one.ended)
    newest, at = 0, 0
    for one in sorted(done, key=lambda one: one.began):
        while ends[at].ended < one.began:
            newest, at = max(newest, ends[at].revision), at + 1
        assert one.revision >= newest, one


def apply(reference: Reference, one: Done) -> None:
    if one.action == "grant":
        reference.grant(one.agent, "s", one.tool, one.said)
    else:
        assert reference.revoke(one.agent, "s", one.tool, 0.0), one


def test_a_stale_answer_is_noticed() -> None:
    grant = Done(0, 1, "grant", "a", None, "allow", 5)
    revoke = Done(2, 3, "revoke", "a", None, "True", 6)
    good = Done(4, 5, "query", "a", "t", "deny default_policy", 6)
    check([grant, revoke, good])
    for stale in (
        good._replace(said="allow server_grant"),
        good._replace(said="allow server_grant", revision=5),
    ):
        with pytest.raises(AssertionError):
            check([grant, revoke, stale])
