"""What can be wrong with a document. Findings are values, so that all of them are shown."""

from __future__ import annotations

__all__ = ("DocumentError", "Fault", "Finding", "Place", "pointer")

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

Place = tuple[str | int, ...]
"""The steps of a JSON pointer into a document."""

Fault = tuple[str, str, str]
"""A pointer, what is wrong there, and how to fix it: a finding before its file is known."""


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One fault in one place."""

    file: str
    pointer: str
    """A JSON pointer into the file; empty for the file as a whole."""
    what: str
    hint: str
    """What to do, one imperative sentence."""

    def __str__(self) -> str:
        return f"{self.file}#{self.pointer}: {self.what}. {self.hint}"


class DocumentError(Exception):
    """Documents cannot be used; `findings` has all reasons."""

    def __init__(self, findings: Sequence[Finding], place: Path | None = None) -> None:
        """Keep the findings and `place`: the folder of the documents, or the file of one."""
        self.findings = tuple(findings)
        self.place = place
        super().__init__("\n".join(str(finding) for finding in self.findings))


def pointer(*steps: str | int) -> str:
    """Return the JSON pointer made of `steps`."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)
