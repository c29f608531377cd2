"""Decide whether the sandbox lets one simple command run: a program and its arguments."""

from __future__ import annotations

__all__ = ("command_problem", "is_known_program", "pattern_problem", "program_name")

import re
from collections.abc import Callable, Sequence
from posixpath import basename
from typing import Final

from kinwire.mgp.rules.validators.shell_git import git_problem
from kinwire.mgp.rules.validators.shell_lexer import Word, read_line
from kinwire.mgp.rules.validators.shell_options import (
    Options,
    is_only_help,
    refused_option,
    values_of,
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
from kinwire.mgp.rules.validators.shell_scripts import (
    awk_problem,
    mode_problem,
    sql_client_problem,
)
from kinwire.mgp.rules.validators.shell_sed import sed_problem
from kinwire.mgp.rules.validators.shell_wrappers import unwrapped
from kinwire.mgp.rules.validators.word_set import word_set

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
_MODULES: Final = word_set(
    """
    json.tool calendar ast tokenize base64 pyclbr platform this
    """
)
_OTHER_SCHEME: Final = re.compile(
    r"(?:--[\w-]+=)?(?:(?!https?:|ftps?:)[a-z][\w+.-]*://|(?:file|dict|gopher|smb|scp|ldap|telnet):)",
    re.IGNORECASE,
)
_GROUPS: Final = word_set(
    """
    container image network volume node service stack system
    """
)
_GROUP_READS: Final = word_set(
    """
    ls list inspect logs ps df version history top stats info
    """
)
_FIND: Final = Options(
    dashed=(
        *("exec", "execdir", "ok", "okdir", "delete", "fprint", "fprint0", "fprintf", "fls"),
        "files0-from",
    )
)


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
    if name.startswith(("ld-linux", "ld-musl", "ld.so")):
        return "it starts other programs"
    if is_only_help(arguments) or (list(arguments) == ["-v"] and name in VERSION_BY_V):
        return None
    return _class_problem(name, arguments) or _argument_problem(name, arguments)


def _class_problem(name: str, arguments: Sequence[str]) -> str | None:
    if name in REFUSED:
        return None if name in WITHOUT_ARGUMENTS and not arguments else f"{name} {REFUSED[name]}"
    if name in SHELLS:
        return f"{name} is a shell"
    special = _SPECIAL.get(name)
    if special is not None:
        problem = special(arguments)
        return None if problem is None else f"{name}: {problem}"
    if name in RUNNERS:
        return f"{name} runs programs in its language"
    return _subcommand_problem(name, arguments)


def _subcommand_problem(name: str, arguments: Sequence[str]) -> str | None:
    if name in READING_SUBCOMMANDS:
        if _only_reads(READING_SUBCOMMANDS[name], arguments):
            return None
        return f"{name} runs code of other people or changes what is installed"
    if name in HARMLESS or name in _SPECIAL or name in OPTIONS:
        return None
    return _hidden_problem(arguments)


def _only_reads(subcommands: frozenset[str], arguments: Sequence[str]) -> bool:
    first, second = (*arguments[:2], "", "")[:2]
    if first in _GROUPS:
        return second in _GROUP_READS
    return first in subcommands or all(word.startswith("-") for word in arguments)


def _argument_problem(name: str, arguments: Sequence[str]) -> str | None:
    if name not in _OWN_OPTIONS and refused_option(OPTIONS.get(name, Options()), arguments):
        return f"an option of {name} starts programs, deletes folders or reads what it should not"
    for path in (path for word in arguments for path in paths_in(word)):
        if is_secret(path):
            return "an argument is a file with credentials, or a device"
        if name != "head" and is_endless(path):
            return "an argument is a file without an end"
        if name in WRITERS and is_system_place(path):
            return f"{name} would change the system or the configuration of a user"
    return None


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


def _python(arguments: Sequence[str]) -> str | None:
    if len(arguments) > 1 and arguments[0] == "-m":
        if arguments[1] in _MODULES:
            return None
        if arguments[1] == "pip":
            return _subcommand_problem("pip", arguments[2:])
    return "it runs programs in its language"


def _awk(arguments: Sequence[str]) -> str | None:
    at = 0
    while at < len(arguments) and arguments[at][:2] in ("-F", "-v"):
        at += 2 if len(arguments[at]) == 2 else 1
    rest = arguments[at:]
    if any(word.startswith("-") for word in rest[:1]):
        return "an option before its program reads code from elsewhere"
    return awk_problem(rest[0]) if rest else None


def _sed(arguments: Sequence[str]) -> str | None:
    if refused_option(Options("f", ("file",), valued="eil"), arguments):
        return "its script is in a file"
    scripts = list(values_of(arguments, "e", ("expression",)))
    if not scripts:
        operands = [word for word in arguments if not word.startswith("-") or word == "-"]
        scripts = operands[:1]
    return next(filter(None, map(sed_problem, scripts)), None)


def _find(arguments: Sequence[str]) -> str | None:
    if refused_option(_FIND, [word for word in arguments if word != "--"]):
        return "an action starts programs, or deletes or writes files"
    return None


def _tar(arguments: Sequence[str]) -> str | None:
    first = arguments[0] if arguments else ""
    if first and not first.startswith("-") and any(letter in first for letter in "IFPT"):
        return "an option starts programs"
    return None


def _chmod(arguments: Sequence[str]) -> str | None:
    if refused_option(OPTIONS["chown"], arguments):
        return "it changes whole folders"
    return next(filter(None, map(mode_problem, arguments)), None)


def _pager(arguments: Sequence[str]) -> str | None:
    if any(word.startswith("+") and not word[1:].isdigit() for word in arguments):
        return "an argument is a command for it"
    return None


def _ip(arguments: Sequence[str]) -> str | None:
    return "it starts other programs" if "exec" in arguments else None


def _kill(arguments: Sequence[str]) -> str | None:
    if set(arguments) <= {"-l", "-L"}:
        return None
    targets = [word for word in arguments[1:] if word != "--"] or list(arguments)
    if all(word.isdigit() and int(word[:10]) > 1 for word in targets[-1:]) and not any(
        word.startswith("-") for word in targets
    ):
        return None
    return "it kills more than single processes"


def _history(arguments: Sequence[str]) -> str | None:
    return None if not arguments or arguments[0].isdigit() else "it changes the history"


def _sqlite(arguments: Sequence[str]) -> str | None:
    if refused_option(Options(dashed=("cmd", "init")), arguments):
        return "an option has commands of the client"
    return next(filter(None, map(sql_client_problem, arguments)), None)


def _psql(arguments: Sequence[str]) -> str | None:
    if refused_option(Options("foLX", ("file", "output", "log-file")), arguments):
        return "an option has commands of the client, or writes files"
    return next(filter(None, map(sql_client_problem, arguments)), None)


def _curl(arguments: Sequence[str]) -> str | None:
    data = values_of(
        arguments, "dFHwbu", ("data", "data-binary", "data-urlencode", "form", "write-out")
    )
    if any(value.startswith("@") or "=@" in value or "=<" in value for value in data):
        return "it sends files"
    return _download_problem(
        arguments, "ocD", ("output", "output-dir", "cookie-jar", "dump-header")
    )


def _wget(arguments: Sequence[str]) -> str | None:
    names = ("output-document", "output-file", "append-output", "directory-prefix")
    return _download_problem(arguments, "OoaP", names)


def _download_problem(arguments: Sequence[str], letters: str, names: Sequence[str]) -> str | None:
    if not all(map(_is_in_folder, values_of(arguments, letters, names))):
        return "it writes to a file outside its folder"
    if any(map(_OTHER_SCHEME.match, arguments)):
        return "it asks for something else than a page of the web"
    return None


def _is_in_folder(path: str) -> bool:
    parts = path.split("/")
    return path == "-" or all(part and part[0] not in ".~-" for part in parts)


_SPECIAL: Final[dict[str, Callable[[Sequence[str]], str | None]]] = {
    "git": git_problem,
    "python": _python,
    "awk": _awk,
    "sed": _sed,
    "find": _find,
    "tar": _tar,
    "chmod": _chmod,
    "less": _pager,
    "more": _pager,
    "ip": _ip,
    "kill": _kill,
    "history": _history,
    "sqlite3": _sqlite,
    "psql": _psql,
    "curl": _curl,
    "wget": _wget,
}
_OWN_OPTIONS: Final = frozenset(
    {"git", "sed", "awk", "python", "find", "psql", *(HARMLESS - OPTIONS.keys())}
)
_KNOWN: Final = frozenset(
    {*REFUSED, *SHELLS, *RUNNERS, *_ALIASES, *_SPECIAL, *READING_SUBCOMMANDS, *OPTIONS, *HARMLESS}
)
_WITH_OPTIONS: Final = frozenset({*OPTIONS, *_SPECIAL, *WRAPPERS})
