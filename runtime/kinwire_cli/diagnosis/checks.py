"""A check: how it went, what was seen, and what to do. Here are those that need no server."""

from __future__ import annotations

__all__ = ("Check", "Status", "check_text", "failed", "skipped", "surroundings")

import platform
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal

from kinwire_cli.extras import install_command, is_installed
from kinwire_cli.failure import PROBLEMS_FOUND
from kinwire_cli.layout import coloured, first_line, printable

Status = Literal["ok", "warn", "fail", "skipped"]

_COLOURS: dict[Status, str] = {"ok": "green", "warn": "yellow", "fail": "red"}
_INDENT = " " * 22
_EXTRAS = (
    *("codegen", "cli", "docs", "events", "fast", "grpc"),
    *("http", "nats", "semantic", "supervisor", "ws"),
)
_NEEDED = (3, 11)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The outcome of a check."""

    name: str
    status: Status = "ok"
    seen: str
    remedy: str = ""
    lines: tuple[str, ...] = ()
    """Lines that the server wrote, if they help."""
    exit_code: int = 0
    """What the command ends with, if this is the first check that failed."""

    def to_json(self) -> dict[str, Any]:
        """Return what is for readers of the answer."""
        members = asdict(self)
        del members["exit_code"]
        return members


def failed(name: str, seen: str, remedy: str, exit_code: int = PROBLEMS_FOUND) -> Check:
    """Return a check that failed."""
    return Check(name=name, status="fail", seen=seen, remedy=remedy, exit_code=exit_code)


def skipped(name: str, why: str) -> Check:
    """Return a check that could not be made."""
    return Check(name=name, status="skipped", seen=f"because {why}")


def check_text(check: Check) -> str:
    """Return the check as lines of a terminal."""
    return "\n".join(_lines(check))


def _lines(check: Check) -> Iterator[str]:
    status = coloured(f"{check.status:7}", _COLOURS.get(check.status))
    yield f"{status}  {check.name:11}  {first_line(check.seen)}"
    yield from (f"{_INDENT}| {printable(line)}" for line in check.lines)
    if check.remedy:
        yield _INDENT + first_line(check.remedy)


def surroundings() -> Iterator[Check]:
    """Yield the checks that need no server."""
    yield _interpreter()
    yield _distribution()
    yield _extras()


def _interpreter() -> Check:
    seen = f"Python {platform.python_version()}, {sys.executable}"
    if sys.version_info >= _NEEDED:
        return Check(name="interpreter", seen=seen)
    needed = ".".join(map(str, _NEEDED))
    return failed("interpreter", seen, f"Run kinwire with Python {needed} or newer.")


def _distribution() -> Check:
    found = {name: _version(name) for name in ("kinwire", "pydantic", "anyio")}
    seen = ", ".join(f"{name} {number or 'not installed'}" for name, number in found.items())
    if all(found.values()):
        return Check(name="kinwire", seen=seen)
    remedy = "Install the distribution: its subcommands and versions are found by its metadata."
    return failed("kinwire", seen, remedy)


def _extras() -> Check:
    missing = [extra for extra in _EXTRAS if not is_installed(extra)]
    seen = ", ".join(extra for extra in _EXTRAS if extra not in missing) or "none"
    if not missing:
        return Check(name="extras", seen=seen)
    # Nobody needs them all: a missing one is not an error.
    remedy = f"Where they are wanted: {'; '.join(map(install_command, missing))}"
    return Check(name="extras", seen=f"{seen}; not there: {', '.join(missing)}", remedy=remedy)


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
