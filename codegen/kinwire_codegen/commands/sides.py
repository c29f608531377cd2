"""The two sides that `kinwire breaking` and `kinwire diff` compare, opened or refused."""

from __future__ import annotations

__all__ = ("Sides", "open_sides")

import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kinwire_codegen.commands.common import refuse, usage

if TYPE_CHECKING:
    from kinwire_codegen.compare import Comparison
    from kinwire_codegen.load.sources import DocumentSource


class Sides(NamedTuple):
    """Both sides, and what changed from one to the other."""

    old: DocumentSource
    new: DocumentSource
    comparison: Comparison
    protocols: tuple[str, ...] | None
    """The protocols that were compared; None: all."""


def open_sides(old: str, new: str | Path, *, location: Path) -> Sides | int:
    """Return the sides compared, or the exit code if one of them cannot be used.

    From a commit the documents at the path `location` are read.
    """
    from kinwire_codegen.compare import compare
    from kinwire_codegen.load.findings import DocumentError
    from kinwire_codegen.load.sources import SourceError, open_source

    opened: list[DocumentSource] = []
    for given in (new, old):
        if not str(given):  # a variable of CI that is not set: the path of "" would be "."
            return usage("a side has no name.", "Name a file, a folder, a commit, tag or branch.")
        try:
            opened.append(
                open_source(given, location=location if Path(given) != location else None)
            )
        except SourceError as error:
            return usage(str(error), error.hint)
        except DocumentError as error:
            print(f"{given} cannot be compared:", file=sys.stderr)
            return refuse(error)
    after, before = opened
    chosen = tuple(sorted({*(after.chosen or ()), *(before.chosen or ())})) or None
    comparison = compare(before.documents, after.documents, chosen)
    return Sides(before, after, comparison, chosen)
