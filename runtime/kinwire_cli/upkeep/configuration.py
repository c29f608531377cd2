"""The configuration of a kernel that a command runs: how it is read, and what is said of it."""

from __future__ import annotations

__all__ = ("must_be_watchable", "note", "read_config", "say", "warn")

import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from kinwire.mgp.kernel.config import ConfigFile
from kinwire.mgp.rules.config_problem import ConfigError
from kinwire.mgp.rules.kernel_config import KernelConfig
from kinwire_cli.extras import install_command
from kinwire_cli.failure import UsageError
from kinwire_cli.kernel_config import refused_text
from kinwire_cli.layout import one_line, with_labels


def read_config(path: Path) -> ConfigFile:
    """Read a configuration, and warn of what is odd in it.

    Raises:
        UsageError: it is wrong.
    """
    try:
        file = ConfigFile(path)
    except ConfigError as error:
        raise UsageError(str(error), "Nothing was started.") from None
    must_be_watchable(file.current)
    warn(file.current)
    return file


def must_be_watchable(config: KernelConfig) -> None:
    """Raise where the memory of a server is limited and nothing here can look at it.

    Raises:
        UsageError: an extra is missing.
    """
    limited = [spec.id for spec in config.specs if spec.max_memory_bytes is not None]
    if limited and find_spec("psutil") is None:
        text = f"{limited[0]}: max_memory_bytes needs the extra [supervisor]."
        raise UsageError(text, install_command("supervisor"))


def warn(config: KernelConfig) -> None:
    """Say what is odd in a configuration, and which servers cannot start."""
    if not config.servers:
        say(f"warning: {config.file} names no servers. Write [[servers]] for each one.")
    for problem in config.warnings:
        say(f"warning: {problem}")
    for server, problem in config.refused.items():
        say(f"error: {problem.place}: {refused_text(server, problem)}")


def note(text: str) -> None:
    """Print a note."""
    say(f"note: {text}")


def say(text: str) -> None:
    """Print a line on stderr."""
    with suppress(OSError):  # the terminal is gone
        print(with_labels(one_line(text)), file=sys.stderr)
