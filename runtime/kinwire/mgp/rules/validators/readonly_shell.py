"""Command lines that only read: programs that are known to, without the options that write."""

from __future__ import annotations

__all__ = ("reading_problem", "reading_words_problem")

from collections.abc import Callable, Sequence
from typing import Final

from kinwire.mgp.rules.validators.readonly_sql import sql_problem
from kinwire.mgp.rules.validators.shell_commands import (
    command_problem,
    pattern_problem,
    program_name,
)
from kinwire.mgp.rules.validators.shell_lexer import read_line
from kinwire.mgp.rules.validators.shell_options import (
    Options,
    is_only_help,
    refused_option,
    values_of,
)
from kinwire.mgp.rules.validators.shell_programs import READING_SUBCOMMANDS
from kinwire.mgp.rules.validators.shell_wrappers import unwrapped
from kinwire.mgp.rules.word_set import word_set

_JOINING: Final = frozenset("|&;")

_READERS: Final = word_set(
    """
    ls cat head tail wc grep egrep fgrep cut diff diff3 cmp comm du df echo printf basename dirname
    readlink realpath stat pwd whoami id groups uname uptime cal seq factor test [ true false sleep
    jq tr tac nl rev paste join fold fmt column expand unexpand od hexdump hd strings sha1sum
    sha224sum sha256sum sha384sum sha512sum md5sum b2sum cksum sum which type whereis locate more
    less ping base64 base32 numfmt tsort ack ag rg man apropos whatis ps free lsof who w last
    printenv nproc arch getconf look zcat bzcat xzcat dig nslookup host netstat lscpu lsblk lsusb
    lspci lsmod vmstat iostat mpstat getent locale find awk cd date zipinfo pgrep pidof tput cloc
    tokei scc file tree sort shuf iconv sdiff dmesg journalctl ss history python fd yq read
    """
)
_WRITING: Final[dict[str, Options]] = {
    "sort": Options("o", ("output",), valued="kotTS"),
    "tree": Options("o", ("output",), valued="LPI"),
    "shuf": Options("o", ("output",), valued="nie"),
    "iconv": Options("o", ("output",), valued="ft"),
    "sdiff": Options("o", ("output",)),
    "file": Options("C", ("compile",), valued="fFPm"),
    "dmesg": Options("cCDEn", ("clear", "read-clear", "console-off", "console-on")),
    "journalctl": Options(
        "", ("vacuum-size", "vacuum-time", "vacuum-files", "rotate", "flush", "sync", "setup-keys")
    ),
    "ss": Options("K", ("kill",)),
    "base64": Options("o", ("output",)),
    "yq": Options("i", ("inplace", "in-place")),
}
_GIT: Final = word_set(
    """
    log show diff status blame grep ls-files ls-tree ls-remote rev-parse rev-list describe shortlog
    cat-file for-each-ref name-rev merge-base show-ref show-branch diff-tree diff-index diff-files
    check-ignore check-attr count-objects whatchanged range-diff verify-commit verify-tag version
    cherry
    """
)
_GIT_LISTS: Final[dict[str, frozenset[str]]] = {
    "branch": word_set("-l --list -a --all -r --remotes -v -vv --verbose --show-current"),
    "tag": word_set("-l --list -n"),
    "remote": word_set("-v --verbose show get-url"),
    "stash": word_set("list show"),
    "reflog": word_set("show"),
    "config": word_set("--get --get-all --get-regexp --list -l get list"),
    "worktree": word_set("list"),
    "notes": word_set("list show"),
    "bisect": word_set("log"),
}
_NEEDED: Final = frozenset({"stash", "config", "worktree", "notes", "bisect"})


def reading_problem(text: str) -> str | None:
    """Return why a command line is not one that only reads, as a clause, or None.

    Pipes and lists of commands may be read; each command is judged.
    """
    line = read_line(text)
    if line.problems:
        return line.problems[0]
    if not _JOINING.issuperset(line.operators):
        return "it redirects input or output, or starts another shell"
    for command in line.commands:
        problem = pattern_problem(command) or reading_words_problem([one.text for one in command])
        if problem is not None:
            return problem
    return None


def reading_words_problem(words: Sequence[str]) -> str | None:
    """Return why a program with its arguments does not only read, as a clause, or None."""
    problem = command_problem(words)
    if problem is not None:
        return problem
    found, problem = unwrapped(words, program_name)
    return problem or next(filter(None, map(_writing, found)), None)


def _writing(words: Sequence[str]) -> str | None:
    name, arguments = program_name(words[0]), words[1:]
    if is_only_help(arguments):
        return None
    special = _SPECIAL.get(name)
    if special is not None:
        reads = special(arguments)
    elif name in READING_SUBCOMMANDS:
        reads = True  # the sandbox lets only these run
    else:
        reads = name in _READERS and not refused_option(_WRITING.get(name, Options()), arguments)
    return None if reads else "it is not a command that is known to read only"


