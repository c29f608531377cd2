"""The `kinwire` command: `command.py` finds and runs the subcommands, one file each.

Answers go to stdout, everything else to stderr. Exit codes: 0 fine, 1 problems found, 2 usage or
configuration (also an answer that cannot be written), 4 unreachable, 5 the peer answered an error,
6 the peer broke the schema, 128 + n ended by signal n, as 130 by Ctrl-C.
"""

from __future__ import annotations

__all__ = ("main", "program")

TYPE_CHECKING = False  # nothing is loaded here: an early Ctrl-C would print a traceback

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the subcommand that `arguments` name (default: sys.argv); return the exit code."""
    try:
        from kinwire_cli.command import main as run

        return run(arguments)
    except KeyboardInterrupt:  # before `run` takes signals, or after it
        return 130


def program() -> int:
    """Be the `kinwire` command, after which this process ends; return the exit code."""
    code = main()
    import gc

    gc.freeze()  # Python would search everything for garbage when it ends
    return code
