"""`${NAME}` in values of a configuration file, filled in from variables (MGP 0.2.0, 15.2)."""

from __future__ import annotations

__all__ = ("UnsetVariableError", "filled", "placeholders_in")

import re
from collections.abc import Iterator, Mapping
from typing import Final

_PLACEHOLDER: Final = re.compile(
    r"\$\$\{|\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^${}]*))?\}|\$\{"
)


class UnsetVariableError(Exception):
    """A text names a variable that is not set."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the variable {name} is not set")
        self.name = name


def filled(text: str, variables: Mapping[str, str]) -> str:
    """Return a text with the value of each `${NAME}`, once: a value is not looked through again.

    `${NAME:-default}` is `default` if the variable is unset or empty, and `$${` is `${`. Every
    other dollar sign stays as it is.

    Raises:
        UnsetVariableError: a variable without a default is not set.
        ValueError: `${` does not begin a placeholder.
    """
    return _PLACEHOLDER.sub(lambda found: _value(found, variables), text)


def placeholders_in(text: str) -> Iterator[str]:
    """Yield the names that `filled` looks up."""
    for found in _PLACEHOLDER.finditer(text):
        if found["name"] is not None:
            yield found["name"]


def _value(found: re.Match[str], variables: Mapping[str, str]) -> str:
    name, default = found["name"], found["default"]
    if name is None:
        if found[0] == "$${":
            return "${"
        raise ValueError("expected ${NAME} or ${NAME:-default}; write $${ for the two signs")
    value = variables.get(name)
    if value is None and default is None:
        raise UnsetVariableError(name)
    return value or default or ""
