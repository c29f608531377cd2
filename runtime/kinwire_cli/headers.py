"""HTTP headers that a command line gives: what is secret in them need not stand there itself.

Other users of a machine see the words of a command, and a shell keeps them. So a value may name a
variable of the environment, and a file may hold whole lines. No message repeats a value.
"""

from __future__ import annotations

__all__ = ("headers_from",)

import os
import re
from collections.abc import Iterable, Iterator, Mapping

from kinwire_cli.failure import UsageError

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_EXAMPLE = "Write 'Name: value', 'Name: ${VARIABLE}', or @FILE with such lines."


def headers_from(
    words: Iterable[str], environment: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """Return the headers that `words` are: `Name: value` each, or @FILE with a line for each.

    `${NAME}` in a value stands for a variable of the environment. The last one of a name counts.

    Raises:
        UsageError: a word is not a header, a file cannot be read, or a variable is not set.
    """
    found: dict[str, tuple[str, str]] = {}
    for word in words:
        for line in _lines(word):
            name, value = _header(line, environment)
            found[name.lower()] = name, value
    return dict(found.values())


def _lines(word: str) -> Iterator[str]:
    if not word.startswith("@"):
        yield word
        return
    path = word[1:]
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise UsageError(f"--header: {path}: {why}.", _EXAMPLE) from None
    yield from (line for line in text.splitlines() if line.strip())


def _header(line: str, environment: Mapping[str, str]) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    name = name.strip()
    if not colon or not _NAME.fullmatch(name):
        # What stands there may be a secret without its name, so none of it is shown.
        raise UsageError("--header: expected a name, a colon and a value.", _EXAMPLE)

    def variable(found: re.Match[str]) -> str:
        if found[1] not in environment:
            text = f"--header: {name}: the variable {found[1]} is not set."
            raise UsageError(text, f"Set it first: export {found[1]}=...")
        return environment[found[1]]

    whole = _VARIABLE.sub(variable, value).strip(" \t\r\n")
    if not _VALUE.fullmatch(whole):
        text = f"--header: {name}: its value has characters that no header may have."
        raise UsageError(text, "Leave out line breaks, control characters and signs past Latin-1.")
    return name, whole
