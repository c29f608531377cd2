"""What comes before the first call: import, a server with one tool, its first reply, its size.

Each figure is that of a fresh process, with compiled modules in place as an installation has them.
"""

from __future__ import annotations

__all__ = ("rows",)

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from importlib.metadata import distributions, requires
from pathlib import Path
from statistics import median
from typing import NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.bench.measure import Row, at_least, at_most, own_environment, spread
from tests.bench.target import INITIALIZE
from tests.interop import peers

ROUNDS = 9

_PROGRAM = str(Path(__file__).parent / "programs" / "one_tool.py")
_DEMO = ("-m", "kinwire", "serve", "demo", "mcp")
_OURS, _MCP, _FASTMCP = "kinwire", "mcp 2.x", "fastmcp 4.x"


class Started(NamedTuple):
    """What a fresh process took."""

    cpu: float
    """Seconds."""
    output: str


def rows() -> Iterator[Row]:
    """Yield the measurements."""
    yield _import()
    pythons, missing = _pythons()
    yield from _created(pythons)
    yield from _first_reply(pythons)
    yield from _distributions(pythons)
    for name, reason in missing.items():
        yield Row("a server with one tool", "", f"{name}: {reason}", verdict="not measured")


def _import() -> Row:
    bare, ours = [], []
    for _ in range(ROUNDS):
        bare.append(_run(sys.executable, "-c", "pass").cpu)
        ours.append(_run(sys.executable, "-c", "import kinwire").cpu)
    over = (median(ours) - median(bare)) * 1e3
    return Row(
        "import kinwire",
        f"{median(ours) * 1e3:.0f} ms",
        f"the bare interpreter {median(bare) * 1e3:.0f} ms: {over:.0f} ms more",
        "at most 40 ms more",
        "10 ms",
        at_most(over, 40, 10),
    )


def _pythons() -> tuple[dict[str, tuple[str, str]], dict[str, str]]:
    # The interpreter that has each project, and the project's word in the program.
    found, missing = {_OURS: (sys.executable, "kinwire")}, {}
    for name, word, python in (
        (_MCP, "mcp", peers.mcp2_python),
        (_FASTMCP, "fastmcp", peers.fastmcp_python),
    ):
        try:
            found[name] = (str(python()), word)
        except peers.PeerMissingError as error:
            missing[name] = str(error).splitlines()[-1]
    return found, missing


def _created(pythons: Mapping[str, tuple[str, str]]) -> Iterator[Row]:
    made: dict[str, list[Started]] = {name: [] for name in pythons}
    for _ in range(ROUNDS):
        for name, (python, word) in pythons.items():
            made[name].append(_run(python, _PROGRAM, word, "create"))
    ours = [one.cpu for one in made[_OURS]]
    for name in pythons.keys() - {_OURS}:
        theirs = [one.cpu for one in made[name]]
        times = spread(theirs, ours)
        bar: tuple[float, float] | None = (2.5, 3.3) if name == _MCP else None
        yield Row(
            "import, and a server with one tool",
            f"{median(ours) * 1e3:.0f} ms",
            f"{name} {median(theirs) * 1e3:.0f} ms: {times}",
            f"at least {bar[0]:g}x" if bar else "",
            f"{bar[1]:g}x" if bar else "",
            at_least(times.median, *bar) if bar else "printed",
            name,
            times.median,
        )
    printed = {name: [one.output.split() for one in made[name]] for name in pythons}
    modules = {name: found[0][0] for name, found in printed.items()}
    memory = {
        name: f"{median(int(most) for _, most in found) / 2**10:.0f} MiB"
        for name, found in printed.items()
    }
    for what, figure in (("modules", modules), ("memory", memory)):
        beside = ", ".join(f"{name} {figure[name]}" for name in pythons if name != _OURS)
        yield Row(f"the same, {what}", figure[_OURS], beside)


def _first_reply(pythons: Mapping[str, tuple[str, str]]) -> Iterator[Row]:
    seconds: dict[str, list[float]] = {name: [] for name in pythons}
    for _ in range(ROUNDS):
        for name, (python, word) in pythons.items():
            what = _DEMO if name == _OURS else (_PROGRAM, word, "serve")
            seconds[name].append(_until_first_reply(python, *what))
    ours = seconds[_OURS]
    for name in pythons.keys() - {_OURS}:
        times = spread(seconds[name], ours)
        bar = 2.0 if name == _MCP else None
        yield Row(
            "from spawn to the first reply, wall time",
            f"{median(ours) * 1e3:.0f} ms",
            f"{name} {median(seconds[name]) * 1e3:.0f} ms: {times}",
            f"at least {bar:g}x" if bar else "",
            "",
            at_least(times.median, bar) if bar else "printed",
            name,
            times.median,
        )


def _distributions(pythons: Mapping[str, tuple[str, str]]) -> Iterator[Row]:
    ours = _needed("kinwire")
    beside = [
        f"{name} {_installed(python)}" for name, (python, _) in pythons.items() if name != _OURS
    ]
    yield Row(
        "distributions of the core",
        f"{len(ours)} ({', '.join(sorted(ours))})",
        ", ".join(beside),
        "at most 8",
        verdict=at_most(len(ours), 8),
    )


def _needed(name: str) -> set[str]:
    """Return the distributions that an installation without extras brings."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        this = canonicalize_name(waiting.pop())
        if this in found:
            continue
        found.add(this)
        needs = map(Requirement, requires(this) or ())
        waiting += [n.name for n in needs if n.marker is None or n.marker.evaluate({"extra": ""})]
    return found


def _installed(python: str) -> int:
    folder = subprocess.check_output(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], text=True
    )
    names = {one.metadata["Name"] for one in distributions(path=[folder.strip()])}
    return len(names - {"pip", "setuptools"})


def _run(*command: str) -> Started:
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=own_environment())
    assert process.stdout is not None
    with process.stdout as stdout:
        output = stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command} ended with {process.returncode}")
    return Started(used.ru_utime + used.ru_stime, output)


def _until_first_reply(*command: str) -> float:
    begun = time.perf_counter()
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=own_environment()
    )
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(INITIALIZE)
        process.stdin.flush()
        line = process.stdout.readline()
        taken = time.perf_counter() - begun
    finally:
        process.communicate()  # its input ends, and so does it
    if not re.search(rb'"result"', line):
        raise RuntimeError(f"{command} answered {line!r}")
    return taken
