"""What `--help` shows: the overview in groups and, of a subcommand, examples and exit codes."""

from __future__ import annotations

__all__ = ("SERVER_CODES", "HelpFormatter", "epilog_of", "overview_epilog", "with_headings")

import re
from argparse import HelpFormatter as BaseFormatter
from collections.abc import Iterable, Iterator, Mapping
from shutil import get_terminal_size
from textwrap import fill, wrap
from typing import TYPE_CHECKING, Any

from kinwire_cli.failure import (
    PEER_ERROR,
    PEER_SCHEMA,
    PROBLEMS_FOUND,
    UNAUTHORIZED,
    UNREACHABLE,
    USAGE,
)
from kinwire_cli.layout import coloured, columns

if TYPE_CHECKING:
    from kinwire_cli.subcommand import Subcommand

SERVER_CODES = {
    UNAUTHORIZED: "authentication required",
    UNREACHABLE: "the server could not be reached",
    PEER_ERROR: "the server answered with an error",
    PEER_SCHEMA: "the server's answer breaks the schema",
}
"""The exit codes of a subcommand that talks to a server."""

_GROUPS = (
    "use a server",
    "serve",
    "kernel",
    "protocols and generation",
    "recordings",
    "storage",
    "security",
)
_ALWAYS = {
    0: "success",
    USAGE: "wrong usage or configuration, or the result could not be written",
    130: "interrupted (Ctrl-C)",
}
_CODES = {
    **_ALWAYS,
    PROBLEMS_FOUND: "problems were found",
    **SERVER_CODES,
    143: "ended by SIGTERM",
    129: "ended by SIGHUP",
}
_MARGIN = 2  # columns at the right that argparse leaves free
_INDENT = "  "
_USAGE = "usage: "
# A bracket is one word, with what is in it and one bracket more.
_WORD = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]|\S+")
_HEADING = re.compile(r"^(?:usage:|[a-z][a-z ]*:$)", re.MULTILINE)


class HelpFormatter(BaseFormatter):
    """Fits help to the terminal: paragraphs and usage are wrapped, indented lines stay."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        blocks = (_block(block, width) for block in text.strip("\n").split("\n\n"))
        return "\n\n".join(blocks)

    def _format_usage(self, usage: str | None, actions: Any, groups: Any, prefix: Any) -> str:
        if usage is not None:
            usage = "\n".join(_usage_lines(usage, self._width, self._prog))[len(_USAGE) :]
        return super()._format_usage(usage, actions, groups, prefix)


def overview_epilog(rows: Iterable[tuple[str, str, str]]) -> str:
    """Return the subcommands in groups, from (group, name, summary), and the exit codes."""
    grouped: dict[str, list[tuple[str, str]]] = {group: [] for group in _GROUPS}
    for group, name, summary in rows:
        grouped.setdefault(group, []).append((name, summary))
    width = max(len(name) for listed in grouped.values() for name, _ in listed)
    blocks = [
        _table(group, [(name.ljust(width), summary) for name, summary in listed])
        for group, listed in grouped.items()
        if listed
    ]
    more = "kinwire help SUBCOMMAND shows its options, examples and exit codes."
    return "\n\n".join([*blocks, _code_table(_CODES), more])


def epilog_of(subcommand: type[Subcommand], notes: str | None) -> str:
    """Return what stands below the options of a subcommand."""
    examples = "\n".join(["examples:", *(f"{_INDENT}{line}" for line in subcommand.examples)])
    codes = _code_table({**_ALWAYS, **subcommand.exit_codes})
    return "\n\n".join([examples, *([notes.strip("\n")] if notes else []), codes])


def with_headings(text: str) -> str:
    """Return the text of a help with its headings in bold, if stdout takes colour."""
    return _HEADING.sub(lambda found: coloured(found[0], "bold"), text)


def _code_table(codes: Mapping[int, str]) -> str:
    return _table("exit codes", [(str(code), codes[code]) for code in sorted(codes)])


def _table(heading: str, rows: list[tuple[str, str]]) -> str:
    width = get_terminal_size().columns - _MARGIN - len(_INDENT)
    lines = columns(rows, width).split("\n")
    return "\n".join([f"{heading}:", *(f"{_INDENT}{line}" for line in lines)])


def _block(text: str, width: int) -> str:
    """Return a paragraph that is wrapped; of one with indented lines these stay as they are."""
    lines = text.split("\n") if re.search("^ ", text, re.MULTILINE) else [text]
    return "\n".join(
        line
        if line.startswith(" ")
        else fill(line, width, break_long_words=False, break_on_hyphens=False)
        for line in lines
    )


def _usage_lines(usage: str, width: int, prog: str) -> Iterator[str]:
    """Yield the alternatives of a usage, each from `kinwire` on and wrapped between its words."""
    for alternative in re.split(r"\n\s*(?=kinwire )", usage):
        words = _WORD.findall(" ".join(alternative.split()))
        text = " ".join(word.replace(" ", "\0") for word in words)
        lines = wrap(
            text,
            width,
            initial_indent=" " * len(_USAGE),
            subsequent_indent=" " * (len(_USAGE) + len(prog) + 1),
            break_long_words=False,
            break_on_hyphens=False,
        )
        yield from (line.replace("\0", " ") for line in lines)
