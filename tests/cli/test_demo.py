"""The demos show what they are to show, and end well; what they are made of is served."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

import kinwire_cli.demos.mcpl as mcpl
from kinwire import Host
from kinwire.mcpl import Channels, McplHost
from kinwire_cli.demos import SERVERS
from kinwire_cli.extras import is_installed
from tests.cli.fixtures_scripts import Captured, ran
from tests.each import each
from tests.runtime.transports.fixtures_processes import listening

STEPS = [
    "1. Bindings from the protocol documents",
    "   $ kinwire generate",
    "   written: ",
    "2. A server in a child process",
    "   $ kinwire serve demo mcp",
    "3. Negotiated",
    "   protocol      mcp 2024-11-05",
    "   server        kinwire-demo 1.0",
    "   capabilities  logging, tools",
    "4. Called through the generated client",
    "     add, echo, countdown, divide",
    "     result: 3",
    "     result: hello",
    "     progress 3/3  1 ...",
    "     result: Lift-off",
    "     error of the tool: Nothing can be divided by zero.",
    "     InvalidParamsError: Tool 'add': /arguments/a: expected a valid integer",
    "Next: kinwire list mcp",
]


MCPL_STEPS = [
    "1. Four servers, each on a connection of its own",
    "   $ kinwire serve demo mcpl memory",
    "   host      → memory    featureSets/update: on: memory.extraction",
    "   chat      → host      channels/register: chat:#general",
    "2. Emma asks in the chat",
    "   redaction → host      changes it to: It grows to 8-10 units.",
    "3. Notes are kept by the host",
    "4. A server sends a reminder by itself",
    "5. A server uses the host's model",
    "6. The host opens a channel",
    "7. What is left of it",
    "   host                  has ended its servers, which exited with: memory 0, redaction 0",
    "Next: kinwire list -- kinwire serve demo mcpl",
]

MGP_STEPS = [
    "1. Three servers: one keeps the audit trail",
    "   $ kinwire serve demo mgp archive",
    "   archive   → kernel    speaks audit, bidirectional",
    "   operator  → kernel    no",
    "   plain     → kernel    speaks nothing of MGP",
    "2. Tools of each risk",
    "   kernel    → operator  may agent.helper call execute_command(command='ls -la')?",
    "3. What the kernel blocks, the server never sees",
    "   kernel    → agent     refused (1010): ",
    "   kernel    → agent     refused (1010): ",
    "   kernel    → agent     refused (1000): workshop: run_python needs the permission",
    "4. Code is read before it is sent",
    "   kernel    → agent     refused (1011): ",
    "   workshop  → agent     It would run 12 characters of Python.",
    "5. A tool asks a person while it runs",
    "   workshop  → operator  asks in clear_shelf: Which shelf?",
    "   operator  → workshop  glazes",
    "   workshop  → operator  The boxes stand in the yard.",
    "   workshop  → agent     It would clear the shelf of glazes.",
    "6. A server emits events while it works",
    "   workshop  → kernel    tool.started",
    "   workshop  → kernel    system.facts {'known': 3}",
    "   workshop  → kernel    tool.completed",
    "7. A result comes in pieces",
    "   workshop  → agent     piece 2: 1200 degrees.",
    "   workshop  → agent     the whole: 400 degrees. 800 degrees. 1200 degrees. It would stay so",
    "8. Access is decided by the operator",
    "   kernel    → agent     refused (1001): ",
    "   agent     → workshop  sees recall, fetch_page, execute_command, run_python",
    "   kernel    → agent     refused (1000): ",
    "9. A server that speaks only MCP is guarded, too",
    "   kernel    → agent     refused (4002): ",
    "   kernel    → agent     refused (4001): ",
    "10. What the audit server knows of the agent",
    "   archive   → kernel    TOOL_EXECUTED SUCCESS by agent.helper workshop/recall",
    "                         VALIDATION_FAILED BLOCKED by agent.helper workshop/execute_command",
    "                         CODE_REJECTED BLOCKED by agent.helper workshop/run_python",
    "                         TOOL_BLOCKED BLOCKED by agent.helper plain/subtract",
    "   host                  has ended its servers, which exited with: archive 0, workshop 0",
    "Next: kinwire list -- kinwire serve demo mgp",
]

MCPE_STEPS = [
    "1. Two servers with events",
    "   $ kinwire serve demo mcpe project",
    "2. Events come immediately",
    "   project   → person    selected by 0",
    "   project   → client    github.push {'branch': 'main', 'message': 'Fix the clock'}",
    "3. A pause",
    "   project   → client    github.push {'branch': 'main', 'message': 'Wind it up'}",
    "4. A model subscribes by a tool",
    "                         mean github.issue.opened?",
    "   project   → client    github.issue.opened {'title': 'It stands still'}",
    "5. A schedule collects events",
    "   bookings  → client    bookings.room.booked {'room': 'attic', 'by': 'Emma'}",
    "                         bookings.room.booked {'room': 'cellar', 'by': 'Ben'}",
    "6. A subscription expires on time",
    "   bookings  → client    the subscription has expired at 2026-01-05T21:00:00.000Z",
    "   host                  has ended its servers, which exited with: project 0, bookings 0",
    "Next: kinwire list -- kinwire serve demo mcpe",
]

CONVERSATIONS = {"mcpl": MCPL_STEPS, "mgp": MGP_STEPS, "mcpe": MCPE_STEPS}
ROOT = Path(__file__).parents[2]
COMMAND = (sys.executable, "-m", "kinwire")


def shown(folder: Path, *words: str) -> str:
    """Return what a demo says, which ends with 0 and leaves nothing behind."""
    done = subprocess.run(
        [*COMMAND, "demo", *words],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert list(folder.iterdir()) == []
    return done.stdout


def missing(steps: list[str], text: str) -> list[str]:
    lines = iter(text.splitlines())
    return [step for step in steps if not any(line.startswith(step) for line in lines)]


@pytest.mark.skipif(not is_installed("codegen"), reason="the first step needs the generator")
@pytest.mark.slow
def test_the_demo_generates_negotiates_and_calls(tmp_path: Path) -> None:
    assert missing(STEPS, shown(tmp_path)) == []


@pytest.mark.slow
@each("protocol", ["mcpl", "mgp", "mcpe"])
def test_a_demo_is_the_one_that_the_guide_shows(protocol: str, tmp_path: Path) -> None:
    text = shown(tmp_path, protocol)
    assert missing(CONVERSATIONS[protocol], text) == []
    guide = (ROOT / "docs" / f"{protocol}.md").read_text(encoding="utf-8")
    command = rf"^\$ kinwire demo {protocol}.*?\n(.*?)^```$"
    found = re.search(command, guide, re.DOTALL | re.MULTILINE)
    assert found is not None
    assert found[1] in text


@pytest.mark.slow
def test_the_demo_of_mcpl_is_an_object_a_step_for_programs(tmp_path: Path) -> None:
    steps = [json.loads(line) for line in shown(tmp_path, "mcpl", "--format", "json").splitlines()]
    assert [step["step"] for step in steps] == list(range(1, 8))
    assert {"who": "chat", "to": "host", "text": "taken into conv_1"} not in steps[1]["lines"]
    assert {"who": "host", "to": "chat", "text": "taken into conv_1"} in steps[1]["lines"]


@pytest.mark.skipif(sys.platform != "linux", reason="asks the kernel for child processes")
@pytest.mark.slow
def test_an_interrupted_demo_leaves_no_child() -> None:
    import fcntl

    reading, writing = os.pipe()
    # It holds less than the demo says, so the demo waits for the reader in the middle.
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
    with (
        subprocess.Popen(
            [*COMMAND, "demo", "mcpl"], stdout=writing, stderr=subprocess.PIPE
        ) as demo,
        open(reading, "rb", buffering=0) as output,
    ):
        os.close(writing)
        assert any(line.startswith(b"2.") for line in output)
        task = Path(f"/proc/{demo.pid}/task/{demo.pid}/children")
        children = task.read_text(encoding="ascii").split()
        assert len(children) == len(SERVERS["mcpl"])
        demo.send_signal(signal.SIGINT)
        output.read()
        assert demo.wait(timeout=60) == 130
        assert demo.stderr is not None
        assert demo.stderr.read() == b""
    assert [child for child in children if Path(f"/proc/{child}").exists()] == []


# -- what it is made of --


@pytest.mark.slow
@pytest.mark.parametrize("name", SERVERS["mcpl"])
def test_a_server_of_the_demo_runs_from_a_copy_of_its_file(
    capsys: Captured, tmp_path: Path, name: str
) -> None:
    file = Path(next(iter(mcpl.__path__))) / f"{name}.py"
    copy = shutil.copy(file, tmp_path / f"my_{name}.py")
    for named in (["--", sys.executable, str(copy)], [str(copy)]):
        code, out, _ = ran(capsys, "doctor", *named)
        assert (code, f"handshake    {name} 1.0 answered" in out) == (0, True)


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.parametrize("transport", ["http", "ws"])
async def test_the_demo_is_served_over_a_network(transport: str) -> None:
    live = McplHost(enabled=["*"], channels=Channels())
    words = ("serve", "demo", "mcpl", "--transport", transport, "--port", "0")
    with listening((*COMMAND, *words)) as program:
        with anyio.fail_after(30):
            async with Host("h", "1", extensions=[live]) as host:
                connection = await host.connect(program.url(transport))
                await connection.mcp.ping()
                (server,) = live.servers
                assert {"memory.retrieval", "notes.edit"} < set(server.enabled)
                while not server.channels.known:  # they are registered in the background
                    await anyio.lowlevel.checkpoint()
                known = [one.id for one in server.channels.known]
                assert known == ["chat:#general", "chat:#board"]
