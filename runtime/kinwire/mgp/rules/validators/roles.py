"""What an argument of a tool is for, from its name: a command, text for people, a folder."""

from __future__ import annotations

__all__ = ("Role", "is_plural", "role_of")

from typing import Final, Literal

from kinwire.mgp.rules.validators.places import words_of_name
from kinwire.mgp.rules.word_set import word_set

Role = Literal["command", "arguments", "prose", "place", "variables", "shell", "unknown"]

_WORDS: Final[dict[Role, frozenset[str]]] = {
    "prose": word_set(
        """
        description reason explanation title comment note notes thought thoughts summary purpose
        intent rationale justification label
        """
    ),
    "variables": word_set("env environment variables envs"),
    "place": word_set(
        """
        cwd workdir dir directory dirs directories folder path workspace pwd
        """
    ),
    "arguments": word_set(
        """
        args arguments argv params parameters flags switches opts
        """
    ),
    "shell": frozenset({"shell"}),
    "command": word_set(
        """
        command commands cmd cmds script scripts cmdline commandline line exec execute run
        program executable binary bin invocation
        """
    ),
}


def role_of(name: str) -> Role:
    """Return the role that the words of one name give; the last word counts most."""
    words = words_of_name(name)
    for word in reversed(words):
        for role, known in _WORDS.items():
            if word in known:
                return role
    return "unknown"


def is_plural(name: str) -> bool:
    """Return whether an array of this name has whole commands, not the words of one."""
    return role_of(name) == "unknown" or name.lower().endswith(("commands", "cmds", "scripts"))
