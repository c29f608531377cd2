"""How names and keys of ours are spelled in NATS, whose subjects take few signs.

A slash in a key begins a new word of the subject, so the server narrows a scan to such a prefix.
"""

from __future__ import annotations

__all__ = (
    "filter_of",
    "key_of",
    "log_stream",
    "quoted",
    "records_stream",
    "subject_of",
    "unquoted",
)

import re

_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
_ESCAPED = re.compile(r"=([0-9A-F]{2})")


def records_stream(store: str, name: str) -> tuple[str, str]:
    """Return stream and subject prefix of records. Names of ours have no capital letters."""
    return f"KV_{store}_R_{name}", f"$KV.{store}_R_{name}."


def log_stream(store: str, name: str) -> tuple[str, str]:
    """Return stream and subject prefix of a log."""
    return f"{store}_L_{name}", f"{store}_L_{name}."


def quoted(text: str) -> str:
    """Return `text` in letters, digits, -, _ and =."""
    return "".join(chr(byte) if byte in _PLAIN else f"={byte:02X}" for byte in text.encode())


def unquoted(text: str) -> str:
    """Return what was given to `quoted`."""
    plain = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)
    return plain.encode("latin-1").decode()


def subject_of(key: str) -> str:
    """Return the words that stand for `key`; none of them is empty, whatever the key."""
    return "k" + "./".join(map(quoted, key.split("/")))


def key_of(subject: str) -> str:
    """Return what was given to `subject_of`.

    Raises:
        ValueError: `subject` was not returned by `subject_of`.
    """
    key = "/".join(map(unquoted, subject[1:].split("./")))
    if subject_of(key) != subject:
        raise ValueError("the subject does not encode a key")
    return key


def filter_of(prefix: str) -> str:
    """Return the narrowest filter that lets all keys through that begin with `prefix`."""
    head, slash, _ = prefix.rpartition("/")
    return f"{subject_of(head)}.>" if slash else ">"
