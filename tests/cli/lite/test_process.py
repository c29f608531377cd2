"""`kinwire lite` and `kinwire serve lite` as processes: both bindings of one, and how they end."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import psutil
import pytest

from kinwire import LiteClient, connect, result_text, stdio
from kinwire.mcplite import LiteAnswer, LitePromise
from kinwire_cli import main
from tests.each import each
from tests.runtime.transports.fixtures_processes import ROOT

TOKEN = "a-token-of-sixteen-letters"
COMMAND = (sys.executable, "-m", "kinwire")
_ADDRESS = re.compile(r"serving MCP-lite at ((http|grpc)://\S+)")


@contextmanager
def bridge(*options: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, str]]]:
    """Yield a process of `kinwire lite` in front of the demo, and its addresses by binding."""
    command = (*COMMAND, "lite", "--transport", "http", "--transport", "grpc")
    ports = ("--port", "0", "--grpc-port", "0", "--token", "me=TOKEN")
    served = ("--", *COMMAND, "serve", "demo", "mcp")
    process = subprocess.Popen(
        (*command, *ports, *options, *served),
        cwd=ROOT,
        env={**os.environ, "TOKEN": TOKEN},
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stderr is not None
        try:
            lines = [process.stderr.readline() for _ in range(2)]
            found = [_ADDRESS.search(line) for line in lines]
            assert all(found), lines
            yield process, {one[2]: one[1] for one in found if one is not None}
        finally:
            process.terminate()


@pytest.mark.slow
@pytest.mark.spec("mcp-lite-6-3", "mcp-lite-1-2")
def test_both_bindings_of_one_process_give_the_same(tmp_path: Path) -> None:
    pytest.importorskip("grpc", reason="the extra grpc is not installed")
    store = f"sqlite:///{tmp_path}/promises.db"
    with bridge("--promise-after", "0.05", "--store", store) as (process, addresses):
        anyio.run(_ask_both, addresses)
        process.terminate()
        assert process.wait(10) == 0


async def _ask_both(addresses: dict[str, str]) -> None:
    tools, answers, promised = [], [], []
    for url in addresses.values():
        async with LiteClient(url, token=TOKEN) as client:
            tools.append([tool.name for tool in await client.list_tools()])
            answers.append(await client.call("add", {"a": 1, "b": 2}))
            promised.append(await client.call("countdown", {"start": 4, "pause": 0.05}))
    assert tools[0] == tools[1]
    assert tools[0][0] == "redeem"
    assert [one.content for one in answers if isinstance(one, LiteAnswer)] == [
        [{"type": "text", "text": "3"}]
    ] * 2
    async with LiteClient(addresses["http"], token=TOKEN) as client:  # both are redeemed there
        for one in promised:
            assert isinstance(one, LitePromise)
            outcome = await client.promise(one.token).wait(timeout=20)
            assert isinstance(outcome, LiteAnswer)
            assert outcome.text == "Lift-off"
    header = f"Authorization: Bearer {TOKEN}"
    transport = stdio(*COMMAND, "serve", "lite", "--header", header, addresses["grpc"])
    async with connect(transport) as server:
        result = await server.mcp.tools_call(name="add", arguments={"a": 3, "b": 4})
        assert result_text(result) == "7"
    assert transport.exit_code == 0


@pytest.mark.slow
def test_a_bridge_ends_with_the_server_behind_it() -> None:
    pytest.importorskip("grpc", reason="the extra grpc is not installed")
    with bridge() as (process, _):
        (child,) = psutil.Process(process.pid).children()
        child.kill()
        assert process.wait(10) == 4


@each(
    ("words", "hint"),
    [
        (["serve", "lite"], "expected the URL"),
        (["serve", "lite", "notes.py"], "expected the URL"),
        (["serve", "lite", "http://127.0.0.1:1/", "more"], "expected the URL"),
        (["serve", "lite", "http://127.0.0.1:1/", "--transport", "ws"], "stdio or http"),
        (["lite", "--host", "0.0.0.0", "--", "true"], "without TLS"),
        (["lite", "--host", "0.0.0.0", "--insecure", "--", "true"], "Everybody who reaches"),
        (["lite"], "No server is named"),
    ],
)
def test_slips_are_refused(words: list[str], hint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert hint in capsys.readouterr().err
