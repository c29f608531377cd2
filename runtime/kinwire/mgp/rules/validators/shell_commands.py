"""Decide whether the sandbox lets one simple command run: a program and its arguments."""

from __future__ import annotations

__all__ = (
    "command_problem",
    "is_known_program",
    "pattern_problem",
    "program_name",
    "started_commands",
)

import re
from collections.abc import Iterator, Sequence
from posixpath import basename
from typing import Final

from kinwire.mgp.rules.validators.shell_lexer import Word, read_line
from kinwire.mgp.rules.validators.shell_options import (
    Options,
    is_only_help,
    outputs,
    refused_option,
)
from kinwire.mgp.rules.validators.shell_paths import (
    is_endless,
    is_ordinary_program_path,
    is_secret,
    is_system_place,
    matches_secret,
    paths_in,
)
from kinwire.mgp.rules.validators.shell_programs import (
    HARMLESS,
    ONLY_LISTS,
    OPTIONS,
    READING_SUBCOMMANDS,
    REFUSED,
    RUNNERS,
    SHELLS,
    STARTS_OTHERS,
    VERSION_BY_V,
    WITHOUT_ARGUMENTS,
    WRAPPERS,
    WRITERS,
)
from kinwire.mgp.rules.validators.shell_special import SPECIAL, only_reads
from kinwire.mgp.rules.validators.shell_wrappers import unwrapped
from kinwire.mgp.rules.word_set import word_set

_PROGRAM: Final = re.compile(r"[\w./+:@-]+|\[", re.ASCII)
_SUFFIX: Final = re.compile(r"\.(?:exe|com|bat|cmd|ps1)$")
_VERSION: Final = re.compile(r"-?[0-9][0-9.]*$")
_ALIASES: Final[dict[str, str]] = {
    name: program
    for program, names in {
        "tar": "bsdtar gtar star pax",
        "awk": "gawk mawk nawk original-awk goawk",
        "gcc": "g++ cc c++ clang clang++ c89 c99 tcc cpp",
        "less": "most pg zless bat batcat",
        "fd": "fdfind",
        "cowsay": "cowthink",
        "latex": "pdflatex xelatex lualatex tex pdftex xetex luatex latexmk",
        "psql": "mysql mariadb sqlplus cqlsh sqlcmd isql mongo mongosh redis-cli clickhouse duckdb "
        "usql tdbtool",
        "python": "python2 python3 pypy3",
        "dnf": "microdnf tdnf",
        "nmap": "ncrack",
        "pip": "pip2 pip3",
        "conda": "micromamba",
        "rpm": "rpmdb rpmquery rpmverify",
        "nroff": "troff groff eqn tbl",
        "pacman": "pamac",
        "grep": "zgrep",
    }.items()
    for name in names.split()
}
_OF_GNU: Final = word_set(
    "grm gfind gsed gchmod gchown gcp gmv gsort gdd gtee gxargs gtimeout genv"
)
"""How macOS calls them."""
_LOADERS: Final = ("ld-linux", "ld-musl", "ld.so", "qemu-", "lxc-")
_CMDLET: Final = re.compile(
    r"(?:Invoke|Remove|Stop|Restart|Set|New|Start|Clear|Format|Disable|Enable|Uninstall|Install|Add"
    r"|Reset|Suspend|Out|Move|Copy|Rename)-[A-Z]"
)
_COPIES: Final = frozenset({"cp", "rsync", "scp"})
"""Those that write only to their last argument."""


def pattern_problem(words: Sequence[Word]) -> str | None:
    """Return why patterns of file names among the words of a command are refused, or None."""
    patterns = [word for word in words[1:] if word.is_pattern]
    if any(matches_secret(word.text) for word in patterns):
        return "a pattern matches a file with credentials, or a device"
    if any(word.may_become_option for word in patterns) and any(
        program_name(word.text) in _WITH_OPTIONS for word in words
    ):
        return "a file whose name begins with a dash would become an option: write `./*`"
    return None


def command_problem(words: Sequence[str]) -> str | None:
    """Return why a program may not run with these arguments, as a clause, or None.

    The clause never has one of the arguments, only the name of a program that is known here.
    """
    found, problem = unwrapped(words, program_name)
    if problem is not None:
        return problem
    return next(filter(None, map(_problem, found)), None)


def started_commands(words: Sequence[str]) -> Sequence[Sequence[str]]:
    """Return the commands that a command runs in the end, each of which is its last words."""
    return unwrapped(words, program_name)[0]


def is_known_program(word: str) -> bool:
    """Return whether there are rules for a program of this name."""
    return program_name(word) in _KNOWN