def _operands(arguments: Sequence[str]) -> list[str]:
    return [word for word in arguments if not word.startswith("-") and not word.isdigit()]


def _git(arguments: Sequence[str]) -> bool:
    at = 0
    while at < len(arguments) and arguments[at].startswith("-"):
        at += 2 if arguments[at] in ("-C", "-c") else 1
    if any(word.startswith("--output") for word in arguments):
        return False
    if at >= len(arguments) or arguments[at] in _GIT:
        return True
    subcommand, rest = arguments[at], arguments[at + 1 :]
    if subcommand not in _GIT_LISTS:
        return False
    listing = not _GIT_LISTS[subcommand].isdisjoint(rest)
    return listing if rest else subcommand not in _NEEDED


def _sed(arguments: Sequence[str]) -> bool:
    return not refused_option(Options("is", ("in-place", "separate"), valued="efl"), arguments)


def _curl(arguments: Sequence[str]) -> bool:
    asks = {value.upper() for value in values_of(arguments, "X", ("request",))}
    if not asks <= {"GET", "HEAD"}:
        return False
    writing = Options(
        "oOTFDcJ",
        (
            *("output", "remote-name", "remote-name-all", "upload-file", "form", "form-string"),
            *("dump-header", "cookie-jar", "json", "etag-save", "output-dir"),
        ),
        valued="dXHAbemruwy",
    )
    as_query = not {"-G", "--get"}.isdisjoint(arguments)
    sends = Options("d", ("data", "data-raw", "data-binary", "data-urlencode", "data-ascii"))
    return not refused_option(writing, arguments) and (
        as_query or not refused_option(sends._replace(valued="XHAbemruwyo"), arguments)
    )


def _wget(arguments: Sequence[str]) -> bool:
    if refused_option(Options("", ("post-data", "post-file", "method", "body-data")), arguments):
        return False
    targets = set(values_of(arguments, "O", ("output-document",)))
    return "--spider" in arguments or targets == {"-"}


def _tar(arguments: Sequence[str]) -> bool:
    first = arguments[0].lstrip("-") if arguments else ""
    return "--list" in arguments or ("t" in first and not set(first) & set("cxruAd"))


_LISTS_ARCHIVE: Final = word_set("-l -t -v -p -Z -lv l t --list")


def _archive(arguments: Sequence[str]) -> bool:
    return bool(arguments) and arguments[0] in _LISTS_ARCHIVE


def _compressed(arguments: Sequence[str]) -> bool:
    return any(
        word in {"--stdout", "--list", "--test", "--to-stdout"}
        or (word[:1] == "-" and word[1:2] != "-" and bool(set(word) & set("clt")))
        for word in arguments
    )


def _at_most_one_file(arguments: Sequence[str]) -> bool:
    return len(_operands(arguments)) <= 1


def _xxd(arguments: Sequence[str]) -> bool:
    return "-r" not in arguments and _at_most_one_file(arguments)


def _hostname(arguments: Sequence[str]) -> bool:
    return not _operands(arguments) and not refused_option(Options("Fb", ("file",)), arguments)


def _date(arguments: Sequence[str]) -> bool:
    sets = any(word.isdigit() for word in arguments)
    return not sets and not refused_option(Options("s", ("set",), valued="dfr"), arguments)


def _ip(arguments: Sequence[str]) -> bool:
    operands = _operands(arguments)
    return len(operands) < 2 or operands[1] in {"show", "list", "ls", "get", "s"}


def _client(arguments: Sequence[str]) -> bool:
    """Return whether a client of a database has statements as words, all of which read."""
    texts = [*values_of(arguments, "ce", ("command", "execute"))]
    return bool(texts) and not any(map(sql_problem, texts))


def _sqlite(arguments: Sequence[str]) -> bool:
    return not any(map(sql_problem, _operands(arguments)[1:]))


def _rpm(arguments: Sequence[str]) -> bool:
    return any(
        word.startswith(("-q", "-l", "-L", "-s", "-S", "-Q", "--query")) for word in arguments
    )


_SPECIAL: Final[dict[str, Callable[[Sequence[str]], bool]]] = {
    "git": _git,
    "sed": _sed,
    "curl": _curl,
    "wget": _wget,
    "tar": _tar,
    "unzip": _archive,
    "7z": _archive,
    "ar": _archive,
    "gzip": _compressed,
    "xz": _compressed,
    "bzip2": _compressed,
    "zstd": _compressed,
    "uniq": _at_most_one_file,
    "xxd": _xxd,
    "hostname": _hostname,
    "date": _date,
    "ip": _ip,
    "psql": _client,
    "sqlite3": _sqlite,
    "rpm": _rpm,
    "dpkg": _rpm,
    "pacman": _rpm,
}
