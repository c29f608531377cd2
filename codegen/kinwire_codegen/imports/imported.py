"""What an importer is given, and what it returns."""

from __future__ import annotations

__all__ = ("ImportSource", "Imported", "UselessFileError")

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Node = dict[str, Any]


class UselessFileError(Exception):
    """A file cannot be imported.

    The message is a sentence without the file's name, `hint` says what to do, and `path` is the
    file if it is not the one that the user named.
    """

    def __init__(self, message: str, hint: str, path: Path | None = None) -> None:
        super().__init__(message)
        self.hint = hint
        self.path = path


@dataclass(frozen=True, slots=True)
class ImportSource:
    """The files that become one document, and what the user chose for it."""

    files: tuple[Path, ...]
    """One file or folder; several if the kind takes several."""
    taken: frozenset[str]
    """Names that the generated code uses itself, so no type may have them."""
    protocol: str | None = None
    """The protocol's name; None for what the file says."""
    version: str | None = None
    """The protocol's version; None for what the file says."""
    options: Mapping[str, str] = field(default_factory=dict[str, str])
    """Values of the kind's own options by name, without dashes in front."""

    @property
    def path(self) -> Path:
        """The first file, which messages name."""
        return self.files[0]


@dataclass(frozen=True, slots=True)
class Imported:
    """A document made of another description, and what differs. Each text begins with a place."""

    content: Node
    left_out: tuple[str, ...] = ()
    """Methods, types and texts that are not in the document, each with the reason: a loss."""
    widened: tuple[str, ...] = ()
    """Types that take more than the source does, each with the keyword that is gone: a loss."""
    folded: tuple[str, ...] = ()
    """Types that are in the document as a part of something else: `NAME into PLACE`."""
    without_effect: tuple[str, ...] = ()
    """Keywords that were dropped because no value is refused for them."""

    @property
    def losses(self) -> int:
        """How many things of the source the document does not say."""
        return len(self.left_out) + len(self.widened)
