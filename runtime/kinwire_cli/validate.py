"""`kinwire validate`: validate recorded messages, one a line. `validation/` has the validator."""

from __future__ import annotations

__all__ = ("ValidateCommand",)

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, ClassVar

from kinwire_cli.failure import UsageError
from kinwire_cli.layout import printable
from kinwire_cli.protocols import add_package, chosen_tables

if TYPE_CHECKING:
    from kinwire_cli.validation.validator import LineReport
    from kinwire_protocols.peer import ProtocolTable

_LOOKED_AT = 20  # lines; if none is an object, the file is not a recording


class ValidateCommand:
    """`kinwire validate FILE.jsonl [--protocols NAME,...]`."""

    name: ClassVar[str] = "validate"
    summary: ClassVar[str] = "validate recorded messages, one JSON object a line"
    group: ClassVar[str] = "recordings"
    exit_codes: ClassVar[dict[int, str]] = {1: "a message is invalid"}
    examples: ClassVar[tuple[str, ...]] = (
        "kinwire validate session.jsonl",
        "kinwire validate --lenient session.jsonl",
        "kinwire validate --format text --protocols mcp,mcpl session.jsonl",
        "kinwire validate - < session.jsonl",
    )

    @staticmethod
    def configure(parser: ArgumentParser) -> None:
        """Add the subcommand's arguments."""
        text = 'a message a line, or {"from": "client"|"server", "message": {...}}; - for stdin'
        parser.add_argument("file", metavar="FILE.jsonl", help=text)
        text = "protocols that the messages may belong to, with commas between (default: all)"
        parser.add_argument("--protocols", metavar="NAME,...", help=text)
        text = "accept what sessions read leniently, and list it"
        parser.add_argument("--lenient", action="store_true", help=text)
        add_package(parser)
        text = "json: a line for each message; text: a line for each bad one (default: json)"
        parser.add_argument("--format", choices=("json", "text"), default="json", help=text)

    def run(self, arguments: Namespace) -> int:
        """Print a report for each message; return 1 if any is bad."""
        from kinwire_cli.validation.validator import lenient_text_of, text_of

        file: str = arguments.file
        as_json: bool = arguments.format == "json"
        names: str | None = arguments.protocols
        tables = chosen_tables(None if names is None else names.split(","), arguments.package)
        good = bad = 0
        reports = _reports(tables, _lines(file), lenient=arguments.lenient)
        for number, report in _recording(file, reports):
            good, bad = good + (not report.problems), bad + bool(report.problems)
            if as_json:
                text = json.dumps(report.to_json(number), ensure_ascii=False)
                print(printable(text))
            elif report.problems:
                print(printable(f"{file}:{number}: {text_of(report)}"))
            elif report.validated:
                for finding in report.validated.lenient:
                    print(printable(f"{file}:{number}: {lenient_text_of(finding)}"))
        print(f"{good} good, {bad} bad", file=sys.stderr)
        return 1 if bad else 0


def _reports(
    tables: Iterable[ProtocolTable], lines: Iterable[bytes], *, lenient: bool
) -> Iterator[tuple[int, LineReport]]:
    """Yield what is to be said of each line that is not blank, with its number."""
    from kinwire_cli.validation.validator import MessageValidator, report_of

    validator = MessageValidator(tables, lenient=lenient)
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield number, report_of(validator, line.rstrip(b"\r\n"))


def _recording(
    file: str, reports: Iterator[tuple[int, LineReport]]
) -> Iterator[tuple[int, LineReport]]:
    """Return `reports` as they are.

    Raises:
        UsageError: the file has no lines, or the first ones are not objects.
    """
    expected = "expected one JSON object a line"
    first: list[tuple[int, LineReport]] = []
    for one in islice(reports, _LOOKED_AT):
        first.append(one)
        if one[1].is_object:
            return chain(first, reports)
    if not first:
        raise UsageError(f"{file}: {expected}, got no line.")
    if len(first) == _LOOKED_AT:
        number, report = first[0]
        raise UsageError(
            f"{file}: {expected}, got {_LOOKED_AT} lines of something else.",
            f"Line {number}: {report.problems[0].got}",
        )
    return iter(first)


def _lines(name: str) -> Iterator[bytes]:
    """Yield the lines of that file, or of stdin.

    Raises:
        UsageError: it cannot be read, from the start or from somewhere on.
    """
    try:
        if name == "-":
            yield from sys.stdin.buffer
        else:
            with open(name, "rb") as file:
                yield from file
    except OSError as error:
        raise UsageError(f"{name}: {error.strerror}.", "Name a file that can be read.") from None
