"""The parser of a verb's arguments: what is wrong ends in a hint, and no help is lost unsaid."""

from __future__ import annotations

__all__ = ("Parser",)

import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from typing import IO, NoReturn

from kinwire_cli.failure import USAGE, did_you_mean
from kinwire_cli.layout import one_line


class Parser(ArgumentParser):
    """An `ArgumentParser` that says which option may be meant."""

    words: Sequence[str] = ()
    """What is parsed, so that a hint can look at all of it."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and what to do, and end with 2."""
        self.print_usage(sys.stderr)
        lines = (f"{self.prog}: error: {message}", f"hint: {self._hint()}")
        self.exit(USAGE, "".join(f"{one_line(line)}\n" for line in lines))

    def print_help(self, file: IO[str] | None = None) -> None:  # type: ignore[override]
        """Print it, or raise the OSError because of which it cannot be: argparse drops that."""
        print(self.format_help(), end="", file=file or sys.stdout)

    def _hint(self) -> str:
        unknown = next(self._unknown(), None)
        otherwise = f"{self.prog} --help tells more."
        if unknown is None:
            return otherwise
        mend = did_you_mean(unknown, self._option_string_actions, otherwise)
        return f"There is no option {unknown}. {mend}"

    def _unknown(self) -> Iterator[str]:
        for word in self.words:
            name = word.partition("=")[0]
            if name.startswith("--") and name not in self._option_string_actions:
                yield name
