"""`kinwire logs`: what a server of a kernel that runs has written to stderr."""

from __future__ import annotations

__all__ = ("LogsCommand",)

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from typing import TYPE_CHECKING, ClassVar

from kinwire_cli.control.client import KERNEL_CODES, add_kernel, add_server, running_kernel
from kinwire_cli.layout import printable

if TYPE_CHECKING:
    from kinwire_cli.control.messages import StderrLine

_USAGE = "kinwire logs SERVER [--lines N] [--follow] [-c FILE | --socket PATH]"
_EPILOG = """\
The kernel keeps the last lines of each server, also of the processes before a restart.
"""
_LINES, _MOST = 100, 1000
_WAIT = 30.0  # seconds until a kernel is asked again for lines that do not come


class LogsCommand:
    """`kinwire logs SERVER`."""

    name: ClassVar[str] = "logs"
    summary: ClassVar[str] = "show what a server of the kernel has written to stderr"
    group: ClassVar[str] = "kernel"
    exit_codes: ClassVar[dict[int, str]] = KERNEL_CODES
    examples: ClassVar[tuple[str, ...]] = (
        "kinwire logs files",
        "kinwire logs files --lines 20 --follow",
    )

    @staticmethod
    def configure(parser: ArgumentParser) -> None:
        """Add the subcommand's arguments."""
        parser.usage, parser.epilog = _USAGE, _EPILOG
        add_server(parser)
        text = f"how many of the last lines (default: {_LINES})"
        parser.add_argument("--lines", type=_count, metavar="N", default=_LINES, help=text)
        text = "go on with lines that come, until Ctrl-C or the end of the kernel"
        parser.add_argument("-f", "--follow", action="store_true", help=text)
        add_kernel(parser)

    def run(self, arguments: Namespace) -> int:
        """Print them."""
        from kinwire_cli.running import run

        return run(_print_logs, arguments)


async def _print_logs(arguments: Namespace) -> int:
    server: str = arguments.server
    async with running_kernel(arguments) as kernel:
        await kernel.checked(server)
        last = _print(await kernel.logs(server, 0, arguments.lines, 0.0), 0)
        while arguments.follow:
            last = _print(await kernel.logs(server, last, _MOST, _WAIT), last)
    return 0


def _print(lines: list[StderrLine], last: int) -> int:
    """Print the lines; return the number of the last one."""
    for line in lines:
        print(printable(line.text), flush=True)
    return lines[-1].number if lines else last


def _count(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) <= _MOST:
        raise ArgumentTypeError(f"expected a number from 1 to {_MOST}, got {text!r}")
    return int(text)
