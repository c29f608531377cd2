"""Find the command lines among the arguments of a call.

Every string counts as one, unless its name says that it is something else (`roles.py`). An array
is read as the words of a command.
"""

from __future__ import annotations

__all__ = ("CommandReading", "command_readings")

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from kinwire.mgp.rules.validators.judgement import Violation
from kinwire.mgp.rules.validators.places import (
    MOST_VALUES,
    TooManyValuesError,
    below,
    is_array,
    is_mapping,
    words_of_name,
)
from kinwire.mgp.rules.validators.roles import Role, is_plural, role_of
from kinwire.mgp.rules.validators.shell_commands import is_known_program
from kinwire.mgp.rules.validators.shell_lexer import read_line
from kinwire.mgp.rules.validators.shell_paths import is_secret, paths_in
from kinwire.mgp.rules.validators.shell_programs import REFUSED, SHELLS
from kinwire_protocols.base import JsonObject

_PLACE: Final = re.compile(r"[;&|<>`\x00-\x1f\x7f]|\$[\w({]")
_IDENTIFIER: Final = re.compile(r"[\w.:/-]{0,80}", re.ASCII)


class CommandReading(NamedTuple):
    """A command line to judge."""

    place: str
    text: str
    """The line, as a shell would get it."""
    words: tuple[str, ...] | None = None
    """The words of an array."""
    is_certain: bool = True
    """Whether its name says that it is a command; else it may be any text."""


def command_readings(tool: str, arguments: JsonObject) -> Iterator[CommandReading | Violation]:
    """Yield the command lines among the arguments of a tool, and what is refused in other roles.

    Raises:
        TooManyValuesError: there are more values than a validator reads.
    """
    waiting: list[tuple[str, str, object]] = [("", "", arguments)]
    for _ in range(MOST_VALUES):
        if not waiting:
            return
        place, name, value = waiting.pop()
        if is_mapping(value):
            yield from _of_object(tool, place, name, value)
            if role_of(name) != "variables":
                waiting += [(below(place, key), key, value[key]) for key in value][::-1]
        elif is_array(value):
            yield from _of_array(place, name, value)
            waiting += [(f"{place}[{at}]", name, one) for at, one in enumerate(value)][::-1]
        elif isinstance(value, str) and (is_plural(name) or not place.endswith("]")):
            yield from _of_text(place, role_of(name), value)
    raise TooManyValuesError(f"expected at most {MOST_VALUES} values in the arguments")


def _of_object(
    tool: str, place: str, name: str, value: Mapping[str, object]
) -> Iterator[CommandReading | Violation]:
    """Yield variables, unusual keys, and the command whose words are in several values."""
    if role_of(name) == "variables":
        yield from (CommandReading(below(place, key), f"{key}=") for key in value)
        yield from _of_values(place, value)
        return
    yield from (
        CommandReading(place, key, None, False) for key in value if not _IDENTIFIER.fullmatch(key)
    )
    commands = [one for key, one in value.items() if role_of(key) == "command" and _words(one)]
    for key, rest in value.items():
        if role_of(key) == "arguments" and not is_mapping(rest):
            for program in map(_words, commands or [None, *_named(tool)]):
                yield from _joined(below(place, key), program, rest)


def _joined(place: str, program: tuple[str, ...], rest: object) -> Iterator[CommandReading]:
    """Yield a command whose program and arguments stand in two values."""
    words = (*program, *_words(rest))
    if not words:
        return
    if not is_array(rest):
        yield CommandReading(place, " ".join(words))
        return
    lines = [read_line(one).commands for one in program]
    first = [word.text for line in lines for command in line for word in command]
    yield CommandReading(place, " ".join(words), (*first, *_words(rest)))


def _named(tool: str) -> list[str]:
    """Return the program that a tool is named after, if that is known."""
    return [one for one in words_of_name(tool) if is_known_program(one) and one not in REFUSED][:1]


def _of_values(place: str, value: Mapping[str, object]) -> Iterator[Violation]:
    for key, one in value.items():
        if isinstance(one, str) and _PLACE.search(one):
            yield Violation(below(place, key), "a variable has shell syntax or control characters")


def _words(value: object) -> tuple[str, ...]:
    if is_array(value):
        return tuple(str(one) for one in value if isinstance(one, str | int | float))
    return (value,) if isinstance(value, str) else ()


def _of_array(
    place: str, name: str, value: Sequence[object]
) -> Iterator[CommandReading | Violation]:
    words, role = _words(value), role_of(name)
    if words and role in ("command", "unknown"):
        yield CommandReading(place, " ".join(words), words, role == "command")
    elif role in ("variables", "place"):
        yield from (one for word in words for one in _of_text(place, role, word))


def _of_text(place: str, role: Role, text: str) -> Iterator[CommandReading | Violation]:
    if role == "place":
        yield from _of_place(place, text)
    elif role == "variables":
        yield CommandReading(place, f"{text.partition('=')[0]}=")
    elif role in ("command", "unknown") or (role == "shell" and not _is_shell(text)):
        yield CommandReading(place, text, None, role != "unknown")


def _is_shell(text: str) -> bool:
    return text in SHELLS or (
        text.startswith(("/bin/", "/usr/bin/")) and text.rpartition("/")[2] in SHELLS
    )


def _of_place(place: str, text: str) -> Iterator[Violation]:
    if _PLACE.search(text):
        yield Violation(place, "a path has shell syntax or control characters")
    elif any(map(is_secret, paths_in(text))):
        yield Violation(place, "a path is one of a file with credentials, or of a device")
