"""Options that only some actions of a subcommand take."""

from __future__ import annotations

__all__ = ("refuse_other_options",)

from argparse import Namespace
from collections.abc import Mapping

from kinwire_cli.failure import UsageError


def refuse_other_options(
    subcommand: str, arguments: Namespace, owners: Mapping[str, tuple[str, ...]]
) -> None:
    """Raise if an option is given that `arguments.action` does not take.

    `owners` has the actions that take each option.

    Raises:
        UsageError: one is given.
    """
    for option, actions in owners.items():
        if arguments.action not in actions and getattr(arguments, option) not in (None, False):
            name, of = option.replace("_", "-"), " and ".join(actions)
            raise UsageError(f"--{name} is an option of {subcommand} {of}.", "Leave it out.")
