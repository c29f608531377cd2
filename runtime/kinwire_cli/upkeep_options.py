"""Options of the commands that run a kernel over a configuration."""

from __future__ import annotations

__all__ = ("add_upkeep",)

from argparse import ArgumentParser

from kinwire_cli.kernel_state import STORE_TIMEOUT
from kinwire_cli.quantities import seconds_from


def add_upkeep(parser: ArgumentParser) -> None:
    """Add `-c`, `--store`, `--socket`, `--timeout` and `--semantic`."""
    text = "the configuration (default: mgp.toml here, or the file in $MGP_CONFIG_PATH)"
    parser.add_argument("-c", "--config", metavar="FILE", help=text)
    text = "where state is kept: sqlite:///file.db or nats://host:port (default: in memory)"
    parser.add_argument("--store", metavar="URL", help=text)
    text = "where other commands reach it (default: a place that they find by FILE)"
    parser.add_argument("--socket", metavar="PATH", help=text)
    text = f"how long to wait for a store that is locked or away (default: {STORE_TIMEOUT:g})"
    parser.add_argument(
        "--timeout", type=seconds_from, metavar="SECONDS", default=STORE_TIMEOUT, help=text
    )
    text = "also find tools by what they mean; needs kinwire[semantic]"
    parser.add_argument("--semantic", action="store_true", help=text)
