"""`kinwire doctor`: why a server does not work, step by step. `diagnosis/` has the checks."""

from __future__ import annotations

__all__ = ("DoctorCommand",)

import sys
from argparse import ArgumentParser, Namespace
from collections import Counter, deque
from collections.abc import Callable
from typing import ClassVar

from kinwire_cli.diagnosis.checks import Check, check_text, skipped, surroundings
from kinwire_cli.help import SERVER_CODES
from kinwire_cli.layout import json_text
from kinwire_cli.target import add_target, target_from

_USAGE = """\
kinwire doctor [FILE.py[:SERVER] | URL] [--format text|json] [--timeout SECONDS]
                      [--frame-size BYTES] [--header HEADER] [--proxy URL] [--insecure]
                      [-- command ...]"""
_EPILOG = """\
The server is started, greeted, pinged and asked to end; no tool is called. kinwire inspect goes
on from there. The exit code is that of the first check that failed: 4 if the server cannot be
reached, 5 if it refuses the handshake, 6 if it breaks the schema there, else 1.
"""
_TIMEOUT = 10.0  # seconds
_KEPT = 1000  # lines of stderr
_NOT_LOOKED_AT = (
    "Not looked at: whether it has what it advertises. kinwire inspect, with the same server, does."
)


class DoctorCommand:
    """`kinwire doctor [FILE.py | URL] [-- command ...]`."""

    name: ClassVar[str] = "doctor"
    summary: ClassVar[str] = "check this installation, and a server from start to end"
    group: ClassVar[str] = "use a server"
    exit_codes: ClassVar[dict[int, str]] = {1: "a check failed", **SERVER_CODES}
    examples: ClassVar[tuple[str, ...]] = (
        "kinwire doctor",
        "kinwire doctor notes.py",
        "kinwire doctor --timeout 30 -- python notes.py",
    )

    @staticmethod
    def configure(parser: ArgumentParser) -> None:
        """Add the subcommand's arguments."""
        parser.usage, parser.epilog = _USAGE, _EPILOG
        text = "a server's file or address"
        parser.add_argument("server", nargs="?", metavar="FILE.py | URL", help=text)
        parser.add_argument("--format", choices=("text", "json"), default="text")
        add_target(parser, _TIMEOUT)

    def run(self, arguments: Namespace) -> int:
        """Print each check as it is made."""
        as_json: bool = arguments.format == "json"
        checks: list[Check] = []

        def tell(check: Check) -> None:
            checks.append(check)
            if not as_json:
                print(check_text(check), flush=True)

        _examine(arguments, tell)
        if as_json:
            print(json_text({"checks": [check.to_json() for check in checks]}))
        counts = Counter(check.status for check in checks)
        print(", ".join(f"{count} {status}" for status, count in counts.items()), file=sys.stderr)
        if not as_json and any(_is_greeted(check) for check in checks):
            print(_NOT_LOOKED_AT, file=sys.stderr)
        return next((check.exit_code for check in checks if check.exit_code), 0)


def _is_greeted(check: Check) -> bool:
    return check.name == "handshake" and check.status == "ok"


def _examine(arguments: Namespace, tell: Callable[[Check], object]) -> None:
    named: str | None = arguments.server
    command: list[str] | None = arguments.command
    stderr: deque[str] = deque(maxlen=_KEPT)
    target = None
    if named is not None or command is not None:
        target = target_from(named, arguments, stderr.append)
    for check in surroundings():
        tell(check)
    if target is None:
        tell(skipped("server", "none is named: end with FILE.py, a URL, or -- command ..."))
        return
    from kinwire_cli.diagnosis.examination import Examination, RemoteExamination
    from kinwire_cli.running import run

    if target.child is None:
        run(RemoteExamination(target, tell).run)
        return
    typed = command or ["kinwire", "serve", str(named)]
    run(Examination(target, target.child, typed, stderr, tell).run)
