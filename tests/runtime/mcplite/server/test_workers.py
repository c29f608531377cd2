"""Two worker processes with one store: each redeems what the other began, or lost."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.storage.fixtures_engines import NatsServer

PROGRAM = Path(__file__).parents[1] / "programs" / "worker.py"


@pytest.fixture(params=["sqlite", pytest.param("nats", marks=pytest.mark.slow)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A store that several processes can open."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/store.db"
    server: NatsServer = request.getfixturevalue("nats_server")
    return server.url


class Worker:
    """A process that calls its tools when a line on stdin says so."""

    def __init__(self, running: subprocess.Popen[str]) -> None:
        self.running = running

    def call(self, name: str, arguments: Any, meta: Any = None, times: int = 1) -> list[Any]:
        assert self.running.stdin is not None
        self.running.stdin.write(json.dumps([name, arguments, meta or {}, times]) + "\n")
        self.running.stdin.flush()
        results: list[Any] = json.loads(self.line())
        return results

    def line(self) -> str:
        assert self.running.stdout is not None
        return self.running.stdout.readline()

    def promise(self, name: str, seconds: float, meta: Any = None) -> str:
        (result,) = self.call(name, {"seconds": seconds}, meta)
        token: str = result["_meta"]["promise_token"]
        return token

    def redeemed(self, token: str) -> Any:
        """Redeem until the result is there."""
        until = time.monotonic() + 30
        while time.monotonic() < until:
            (result,) = self.call("redeem", {"promise": token})
            if result["_meta"]["response_type"] != "promise":
                return result
            time.sleep(0.02)
        raise TimeoutError


@contextmanager
def workers(url: str) -> Iterator[tuple[Worker, Worker]]:
    command = [sys.executable, str(PROGRAM), url]
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as one, subprocess.Popen(command, **pipes) as other:
        try:
            made = Worker(one), Worker(other)
            assert [worker.line() for worker in made] == ["ready\n"] * 2
            yield made
        finally:
            one.kill()
            other.kill()


@pytest.mark.spec("mcp-lite-3.8-1", "mcp-lite-3.5-4")
def test_a_promise_made_at_one_worker_has_one_answer_at_the_other(url: str) -> None:
    with workers(url) as (one, other):
        key = {"idempotency_key": "k"}
        token = one.promise("slow", 0.2, key)
        assert other.promise("slow", 0.2, key) == token
        answer = other.redeemed(token)
        assert answer["content"] == [{"process": one.running.pid}]
        for worker in (other, one):
            assert worker.call("redeem", {"promise": token}, times=100) == [answer]


@pytest.mark.slow
def test_a_large_result_is_redeemed_at_the_other_worker(url: str) -> None:
    with workers(url) as (one, other):
        token = one.promise("large", 0.05)
        answer = other.redeemed(token)
        assert len(answer["content"][0]["text"]) == 3_500_000
        assert one.call("redeem", {"promise": token}, times=20) == [answer]


@pytest.mark.slow
def test_work_whose_worker_is_killed_before_it_is_stored_has_failed(url: str) -> None:
    with workers(url) as (one, other):
        token = one.promise("finish", 0.05)
        one.running.wait(10)
        failure = other.redeemed(token)
        assert failure["error"]["code"] == "WORK_LOST"
        assert other.call("redeem", {"promise": token}, times=100) == [failure]
