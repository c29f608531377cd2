"""Options of programs, recognised in each spelling that getopt accepts."""

from __future__ import annotations

__all__ = ("Options", "is_only_help", "outputs", "refused_option", "values_of")

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from kinwire.mgp.rules.word_set import word_set

_HELP: Final = frozenset({"--help", "--version"})
_SHORT_HELP: Final = frozenset({"-V", "-version", *_HELP})

_STARTS_PROGRAMS: Final = word_set(
    """
    askpass cmd cmds command commands editor entrypoint eval evaluate exec execdir execute
    helper hook hooks interpreter pager preload preprocessor program rsh shell
    """
)
"""Words in the name of a long option: its value is probably a command or code."""

_NOT_RUN: Final = word_set(
    """
    no-pager no-editor no-hooks no-shell no-exec no-command no-verify noexec nocommand
    no-run-hooks no-preload no-program-name
    """
)


class Options(NamedTuple):
    """Options of one program that its rule refuses."""

    letters: str = ""
    """Short ones; they may stand in a cluster such as `-xvI`."""
    names: tuple[str, ...] = ()
    """Long ones, without dashes; abbreviations count, as for getopt."""
    valued: str = ""
    """Short ones with a value: what follows them in a cluster is not an option."""
    harmless: tuple[str, ...] = ()
    """Long ones that are the beginning of a refused one."""
    dashed: tuple[str, ...] = ()
    """Long ones that are written with a single dash, such as `-exec`."""
    prefixes: tuple[str, ...] = ()
    """What no argument may begin with."""


def refused_option(options: Options, words: Sequence[str]) -> str | None:
    """Return the first word among the arguments that sets a refused option, or None.

    What follows `--` is not an option. Options after operands count, as for GNU programs.
    """
    for word in _until_end(words):
        if word.startswith(options.prefixes):
            return word
        if word.startswith("--"):
            if _is_refused_name(options, word[2:].partition("=")[0]):
                return word
        elif word.startswith("-") and _is_refused_cluster(options, word[1:]):
            return word
    return None


def _until_end(words: Sequence[str]) -> Iterator[str]:
    for word in words:
        if word == "--":
            return
        if len(word) > 1:
            yield word


def _is_refused_name(options: Options, name: str) -> bool:
    if name in options.harmless or name in _NOT_RUN:
        return False
    refused = (*options.names, *options.dashed)
    return any(one.startswith(name) for one in refused) or _starts_programs(name)


def _starts_programs(name: str) -> bool:
    words = re.split(r"[-_.]", name.lower())
    return not _STARTS_PROGRAMS.isdisjoint(words) and not name.startswith("no-")


def _is_refused_cluster(options: Options, cluster: str) -> bool:
    if cluster.partition("=")[0] in options.dashed:
        return True
    for letter in cluster:
        if letter in options.letters:
            return True
        if letter in options.valued:
            return False
    return False


def values_of(words: Sequence[str], letters: str, names: Sequence[str]) -> Iterator[str]:
    """Yield the values of these options: `-o x`, `-sox`, `--output x` and `--output=x`."""
    for word, after in zip(words, (*words[1:], ""), strict=False):
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            if any(one.startswith(name) for one in names):
                yield value if equals else after
        elif word.startswith("-"):
            found = next((at for at, letter in enumerate(word) if at and letter in letters), 0)
            if found:
                yield word[found + 1 :] or after


def is_only_help(words: Sequence[str], *, short: bool = True) -> bool:
    """Return whether the arguments ask for nothing but help or the version.

    With `short`, `-V` does so too; for shells and editors it means something else.
    """
    return len(words) == 1 and words[0] in (_SHORT_HELP if short else _HELP)


_OUTPUT: Final = re.compile(
    r"--?(?:o|out|output|out-?file|output-?file|log-?file|logfile|dest)(?:=|$)|-o"
)


def outputs(words: Sequence[str]) -> Iterator[str]:
    """Yield where options tell a program to write, as far as their names say so."""
    for word, after in zip(words, (*words[1:], ""), strict=False):
        found = _OUTPUT.match(word)
        if found is not None:
            yield word[found.end() :] or after
