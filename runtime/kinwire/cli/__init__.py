"""The `kinwire` command: `command.py` finds and runs the verbs, one file a verb.

Answers go to stdout, everything else to stderr. Exit codes: 0 fine, 1 findings, 2 usage or
configuration, 4 unreachable, 5 the peer answered an error, 6 the peer broke the schema,
130 interrupted.
"""

from __future__ import annotations

__all__ = ("main",)

from kinwire.cli.command import main
