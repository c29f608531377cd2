"""One run of each peer against kinwire, in which it does all that it is tried with.

A peer that is a client runs as a program next to this file and prints what came of it; one that is
a server is used by our host.
"""

from __future__ import annotations

__all__ = ("Run", "client_of_url", "inspected", "inspections", "mcpl_host", "program", "run")

import json
import os
import subprocess
import sys
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import anyio

from tests.interop import host, peers, third_parties
from tests.interop.recording import Recorded
from tests.interop.wire import Message, messages

HERE = Path(__file__).parent
TIMEOUT = 120.0  # seconds; above the programs' own limits, so that their messages are seen
PATIENCE = 10.0  # seconds for a server to end, after a client that does not wait for it

OURS = (sys.executable, str(HERE / "servers" / "kinwire_server.py"))
UNKNOWN = (sys.executable, str(HERE / "servers" / "unknown_members.py"))


class Run(NamedTuple):
    """What one peer did with kinwire."""

    found: dict[str, Any]
    """What came of each method, as far as more is to be said than that it went well."""
    starts: list[list[Message]]
    """What went over the wire at each start of the server."""
    left_over: list[int]
    """The processes that are left."""


def run(peer: str, how: str, folder: Path) -> Run:
    """Return what `peer`, a key of `cells.PEERS`, does.

    `how` is "auto" or "legacy" for a client, whether it tries a later protocol first or not; for a
    server it is the library that our host runs on, "asyncio" or "trio".

    Raises:
        PeerMissingError: it cannot be installed.
    """
    side, _, name = peer.partition(" ")
    if side == "server":
        return _of_server(name, how, folder)
    server = Recorded(OURS, folder)
    found = _inspector(server) if name == "inspector" else client(name, how, server)
    return _ended(found, server)


def client(name: str, mode: str, server: Recorded) -> dict[str, Any]:
    """Return what a client prints that is given `server` and the server of unknown members."""
    return _client_of(name, mode, json.dumps(server.words), json.dumps(UNKNOWN))


def client_of_url(name: str, mode: str, url: str) -> dict[str, Any]:
    """Return what a client prints that is given the URL of the server of the tests."""
    return _client_of(name, mode, url)


def mcpl_host(server: str) -> dict[str, Any]:
    """Return what a host of MCPL on the TypeScript SDK prints, given a command or a URL."""
    env = {"NODE_PATH": str(peers.npm_packages())}
    script = str(HERE / "clients" / "mcpl_host.mjs")
    return dict(json.loads(_output((str(peers.node()), script, server), env)))


def _client_of(name: str, mode: str, *servers: str) -> dict[str, Any]:
    program, suffix, env = _client(name)
    script = str(HERE / "clients" / f"{name}_client{suffix}")
    return dict(json.loads(_output((program, script, mode, *servers), env)))


def _client(name: str) -> tuple[str, str, Mapping[str, str]]:
    if name in PYTHONS:
        return str(PYTHONS[name]()), ".py", {}
    return str(peers.node()), ".mjs", {"NODE_PATH": str(peers.npm_packages())}


PYTHONS: Mapping[str, Callable[[], Path]] = {
    "mcp1": peers.mcp1_python,
    "mcp2": peers.mcp2_python,
    "fastmcp": peers.fastmcp_python,
}


def _of_server(name: str, backend: str, folder: Path) -> Run:
    if name in PYTHONS:
        script = str(HERE / "servers" / f"{name}_server.py")
        server = Recorded((str(PYTHONS[name]()), script), folder)
        return _used(server, host.use_contract, backend)
    command = peers.npm_server(name)
    if name == "everything":
        return _used(Recorded(command, folder), third_parties.use_everything, backend)
    if name == "memory":
        memory = ("env", f"MEMORY_FILE_PATH={folder / 'memory.jsonl'}")
        return _used(Recorded((*memory, *command), folder), third_parties.use_memory, backend)
    folders = [folder / "first", folder / "second"]
    for one in folders:
        one.mkdir()
    use = partial(third_parties.use_filesystem, folders=folders)
    return _used(Recorded(command, folder), use, backend)


def _used(server: Recorded, use: Callable[[Recorded], Any], backend: str) -> Run:
    return _ended(anyio.run(use, server, backend=backend), server)


def _ended(found: dict[str, Any], server: Recorded) -> Run:
    left_over = server.left_over(PATIENCE)
    return Run(found, [messages(wire) for wire in server.wires()], left_over)


# At most eight: each starts a Node with all of the Inspector.
INSPECTIONS = {
    "tools/list": ("--method", "tools/list"),
    "ping": ("--method", "tools/call", "--tool-name", "knock"),
    "roots/list": ("--method", "tools/call", "--tool-name", "where"),
    "resources/list": ("--method", "resources/list"),
    "resources/templates/list": ("--method", "resources/templates/list"),
    "resources/read": ("--method", "resources/read", "--uri", "memo://today"),
    "prompts/list": ("--method", "prompts/list"),
    "prompts/get": (
        *("--method", "prompts/get", "--prompt-name", "plan", "--prompt-args", "day=Monday"),
    ),
}


def _inspector(server: Recorded) -> dict[str, Any]:
    return inspections(INSPECTIONS, server.folder, (), ("--", *server.words))


def inspections(
    wanted: Collection[str], home: Path, options: tuple[str, ...], command: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Return what the Inspector's command prints, by the method that it was given."""
    results = inspected([INSPECTIONS[method] for method in wanted], home, options, command)
    return dict(zip(wanted, results, strict=True))


def inspected(
    lines: Collection[tuple[str, ...]],
    home: Path,
    options: tuple[str, ...],
    command: tuple[str, ...] = (),
) -> list[Any]:
    """Return what the Inspector's command prints for each of these words."""
    start = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
    node = peers.node()
    base = (str(node), str(peers.npm_packages() / start), "--cli", "-q", "--format", "json")
    path = os.pathsep.join([str(node.parent), os.environ.get("PATH", os.defpath)])
    env = {"HOME": str(home), "PATH": path}  # it keeps a catalogue in the home folder

    def inspect(words: tuple[str, ...]) -> Any:
        line = (*base, "--protocol-era", "auto", *options, *words, *command)
        return json.loads(_output(line, env))["result"]

    with ThreadPoolExecutor(2) as threads:  # it is slow, and most machines have two processors
        return list(threads.map(inspect, lines))


def program(python: str, script: str, *words: str) -> dict[str, Any]:
    """Return what a client next to this file prints, run in an environment of `PYTHONS`."""
    command = (str(PYTHONS[python]()), str(HERE / "clients" / script), *words)
    return dict(json.loads(_output(command, {})))


def _output(command: tuple[str, ...], env: Mapping[str, str]) -> str:
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        env={**os.environ, **env},
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout
