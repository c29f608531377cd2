"""`kinwire ps`: the servers of a kernel that runs."""

from __future__ import annotations

__all__ = ("PsCommand",)

import sys
import time
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any, ClassVar

from kinwire_cli.control.client import KERNEL_CODES, add_kernel, running_kernel
from kinwire_cli.layout import json_text, one_line
from kinwire_cli.servers_table import age, table_lines, with_states

if TYPE_CHECKING:
    from kinwire_cli.control.messages import ServersAnswer

_USAGE = "kinwire ps [-c FILE | --socket PATH] [--format text|json]"


class PsCommand:
    """`kinwire ps`."""

    name: ClassVar[str] = "ps"
    summary: ClassVar[str] = "show the servers of the kernel that runs"
    group: ClassVar[str] = "kernel"
    exit_codes: ClassVar[dict[int, str]] = KERNEL_CODES
    examples: ClassVar[tuple[str, ...]] = (
        "kinwire ps",
        "kinwire ps -c mgp.toml --format json",
    )

    @staticmethod
    def configure(parser: ArgumentParser) -> None:
        """Add the subcommand's arguments."""
        parser.usage = _USAGE
        add_kernel(parser)
        parser.add_argument("--format", choices=("text", "json"), default="text")

    def run(self, arguments: Namespace) -> int:
        """Print them."""
        from kinwire_cli.running import run

        answer = run(_asked, arguments)
        if arguments.format == "json":
            print(json_text(_as_json(answer)))
        else:
            _print(answer)
        return 0


async def _asked(arguments: Namespace) -> ServersAnswer:
    async with running_kernel(arguments) as kernel:
        return await kernel.servers()


def _print(answer: ServersAnswer) -> None:
    now, facts, rows = time.time(), answer.kernel, answer.servers
    text = f"kernel: pid {facts.pid}, for {age(now - facts.since)}, {facts.config}"
    print(one_line(text), file=sys.stderr)
    if not rows:
        print("it has no servers", file=sys.stderr)
        return
    print("\n".join(with_states(table_lines(rows, now), rows)))


def _as_json(answer: ServersAnswer) -> dict[str, Any]:
    from kinwire.support.timestamps import timestamp_of
    from kinwire_protocols.base import to_wire

    found = to_wire(answer)
    for one in (found["kernel"], *found["servers"]):
        one["since"] = timestamp_of(one["since"])
    return found
