"""How each program under test is started, and why one cannot be."""

from __future__ import annotations

__all__ = (
    "FLOOR",
    "MCP",
    "ROW",
    "TYPESCRIPT",
    "VARIANTS",
    "WARM_TYPESCRIPT",
    "Mode",
    "Program",
    "pins",
    "programs",
    "python_program",
)

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NamedTuple

from tests.interop import peers

Mode = Literal["serve", "memory", "client"]

VARIANTS = {
    "plain": "as installed",
    "orjson": "with orjson",
    "fast": "with orjson and uvloop",
    "trio": "on trio",
}
"""Ways to run ours, and what to say of each."""

ROW, FLOOR = "row", "floor"
MCP, TYPESCRIPT, WARM_TYPESCRIPT = "mcp 2.x", "TypeScript 1.x", "TypeScript 1.x, warm"

_SDK = "@modelcontextprotocol/sdk"

_FOLDER = Path(__file__).parent / "programs"
_BYTE_SERVER = (sys.executable, "-I", str(_FOLDER / "byte_server.py"))


class Program(NamedTuple):
    """A command line, what it adds to the environment, and how much it has to do."""

    command: tuple[str, ...]
    env: Mapping[str, str] = MappingProxyType({})
    warm_up: int = 1500
    """Calls before it is measured."""
    share: int = 1
    """It is given one call of this many: without a compiler at work, fewer tell as much."""


def programs(mode: Mode) -> tuple[dict[str, Program], dict[str, str]]:
    """Return the programs by name, and for those that cannot be installed the reason."""
    what = (mode, *(_BYTE_SERVER if mode == "client" else ()))
    found = {name: python_program("ours", name, *what) for name in (*VARIANTS, ROW)}
    found[FLOOR] = python_program("floor", *what)
    missing: dict[str, str] = {}
    try:
        found[MCP] = python_program("mcp2", *what, python=str(peers.mcp2_python()))
    except peers.PeerMissingError as error:
        missing[MCP] = str(error)
    try:
        found[TYPESCRIPT] = typescript = _typescript(*what)
        found[WARM_TYPESCRIPT] = typescript._replace(warm_up=40_000)
    except peers.PeerMissingError as error:
        missing[TYPESCRIPT] = str(error)
    return found, missing


def pins() -> list[str]:
    """Return the versions of the other projects."""
    pinned = [
        line
        for name in ("mcp1", "mcp2", "fastmcp", "node")
        for line in (peers.HERE / f"requirements-{name}.txt").read_text(encoding="utf-8").split()
    ]
    npm = json.loads((peers.HERE / "package.json").read_text(encoding="utf-8"))["dependencies"]
    return [*dict.fromkeys(pinned), f"{_SDK}=={npm[_SDK]}"]


def python_program(program: str, *arguments: str, python: str = sys.executable) -> Program:
    """Return a program of the folder next to this file."""
    return Program((python, "-m", f"tests.bench.programs.{program}", *arguments), share=4)


def _typescript(*arguments: str) -> Program:
    node = (str(peers.node()), "--no-warnings")  # of many listeners, once a client
    command = (*node, str(_FOLDER / "typescript.cjs"), *arguments)
    return Program(command, {"NODE_PATH": str(peers.npm_packages())})