def program_name(word: str) -> str:
    """Return the name under which a program is known: `/usr/bin/Python3.11` is `python`."""
    name = _SUFFIX.sub("", basename(word.replace("\\", "/")).lower())
    for one in (name, _VERSION.sub("", name), name.partition(".")[0]):
        if one in _KNOWN:
            return _ALIASES.get(one, one)
    return name[1:] if name in _OF_GNU else name


def _problem(words: Sequence[str]) -> str | None:
    program, arguments = words[0], words[1:]
    if not _PROGRAM.fullmatch(program):
        return "the name of the program is not an ordinary one"
    if not is_ordinary_program_path(program):
        return "it runs a file by its path"
    name = program_name(program)
    if name.startswith(_LOADERS) or _CMDLET.match(program):
        return "it starts other programs or changes the machine"
    refused = name in REFUSED or name in SHELLS
    if is_only_help(arguments, short=not refused):
        return None
    if list(arguments) == ["-v"] and name in VERSION_BY_V:
        return None
    return _class_problem(name, arguments) or _argument_problem(name, arguments)


def _class_problem(name: str, arguments: Sequence[str]) -> str | None:
    if name in REFUSED:
        lists = len(arguments) == 1 and arguments[0] in ONLY_LISTS.get(name, ())
        bare = not arguments and name in WITHOUT_ARGUMENTS
        return None if lists or bare else f"{name} {REFUSED[name]}"
    if name in SHELLS:
        return f"{name} is a shell"
    special = SPECIAL.get(name)
    if special is not None:
        problem = special(arguments)
        return None if problem is None else f"{name}: {problem}"
    if name in RUNNERS:
        return f"{name} runs programs in its language"
    return _subcommand_problem(name, arguments)


def _subcommand_problem(name: str, arguments: Sequence[str]) -> str | None:
    if name in READING_SUBCOMMANDS:
        if only_reads(READING_SUBCOMMANDS[name], arguments):
            return None
        return f"{name} runs code of other people or changes what is installed"
    if name in HARMLESS or name in SPECIAL or name in OPTIONS:
        return None
    return _hidden_problem(arguments)


def _argument_problem(name: str, arguments: Sequence[str]) -> str | None:
    if name not in _OWN_OPTIONS and refused_option(OPTIONS.get(name, Options()), arguments):
        return f"an option of {name} starts programs, deletes folders or reads what it should not"
    if any(map(is_secret, _paths(arguments))):
        return "an argument is a file with credentials, or a device"
    if name != "head" and any(map(is_endless, _paths(arguments))):
        return "an argument is a file without an end"
    written = [*_written(name, arguments), *outputs(arguments)]
    if any(map(is_system_place, _paths(written))):
        return f"{name} would change the system or the configuration of a user"
    return None


def _paths(words: Sequence[str]) -> Iterator[str]:
    return (path for word in words for path in paths_in(word))


def _written(name: str, arguments: Sequence[str]) -> Sequence[str]:
    """Return the arguments that may name what a program writes to."""
    if name in _COPIES and not any(word.startswith(("-t", "--t")) for word in arguments):
        return arguments[-1:]
    in_place = name == "sed" and refused_option(Options("i", ("in-place",)), arguments)
    return arguments if name in WRITERS or in_place else ()


def _hidden_problem(arguments: Sequence[str]) -> str | None:
    """Return why the arguments of a program that is not known hide another command."""
    operands = [word for word in arguments if not word.startswith("-")]
    if (operands[:1] and operands[0] in STARTS_OTHERS) or "exec" in operands[:3]:
        return "its subcommand starts programs or installs them"
    if any(word.startswith(("|", "!")) and len(word) > 1 for word in arguments):
        return "an argument begins like a command for another program"
    if any(map(_starts_command, arguments, (*arguments[1:], ""))):
        return "its arguments have another command"
    return "its arguments have another command" if any(map(_is_command, arguments)) else None


def _starts_command(word: str, after: str) -> bool:
    name = program_name(word)
    if name in SHELLS or name in RUNNERS:
        return after.startswith("-") or word.startswith("/")
    if name == "rm":
        return refused_option(OPTIONS["rm"], [after]) is not None
    return name in {"sudo", "su", "doas", "eval"} and bool(after)


def _is_command(word: str) -> bool:
    if " " not in word:
        return False
    for command in read_line(word).commands:
        words = [one.text for one in command]
        if any(map(_starts_command, words[:1], words[1:2])):
            return True
    return False


_OWN_OPTIONS: Final = frozenset(
    {"git", "sed", "awk", "python", "find", "psql", *(HARMLESS - OPTIONS.keys())}
)
_KNOWN: Final = frozenset(
    {*REFUSED, *SHELLS, *RUNNERS, *_ALIASES, *SPECIAL, *READING_SUBCOMMANDS, *OPTIONS, *HARMLESS}
)
_WITH_OPTIONS: Final = frozenset({*OPTIONS, *SPECIAL, *WRAPPERS})
