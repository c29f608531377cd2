"""What is wrong in a file of a kernel, and where it stands there."""

from __future__ import annotations

__all__ = ("ConfigError", "ConfigProblem", "Place")

from typing import NamedTuple

from kinwire.support.errors import KinwireError


class Place(NamedTuple):
    """Where something stands in a file: `mgp.toml:12:3`."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class ConfigProblem(NamedTuple):
    """What is wrong, does not fit or is not allowed, and where the file says so."""

    place: Place
    text: str

    def __str__(self) -> str:
        return f"{self.place}: {self.text}"


class ConfigError(KinwireError, ValueError):
    """A policy file or configuration file that cannot be used.

    `str` begins with `FILE:LINE:COLUMN`; `place` and `text` are the parts.
    """

    def __init__(self, problem: ConfigProblem) -> None:
        super().__init__(str(problem))
        self.place = problem.place
        self.text = problem.text
