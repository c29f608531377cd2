"""One check: how it went, what was seen, and what to do about it."""

from __future__ import annotations

__all__ = ("Check", "Status", "check_text", "failed", "skipped")

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

from kinwire_cli.colour import coloured
from kinwire_cli.failure import FINDINGS
from kinwire_cli.layout import first_line, printable

Status = Literal["ok", "warn", "fail", "skipped"]

_COLOURS: dict[Status, str] = {"ok": "green", "warn": "yellow", "fail": "red"}
_INDENT = " " * 22


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The outcome of a check."""

    name: str
    status: Status = "ok"
    seen: str
    remedy: str = ""
    lines: tuple[str, ...] = ()
    """What the server wrote, as far as it tells something."""
    exit_code: int = 0
    """What the command ends with, if this is the first check that failed."""

    def to_json(self) -> dict[str, Any]:
        """Return what is for readers of the answer."""
        members = asdict(self)
        del members["exit_code"]
        return members


def failed(name: str, seen: str, remedy: str, exit_code: int = FINDINGS) -> Check:
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
