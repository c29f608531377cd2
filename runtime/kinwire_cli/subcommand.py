"""A subcommand of the `kinwire` command, and how subcommands are found.

Any package can add subcommands with the entry-point group `kinwire.subcommands`. Each entry is a
class with the shape of `Subcommand`, under the name that is typed. It cannot replace one of ours.
"""

from __future__ import annotations

__all__ = ("Subcommand", "is_subcommand", "load_subcommand", "subcommand_names")

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar, Protocol, cast

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "kinwire.subcommands"
OWN = {
    "access": "kinwire_cli.access:AccessCommand",
    "audit": "kinwire_cli.audit:AuditCommand",
    "call": "kinwire_cli.call:CallCommand",
    "config": "kinwire_cli.config:ConfigCommand",
    "demo": "kinwire_cli.demo:DemoCommand",
    "describe": "kinwire_cli.describe:DescribeCommand",
    "doctor": "kinwire_cli.doctor:DoctorCommand",
    "events": "kinwire_cli.events:EventsCommand",
    "gateway": "kinwire_cli.gateway:GatewayCommand",
    "inspect": "kinwire_cli.inspect:InspectCommand",
    "list": "kinwire_cli.list:ListCommand",
    "lite": "kinwire_cli.lite_bridge:LiteCommand",
    "logs": "kinwire_cli.logs:LogsCommand",
    "permissions": "kinwire_cli.permissions:PermissionsCommand",
    "ps": "kinwire_cli.ps:PsCommand",
    "registry": "kinwire_cli.registry:RegistryCommand",
    "replay": "kinwire_cli.replay:ReplayCommand",
    "restart": "kinwire_cli.server_actions:RestartCommand",
    "serve": "kinwire_cli.serve:ServeCommand",
    "start": "kinwire_cli.server_actions:StartCommand",
    "stop": "kinwire_cli.server_actions:StopCommand",
    "store": "kinwire_cli.store:StoreCommand",
    "tap": "kinwire_cli.tap:TapCommand",
    "up": "kinwire_cli.up:UpCommand",
    "validate": "kinwire_cli.validate:ValidateCommand",
    "breaking": "kinwire_codegen.commands.breaking:BreakingCommand",
    "diff": "kinwire_codegen.commands.diff:DiffCommand",
    "docs": "kinwire_codegen.commands.docs:DocsCommand",
    "fmt": "kinwire_codegen.commands.fmt:FmtCommand",
    "generate": "kinwire_codegen.commands.generate:GenerateCommand",
    "import": "kinwire_codegen.commands.importing:ImportCommand",
    "lint": "kinwire_codegen.commands.lint:LintCommand",
    "new": "kinwire_codegen.commands.new:NewCommand",
    "rule": "kinwire_codegen.commands.rule:RuleCommand",
}
"""Where the classes of our subcommands are: as text, because the runtime imports no generator."""


class Subcommand(Protocol):
    """What an entry of the group is. The class is made without arguments, then run once."""

    name: ClassVar[str]
    summary: ClassVar[str]
    """One line for the overview, without a full stop."""
    group: ClassVar[str]
    """Its heading in the overview, such as "recordings"; a new one comes after the others."""
    exit_codes: ClassVar[Mapping[int, str]]
    """What exit codes mean, where 0, 2 and 130 mean something else than usual, or others exist."""
    examples: ClassVar[Sequence[str]]
    """Command lines for its help."""

    @staticmethod
    def configure(parser: ArgumentParser) -> None:
        """Add the subcommand's arguments.

        Who takes a command after `--` sets a default `command`. Who explains an unknown option
        better than "unrecognized" sets a default `strays`, and gets the words from there on.
        """
        ...

    def run(self, arguments: Namespace) -> int:
        """Do the work and return the exit code."""
        ...


def subcommand_names() -> list[str]:
    """Return the names of all subcommands that are installed, sorted."""
    return sorted({*OWN, *_others()})


def is_subcommand(name: str) -> bool:
    """Return whether a subcommand is called `name`."""
    return name in OWN or name in _others()


def load_subcommand(name: str) -> type[Subcommand]:
    """Return the subcommand called `name`.

    Raises:
        KeyError: no installed package has it.
        ModuleNotFoundError: its package needs something that is not installed.
    """
    if name not in OWN:
        return cast("type[Subcommand]", _others()[name].load())
    module, _, found = OWN[name].partition(":")
    return cast("type[Subcommand]", getattr(import_module(module), found))


@cache  # reads a file of every distribution, which takes longer than most commands
def _others() -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points

    return {entry.name: entry for entry in entry_points(group=GROUP)}
