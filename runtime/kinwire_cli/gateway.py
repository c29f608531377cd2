"""`kinwire gateway`: one MCP server in front of all servers of a configuration."""

from __future__ import annotations

__all__ = ("GatewayCommand",)

from argparse import ArgumentParser, Namespace
from typing import ClassVar

from kinwire_cli.network import add_address
from kinwire_cli.quantities import seconds_from
from kinwire_cli.upkeep_options import add_upkeep

_USAGE = """\
kinwire gateway [-c FILE] [--transport stdio|http] [--level L0|L1|L2|L3]
                       [--agent NAME] [--host HOST] [--port N] [--token AGENT=VARIABLE]
                       [--semantic] [--store URL] [--wait SECONDS]"""
_EPILOG = """\
Clients see one server. With --level L3 its list of tools has the pinned tools, what a session has
loaded, and tools that search, load and call all others; L2 has only the latter, L1 also the
categories of tools, and L0 all tools.

Each call is judged, limited and audited as kinwire up does it, with the same configuration and,
with --store, the same decisions. Calls are made for the agent "gateway", or for the one that
--agent names. Over HTTP --token names an agent and the variable with the token of its clients;
who has no token is refused then. Other machines reach it only with --host, --insecure and a token.

What happens to servers goes to stderr. kinwire ps, logs, start, stop and restart work on it, unless
another kernel runs this configuration already.
"""
_WAIT = 10.0  # seconds


class GatewayCommand:
    """`kinwire gateway [-c FILE]`."""

    name: ClassVar[str] = "gateway"
    summary: ClassVar[str] = "serve all servers of a configuration as one, with a search for tools"
    group: ClassVar[str] = "kernel"
    exit_codes: ClassVar[dict[int, str]] = {
        0: "the input ended, or Ctrl-C or SIGTERM, and all servers have ended",
        4: "the engine of the store is locked or could not be reached",
        130: "a second Ctrl-C (143: a second SIGTERM)",
    }
    examples: ClassVar[tuple[str, ...]] = (
        "kinwire gateway -c mgp.toml",
        "kinwire gateway --transport http --port 8000 --token agent.helper=HELPER_TOKEN",
        "kinwire gateway --level L0 --store sqlite:///kernel.db",
    )

    @staticmethod
    def configure(parser: ArgumentParser) -> None:
        """Add the subcommand's arguments."""
        parser.usage, parser.epilog = _USAGE, _EPILOG
        text = "how clients reach it (default: stdio)"
        choices = ("stdio", "http")
        parser.add_argument("--transport", choices=choices, default="stdio", help=text)
        text = "which tools are listed (default: L3)"
        levels = ("L0", "L1", "L2", "L3")
        parser.add_argument("--level", choices=levels, default="L3", help=text)
        text = "the agent for which clients without a token call (default: gateway)"
        parser.add_argument("--agent", metavar="NAME", help=text)
        text = "an agent, and the variable that holds the token of its clients, over HTTP"
        parser.add_argument(
            "--token", action="append", default=[], metavar="AGENT=VARIABLE", help=text
        )
        text = f"how long servers may take to start before it serves (default: {_WAIT:g})"
        parser.add_argument(
            "--wait", type=seconds_from, metavar="SECONDS", default=_WAIT, help=text
        )
        add_address(parser)
        add_upkeep(parser)

    def run(self, arguments: Namespace) -> int:
        """Serve until the input ends or a signal comes."""
        from kinwire_cli.running import run
        from kinwire_cli.upkeep.gateway import run_gateway

        return run(run_gateway, arguments)
