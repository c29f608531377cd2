"""Little languages in arguments: programs of awk, modes of chmod, text for SQL clients."""

from __future__ import annotations

__all__ = ("awk_problem", "mode_problem", "sql_client_problem")

import re
from typing import Final

_AWK_STARTS: Final = re.compile(
    r"\bsystem[\s\\]*\(|\bgetline\b"
    r"|@[\s\\]*(?:load|include|\w+[\s\\]*\()"  # extensions, and calls of what a variable names
    r"|/inet"
)
_AWK_PRINTS: Final = re.compile(r"\bprintf?\b")
_AWK_WRITES: Final = re.compile(r">|[^|]\|(?!\|)")
_AWK_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_SQL_STARTS: Final = re.compile(
    r"^[ \t]*\.(?!(?:tables|schema|databases|indexes|indices|headers|mode|dump|help|show)\b)"
    r"|\\[!a-z]"
    r"|\b(?:system|sys_exec|sys_eval|xp_cmdshell|load_extension|writefile|edit)\b|\bfts3_tokenizer\b|\bprogram\b|\b(?:out|dump)file\b|\bpg_(?:read|write|ls)\w*|\blo_\w+",
    re.IGNORECASE | re.MULTILINE,
)
_MODE_NUMBER: Final = re.compile(r"0*([0-7]{1,5})")


def awk_problem(program: str) -> str | None:
    """Return what in a program of awk reaches beyond its input, or None."""
    if "\0" in program or _AWK_STARTS.search(program):
        return "its program starts commands or reads their output"
    # With a slash there may be a regex, which may have one half of the quotes in it.
    plain = program if "/" in program else _AWK_STRING.sub('""', program)
    prints = _AWK_PRINTS.search(plain)
    if prints is not None and _AWK_WRITES.search(plain, prints.end()):
        return "its program writes to files or commands"
    return None


def sql_client_problem(text: str) -> str | None:
    """Return what in text for a client of a database starts programs or touches files."""
    return "its text has commands of the client" if _SQL_STARTS.search(text) else None


def mode_problem(mode: str) -> str | None:
    """Return why a mode of chmod is refused, or None."""
    number = _MODE_NUMBER.fullmatch(mode)
    if number is not None:
        bits = int(number[1], 8)
        return "the mode is setuid, setgid or writable by everybody" if bits & 0o6002 else None
    symbolic = re.fullmatch(r"[ugoa]*(?:[-+=][rwxXstugo]*)+(?:,.*)?", mode)
    if symbolic and re.search(r"[+=][rwxXt]*s|(?:^|,)[ug]*[oa][ugoa]*[+=][rxXst]*w", mode):
        return "the mode is setuid, setgid or writable by everybody"
    return None
