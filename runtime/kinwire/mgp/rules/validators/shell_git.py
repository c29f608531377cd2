"""Command lines of git: options, configuration and addresses that start other programs."""

from __future__ import annotations

__all__ = ("git_problem",)

import re
from collections.abc import Sequence
from typing import Final

from kinwire.mgp.rules.validators.shell_options import Options, refused_option
from kinwire.mgp.rules.word_set import word_set

_SUBCOMMANDS: Final = word_set(
    """
    add am apply archive bisect blame branch cat-file check-attr check-ignore checkout cherry
    cherry-pick clone commit config count-objects describe diff diff-files diff-index diff-tree
    fetch for-each-ref format-patch fsck gc grep hash-object init log ls-files ls-remote ls-tree
    merge merge-base merge-tree mv name-rev notes pull push range-diff rebase reflog remote
    reset restore rev-list rev-parse revert rm shortlog show show-branch show-ref
    sparse-checkout stash status switch symbolic-ref tag verify-commit verify-tag version
    whatchanged worktree write-tree
    """
)
_ALONE: Final = word_set(
    """
    --no-pager --version --bare --no-replace-objects --literal-pathspecs --no-optional-locks
    """
)
_SETTINGS: Final = re.compile(
    r"(?:user\.(?:name|email)|color\.[\w.]+|core\.(?:quotepath|autocrlf|abbrev|filemode|eol|"
    r"ignorecase|safecrlf|precomposeunicode)|log\.\w+|advice\.\w+|init\.defaultbranch|"
    r"diff\.(?:algorithm|renames|context|mnemonicprefix|noprefix)|pull\.\w+|push\.default|"
    r"merge\.conflictstyle|commit\.gpgsign|tag\.gpgsign|status\.\w+|column\.\w+|safe\.directory|"
    r"i18n\.\w+|fetch\.prune|rebase\.autosquash|gc\.auto)(?:=|$)",
    re.IGNORECASE,
)
_READS_CONFIG: Final = word_set(
    """
    --get --get-all --get-regexp --get-urlmatch --list -l get list
    """
)
_TRANSPORT: Final = re.compile(r"[a-z][\w+.-]*::", re.IGNORECASE)
_REMOTES: Final = word_set(
    """
    clone fetch pull push ls-remote remote archive
    """
)

_OPENS_EDITOR: Final = frozenset({"-e", "--edit", "edit"})

_ANYWHERE: Final = Options(
    names=(
        *("exec", "exec-path", "upload-pack", "receive-pack", "ext-diff", "textconv", "remote"),
        *("open-files-in-pager", "template", "config-env"),
    ),
    harmless=("text", "u", "up"),
)
_OF: Final[dict[str, Options]] = {
    "clone": Options("cu", ("config", "recurse-submodules", "separate-git-dir"), valued="obj"),
    "grep": Options("O", valued="eABCmf"),
    "rebase": Options("xi", ("interactive", "exec"), valued="sXC"),
    "rm": Options("r"),
    "bisect": Options(prefixes=("run", "replay", "view", "visualize")),
    "init": Options("", ("template", "separate-git-dir")),
    "checkout": Options("", ("recurse-submodules",), harmless=("recurse",)),
}


def git_problem(words: Sequence[str]) -> str | None:
    """Return why the arguments of git are refused, as a clause, or None."""
    rest, problem = _without_globals(words)
    if problem is not None or not rest:
        return problem
    subcommand, arguments = rest[0], rest[1:]
    if subcommand not in _SUBCOMMANDS:
        return "its subcommand starts other programs, deletes files, or is not known"
    options = _OF.get(subcommand, Options())
    if refused_option(options, arguments) or refused_option(_ANYWHERE, arguments):
        return "one of its options starts other programs, or deletes or overwrites files"
    if subcommand in _REMOTES and any(map(_names_helper, arguments)):
        return "an address names a helper program"
    if subcommand == "config" and _changes_setting(arguments):
        return "it changes a setting that can start other programs"
    return None


def _without_globals(words: Sequence[str]) -> tuple[Sequence[str], str | None]:
    """Return the words from the subcommand on; options in front of it are looked at."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        if words[at] == "-C" or (
            words[at] == "-c" and _SETTINGS.match(words[at + 1] if at + 1 < len(words) else "")
        ):
            at += 2
        elif words[at] in _ALONE:
            at += 1
        else:
            return (), "an option before its subcommand changes its configuration"
    return words[at:], None


def _names_helper(word: str) -> bool:
    return _TRANSPORT.match(word.rpartition("=")[2]) is not None


def _changes_setting(arguments: Sequence[str]) -> bool:
    if not _OPENS_EDITOR.isdisjoint(arguments):
        return True
    if not _READS_CONFIG.isdisjoint(arguments):
        return False
    operands = [word for word in arguments if not word.startswith("-")]
    return len(operands) > 1 and _SETTINGS.match(operands[0]) is None
