"""The validator `sandbox`: no shell syntax, no programs that start others, no recursive delete.

Every string of the call is read as a command line, unless its name says that it is something else
(`roles.py`). Arrays are read as words, and once more as the line that a shell would get if the
server joins them: then each command in it must be one that may run.
"""

from __future__ import annotations

__all__ = ("sandbox_violations",)

from collections.abc import Iterator, Sequence
from typing import Final

from kinwire.mgp.rules.tools import KnownTool
from kinwire.mgp.rules.validators.command_lines import CommandReading, command_readings
from kinwire.mgp.rules.validators.judgement import ValidatorOptions, Violation
from kinwire.mgp.rules.validators.shell_commands import (
    command_problem,
    pattern_problem,
    started_commands,
)
from kinwire.mgp.rules.validators.shell_lexer import UNCLOSED, VARIABLE, Word, read_line
from kinwire_protocols.base import JsonObject

_OPERATOR: Final = "it has shell syntax outside quotes: one of ; & | ( ) < >"
_HARMLESS: Final = frozenset({VARIABLE})
_REDIRECTIONS: Final = frozenset("<>")
_MOST_WORDS: Final = 500


def sandbox_violations(
    tool: KnownTool, arguments: JsonObject, options: ValidatorOptions
) -> Iterator[Violation]:
    """Yield why a call is refused.

    Raises:
        TooManyValuesError: the arguments have more values than a validator reads.
    """
    for found in command_readings(tool.name, arguments):
        problem = found.reason if isinstance(found, Violation) else _line_problem(found, options)
        if problem is not None:
            yield Violation(found.place, problem)


def _line_problem(line: CommandReading, options: ValidatorOptions) -> str | None:
    if line.words is None:
        return _text_problem(line.text, options)
    words = [str(word) for word in line.words]
    if len(words) > _MOST_WORDS:
        return f"a command has at most {_MOST_WORDS} words"
    if not options.without_shell:
        problem = _joined_problem(line.text, options)
        if problem is not None:
            return problem
    if any(map(_has_controls, words)):
        return "a word has control characters"
    return None if _is_allowed(words, options) else command_problem(words)


def _joined_problem(text: str, options: ValidatorOptions) -> str | None:
    """Return why a shell may not get the words of an array as one line.

    Text in a word may then end the command and begin another. That is no more than the caller can
    do with another call, as long as each of the commands may run.
    """
    line = read_line(text)
    if UNCLOSED in line.problems:  # most shells run nothing then; others do not know quotes
        line = read_line(text.replace("'", "").replace('"', ""))
    if not _HARMLESS.issuperset(line.problems):
        return next(one for one in line.problems if one not in _HARMLESS)
    if not _REDIRECTIONS.isdisjoint(line.operators):
        return _OPERATOR
    commands = ([word.text for word in command] for command in line.commands)
    refused = (command_problem(words) for words in commands if not _is_allowed(words, options))
    return next(filter(None, refused), None)


def _text_problem(text: str, options: ValidatorOptions) -> str | None:
    line = read_line(text)
    if line.problems:
        return line.problems[0]
    if line.operators:
        return _OPERATOR
    return next(filter(None, (_words_problem(one, options) for one in line.commands)), None)


def _words_problem(command: Sequence[Word], options: ValidatorOptions) -> str | None:
    if len(command) > _MOST_WORDS:
        return f"a command has at most {_MOST_WORDS} words"
    words = [word.text for word in command]
    if _is_allowed(words, options):
        return None
    if not all(word.is_spelled_out for word in _programs(command, words)):
        return "the name of the program is written with quotes or escapes inside"
    return pattern_problem(command) or command_problem(words)


def _programs(command: Sequence[Word], words: Sequence[str]) -> Iterator[Word]:
    """Yield the words that name programs: the first one, and those that it starts."""
    yield command[0]
    if not all(word.is_spelled_out for word in command):
        yield from (command[len(words) - len(inner)] for inner in started_commands(words))


def _is_allowed(words: Sequence[str], options: ValidatorOptions) -> bool:
    return any(_fits(one, words) for one in options.allowed_commands)


def _fits(allowed: str, words: Sequence[str]) -> bool:
    pattern = [word.text for command in read_line(allowed).commands for word in command]
    return len(pattern) == len(words) and all(map(_is_word, pattern, words))


def _is_word(pattern: str, word: str) -> bool:
    return pattern == word or (pattern == "*" and not word.startswith("-"))


def _has_controls(word: str) -> bool:
    return any(ord(sign) < 32 and sign not in "\n\t" for sign in word)
