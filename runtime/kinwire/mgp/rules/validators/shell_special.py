"""Programs with rules of their own: what their arguments make them do."""

from __future__ import annotations

__all__ = ("SPECIAL", "only_reads")

import re
from collections.abc import Callable, Sequence
from typing import Final

from kinwire.mgp.rules.validators.shell_git import git_problem
from kinwire.mgp.rules.validators.shell_options import Options, refused_option, values_of
from kinwire.mgp.rules.validators.shell_programs import OPTIONS, READING_SUBCOMMANDS
from kinwire.mgp.rules.validators.shell_scripts import (
    awk_problem,
    mode_problem,
    sql_client_problem,
)
from kinwire.mgp.rules.validators.shell_sed import sed_problem
from kinwire.mgp.rules.word_set import word_set

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


def only_reads(subcommands: frozenset[str], arguments: Sequence[str]) -> bool:
    """Return whether the arguments begin with a subcommand that reads, or have none."""
    first, second = (*arguments[:2], "", "")[:2]
    if first in _GROUPS:
        return second in _GROUP_READS
    return first in subcommands or all(word.startswith("-") for word in arguments)


def _python(arguments: Sequence[str]) -> str | None:
    if len(arguments) > 1 and arguments[0] == "-m":
        if arguments[1] in _MODULES:
            return None
        if arguments[1] == "pip":
            reads = only_reads(READING_SUBCOMMANDS["pip"], arguments[2:])
            return None if reads else "it changes what is installed"
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
    data = values_of(arguments, "dFHwbu", ("data", "data-binary", "form", "write-out"))
    encoded = values_of(arguments, "", ("data-urlencode",))
    if any(value.startswith("@") or "=@" in value or "=<" in value for value in data) or any(
        "@" in value.partition("=")[0] for value in encoded
    ):
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


_NOWHERE: Final = frozenset({"-", "/dev/null", "/dev/stdout", "/dev/stderr"})


def _is_in_folder(path: str) -> bool:
    parts = path.split("/")
    return path in _NOWHERE or all(part and part[0] not in ".~-" for part in parts)


SPECIAL: Final[dict[str, Callable[[Sequence[str]], str | None]]] = {
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
