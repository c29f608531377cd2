"""`kinwire inspect`: what a server offers, beside what it does. `inspection/` has the parts."""

from __future__ import annotations

__all__ = ("Inspect",)

from argparse import ArgumentParser, Namespace
from typing import ClassVar

from kinwire.cli.failure import FINDINGS
from kinwire.cli.layout import json_text
from kinwire.cli.target import add_target, target_from

_USAGE = """\
kinwire inspect [FILE.py[:SERVER] | URL] [--format text|json] [--timeout SECONDS]
                       [--header HEADER] [--insecure] [-- command ...]"""
_EPILOG = """\
Every method that can do no harm is asked for, also those that the server does not advertise;
tools, prompts and resources by a name that no server has.

  ✓ as it should be   ✗ wrong   ! odd   - not there, and not advertised

Ends with 1 if anything is wrong.
"""
_TIMEOUT = 10.0  # seconds


class Inspect:
    """`kinwire inspect [FILE.py | URL] [-- command ...]`."""

    name: ClassVar[str] = "inspect"
    summary: ClassVar[str] = "compare what a server advertises with what it does"

    @staticmethod
    def configure(parser: ArgumentParser) -> None:
        """Add the verb's arguments."""
        parser.usage, parser.epilog = _USAGE, _EPILOG
        text = "a server's file or address"
        parser.add_argument("server", nargs="?", metavar="FILE.py | URL", help=text)
        parser.add_argument("--format", choices=("text", "json"), default="text")
        add_target(parser, _TIMEOUT)

    def run(self, arguments: Namespace) -> int:
        """Print what was seen; return 1 if anything breaks the protocol."""
        import anyio

        from kinwire.cli.inspection.judgement import findings_of
        from kinwire.cli.inspection.probing import inspected
        from kinwire.cli.inspection.report import json_of, text_of

        target = target_from(arguments.server, arguments)
        inspection = anyio.run(inspected, target)
        findings = findings_of(inspection)
        if arguments.format == "json":
            print(json_text(json_of(inspection, findings)))
        else:
            print("\n\n".join(text_of(inspection, findings)))
        return FINDINGS if any(one.severity == "error" for one in findings) else 0
