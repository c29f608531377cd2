"""`kinwire up`: a kernel that keeps the servers of a configuration alive."""

from __future__ import annotations

__all__ = ("UpCommand",)

from argparse import ArgumentParser, Namespace
from typing import ClassVar

from kinwire_cli.upkeep_options import add_upkeep

_USAGE = "kinwire up [-c FILE] [--semantic] [--store URL] [--socket PATH] [--timeout SECONDS]"
_EPILOG = """\
On a terminal it shows a table of the servers, elsewhere a line for each change. kinwire ps, start,
stop, restart and logs talk to it.

When the file changes, and after SIGHUP, what has changed is started, stopped or restarted; a file
that is wrong changes nothing. Ctrl-C and SIGTERM let calls that are under way finish; a second one
ends all servers immediately.

With --store, decisions, restarts and the audit log outlive it, and kinwire permissions, access and
audit work on the same store.
"""


class UpCommand:
    """`kinwire up [-c FILE]`."""

    name: ClassVar[str] = "up"
    summary: ClassVar[str] = "run a kernel over the servers of a configuration"
    group: ClassVar[str] = "kernel"
    exit_codes: ClassVar[dict[int, str]] = {
        0: "Ctrl-C or SIGTERM, and all servers have ended",
        4: "the engine of the store is locked or could not be reached",
        130: "a second Ctrl-C (143: a second SIGTERM)",
    }
    examples: ClassVar[tuple[str, ...]] = (
        "kinwire up",
        "kinwire up -c mgp.toml --store sqlite:///kernel.db",
    )

    @staticmethod
    def configure(parser: ArgumentParser) -> None:
        """Add the subcommand's arguments."""
        parser.usage, parser.epilog = _USAGE, _EPILOG
        add_upkeep(parser)

    def run(self, arguments: Namespace) -> int:
        """Run until a signal comes."""
        from kinwire_cli.running import run
        from kinwire_cli.upkeep.running import run_kernel

        return run(run_kernel, arguments)
