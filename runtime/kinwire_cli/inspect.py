"""`kinwire inspect`: what a server offers, compared with what it does. See `inspection/`."""

from __future__ import annotations

__all__ = ("InspectCommand",)

import sys
from argparse import ArgumentParser, Namespace
from typing import ClassVar

from kinwire_cli.failure import PROBLEMS_FOUND
from kinwire_cli.help import SERVER_CODES
from kinwire_cli.layout import json_text
from kinwire_cli.protocols import add_package, package_tables, protocol_tables
from kinwire_cli.target import add_target, target_from

_USAGE = """\
kinwire inspect [FILE.py[:SERVER] | URL] [--format text|json] [--package NAME]
                       [--timeout SECONDS] [--frame-size BYTES] [--header HEADER] [--proxy URL]
                       [--insecure] [-- command ...]"""
_EPILOG = """\
This command sends only requests that read by the specification of MCP 2024-11-05, also where the
server does not advertise them: lists, ping, logging/setLevel, and tools, prompts and resources by
a name that no server has. Other methods, such as those of --package, are listed but not called;
notifications of the server are validated.

  ✓ as it should be   ✗ wrong   ! odd   - missing and not advertised, or not called

Ends with 1 if anything is wrong.
"""
_TIMEOUT = 10.0  # seconds


class InspectCommand:
    """`kinwire inspect [FILE.py | URL] [-- command ...]`."""

    name: ClassVar[str] = "inspect"
    summary: ClassVar[str] = "compare what a server advertises with what it does"
    group: ClassVar[str] = "use a server"
    exit_codes: ClassVar[dict[int, str]] = {1: "the server breaks the protocol", **SERVER_CODES}
    examples: ClassVar[tuple[str, ...]] = (
        "kinwire inspect notes.py",
        "kinwire inspect --format json -- kinwire serve demo mcp",
    )

    @staticmethod
    def configure(parser: ArgumentParser) -> None:
        """Add the subcommand's arguments."""
        parser.usage, parser.epilog = _USAGE, _EPILOG
        text = "a server's file or address"
        parser.add_argument("server", nargs="?", metavar="FILE.py | URL", help=text)
        parser.add_argument("--format", choices=("text", "json"), default="text")
        add_package(parser)
        add_target(parser, _TIMEOUT)

    def run(self, arguments: Namespace) -> int:
        """Print what was seen; return 1 if anything breaks the protocol."""
        from kinwire_cli.inspection.checks import problems_of
        from kinwire_cli.inspection.probing import inspected
        from kinwire_cli.inspection.report import json_of, said, text_of
        from kinwire_cli.running import run

        package: str | None = arguments.package
        added = package_tables(package)
        target = target_from(arguments.server, arguments)
        inspection = run(inspected, target, added)
        problems = problems_of(inspection, protocol_tables(package).values())
        if inspection.error is not None:
            for line in (line for problem in problems for line in said(problem)):
                print(line, file=sys.stderr)
            raise inspection.error
        if arguments.format == "json":
            print(json_text(json_of(inspection, problems)))
        else:
            print("\n\n".join(text_of(inspection, problems)))
        return PROBLEMS_FOUND if any(one.severity == "error" for one in problems) else 0
