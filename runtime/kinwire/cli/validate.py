"""`kinwire validate`: judge recorded messages, one a line."""

from __future__ import annotations

__all__ = ("Validate",)

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, cast

from kinwire.cli.failure import UsageError

if TYPE_CHECKING:
    from kinwire.judge import Judge, Verdict
    from kinwire_protocols.base import JsonObject
    from kinwire_protocols.peer import ProtocolTable


class Validate:
    """`kinwire validate FILE.jsonl [--protocols NAME,...]`."""

    name: ClassVar[str] = "validate"
    summary: ClassVar[str] = "judge recorded messages, one JSON object a line"

    @staticmethod
    def configure(parser: ArgumentParser) -> None:
        """Add the verb's arguments."""
        text = 'a message a line, or {"from": "client"|"server", "message": {...}}; - for stdin'
        parser.add_argument("file", metavar="FILE.jsonl", help=text)
        text = "protocols that the messages may belong to, with commas between (default: all)"
        parser.add_argument("--protocols", metavar="NAME,...", help=text)

    def run(self, arguments: Namespace) -> int:
        """Print a verdict a line; return 1 if any is bad."""
        from kinwire.judge import Judge

        judge = Judge(_chosen(arguments.protocols))
        good = bad = 0
        with _opened(arguments.file) as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    verdict = _judge_line(judge, line.rstrip(b"\r\n"))
                    print(json.dumps({"line": number, **verdict}, ensure_ascii=False))
                    good, bad = good + verdict["ok"], bad + (not verdict["ok"])
        print(f"{good} good, {bad} bad", file=sys.stderr)
        return 1 if bad else 0


def _chosen(names: str | None) -> list[ProtocolTable]:
    from kinwire.cli.protocols import protocol_tables

    tables = protocol_tables()
    for name in names.split(",") if names is not None else ():
        if name not in tables:
            near = get_close_matches(name, tables, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else f"There are: {', '.join(tables)}."
            raise UsageError(f"There is no protocol {name!r}.", hint)
    return [tables[name] for name in (tables if names is None else names.split(","))]


@contextmanager
def _opened(name: str) -> Generator[Iterable[bytes]]:
    if name == "-":
        yield cast(BinaryIO, sys.stdin.buffer)
        return
    try:
        file = open(name, "rb")  # noqa: SIM115 - closed below; only opening may fail as a usage error
    except OSError as error:
        raise UsageError(f"{name}: {error.strerror}.", "Name a file that can be read.") from None
    with file:
        yield file


def _judge_line(judge: Judge, line: bytes) -> dict[str, Any]:
    from pydantic_core import from_json

    from kinwire.jsonrpc import FrameError, decode, is_object

    try:
        value = from_json(line, allow_inf_nan=False)
    except ValueError as error:
        return _report(None, [("", "JSON", str(error))])
    if not is_object(value):
        return _report(None, [("", "one JSON object", "another JSON value")])
    if "message" in value and "jsonrpc" not in value:
        return _judge_wrapped(judge, value)
    verdict = judge.judge(value)
    try:
        decode(line)  # also finds what a decoded object does not show: a repeated id
    except FrameError as error:
        if verdict.ok:
            return _report(verdict, [("", "a message", error.error.message)])
    return _report(verdict)


def _judge_wrapped(judge: Judge, line: JsonObject) -> dict[str, Any]:
    from kinwire.jsonrpc import is_object
    from kinwire_protocols.problems import shown

    sender, message = line.get("from"), line["message"]
    if sender not in (None, "client", "server"):
        return _report(None, [("/from", '"client" or "server"', shown(sender))])
    if not is_object(message):
        return _report(None, [("/message", "one JSON object", shown(message))])
    return _report(judge.judge(message, sender))


def _report(verdict: Verdict | None, more: Sequence[tuple[str, str, str]] = ()) -> dict[str, Any]:
    found = [] if verdict is None else [problem.to_json() for problem in verdict.problems]
    found += [dict(zip(("pointer", "expected", "got"), one, strict=True)) for one in more]
    row = None if verdict is None else verdict.row
    return {
        "ok": not found,
        "protocol": None if row is None else row.protocol,
        "method": None if row is None else row.name,
        "kind": None if verdict is None else verdict.kind,
        "matched": None if verdict is None else verdict.matched,
        "errors": found,
    }
