"""`kinwire start`, `kinwire stop` and `kinwire restart`: a server of a kernel that runs."""

from __future__ import annotations

__all__ = ("RestartCommand", "StartCommand", "StopCommand")

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, ClassVar, Literal

from kinwire_cli.control.client import KERNEL_CODES, add_kernel, add_server, running_kernel
from kinwire_cli.failure import PROBLEMS_FOUND
from kinwire_cli.servers_table import changed_line

if TYPE_CHECKING:
    from kinwire_cli.control.messages import ServerRow

_NOT_UP = {**KERNEL_CODES, PROBLEMS_FOUND: "the server does not run after it"}


class _ServerAction:
    """What the three have in common: they wait until it is done, and print what has come of it."""

    name: ClassVar[Literal["start", "stop", "restart"]]
    wanted: ClassVar[str]
    """The state that the server is in if it has worked."""
    group: ClassVar[str] = "kernel"

    @classmethod
    def configure(cls, parser: ArgumentParser) -> None:
        """Add the subcommand's arguments."""
        parser.usage = f"kinwire {cls.name} SERVER [-c FILE | --socket PATH]"
        add_server(parser)
        add_kernel(parser)

    def run(self, arguments: Namespace) -> int:
        """Do it; return 1 if the server is not in the state that is wanted."""
        from kinwire_cli.running import run

        row = run(self._done, arguments)
        print(changed_line(row))
        return 0 if row.state == self.wanted else PROBLEMS_FOUND

    async def _done(self, arguments: Namespace) -> ServerRow:
        async with running_kernel(arguments) as kernel:
            await kernel.checked(arguments.server)
            return await kernel.act(self.name, arguments.server)


class StartCommand(_ServerAction):
    """`kinwire start SERVER`."""

    name: ClassVar[Literal["start", "stop", "restart"]] = "start"
    wanted: ClassVar[str] = "connected"
    summary: ClassVar[str] = "start a server that was stopped, or that was given up"
    exit_codes: ClassVar[dict[int, str]] = _NOT_UP
    examples: ClassVar[tuple[str, ...]] = ("kinwire start files",)


class StopCommand(_ServerAction):
    """`kinwire stop SERVER`."""

    name: ClassVar[Literal["start", "stop", "restart"]] = "stop"
    wanted: ClassVar[str] = "disconnected"
    summary: ClassVar[str] = "drain and stop a server, until kinwire start"
    exit_codes: ClassVar[dict[int, str]] = {
        **KERNEL_CODES,
        PROBLEMS_FOUND: "somebody else has started it again",
    }
    examples: ClassVar[tuple[str, ...]] = ("kinwire stop files",)


class RestartCommand(_ServerAction):
    """`kinwire restart SERVER`."""

    name: ClassVar[Literal["start", "stop", "restart"]] = "restart"
    wanted: ClassVar[str] = "connected"
    summary: ClassVar[str] = "drain a server and start it again"
    exit_codes: ClassVar[dict[int, str]] = _NOT_UP
    examples: ClassVar[tuple[str, ...]] = ("kinwire restart files -c mgp.toml",)
