"""`kinwire lite`: an MCP server behind MCP-lite, over HTTP, gRPC or both."""

from __future__ import annotations

__all__ = ("LiteCommand",)

from argparse import ArgumentParser, Namespace
from typing import ClassVar

from kinwire_cli.lite.place import add_lite_address
from kinwire_cli.quantities import seconds_from
from kinwire_cli.target import add_target

_USAGE = """\
kinwire lite [--transport http|grpc]... [--host HOST] [--port N] [--grpc-port N]
                    [--path PATH] [--allow-host NAME] [--token NAME=VARIABLE]
                    [--promise-after SECONDS] [--store URL] [--timeout SECONDS]
                    [--frame-size BYTES] [--header HEADER] [--proxy URL] [--insecure]
                    [FILE.py[:SERVER] | URL | -- command ...]"""
_EPILOG = """\
Clients list and call the tools of one MCP server, without a session. With --promise-after a call
that takes longer is answered by a promise, which --store keeps for other processes with the same
store. --token names a client and the variable with its token; who has none is refused then. Other
machines reach it only with --host, --insecure and a token. The addresses of the server go to
stderr.

kinwire serve lite URL does the opposite: it serves a service of MCP-lite as an MCP server.
"""


class LiteCommand:
    """`kinwire lite [FILE.py | URL] [-- command ...]`."""

    name: ClassVar[str] = "lite"
    summary: ClassVar[str] = "serve the tools of an MCP server over MCP-lite"
    group: ClassVar[str] = "serve"
    exit_codes: ClassVar[dict[int, str]] = {
        0: "Ctrl-C or SIGTERM, and the calls under way are answered",
        4: "the server could not be started, or has ended",
    }
    examples: ClassVar[tuple[str, ...]] = (
        "kinwire lite -- python notes.py",
        "kinwire lite --transport http --transport grpc notes.py",
        "kinwire lite --promise-after 5 --store sqlite:///promises.db -- python notes.py",
    )

    @staticmethod
    def configure(parser: ArgumentParser) -> None:
        """Add the subcommand's arguments."""
        parser.usage, parser.epilog = _USAGE, _EPILOG
        text = "the MCP server: its file or its URL"
        parser.add_argument("what", nargs="?", metavar="FILE.py | URL", help=text)
        add_lite_address(parser)
        text = "a client, and the variable that holds its token"
        parser.add_argument(
            "--token", action="append", default=[], metavar="NAME=VARIABLE", help=text
        )
        text = "after how long a call is answered by a promise (default: never)"
        parser.add_argument("--promise-after", type=seconds_from, metavar="SECONDS", help=text)
        text = "what keeps promises: sqlite:///file.db or nats://host:port (default: memory)"
        parser.add_argument("--store", metavar="URL", help=text)
        add_target(parser)

    def run(self, arguments: Namespace) -> int:
        """Serve until a signal comes."""
        from kinwire_cli.lite.running import run_lite
        from kinwire_cli.running import run

        return run(run_lite, arguments)
