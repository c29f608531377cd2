"""Entries of a log as a chain of hashes: each has the hash of the one before it.

A change, removal, swap or insertion breaks the chain, except a removal of the newest entries: what
is kept elsewhere of the head shows that. The hash is SHA-256 over the canonical JSON of an object
of `event`, `prev`, `seq` and `subject`: keys sorted, without white space, in ASCII. It needs no
secret, so a writer that may change all entries can also write a new chain.
"""

from __future__ import annotations

__all__ = (
    "START",
    "CanonicalJson",
    "ChainCheck",
    "ChainHead",
    "canonical_json",
    "chained",
    "head_of",
)

import json
import json.encoder
from collections.abc import Callable
from hashlib import sha256
from json.encoder import encode_basestring_ascii as _quoted
from typing import Any, Final, NamedTuple

from kinwire.rpc.codec import is_object
from kinwire.storage.inputs import JsonText
from kinwire_protocols.base import JsonObject


class ChainHead(NamedTuple):
    """The newest entry of a chain."""

    seq: int
    """Counts from 1; 0 before the first entry."""
    hash: str
    """Hexadecimal."""


START: Final = ChainHead(0, "0" * 64)
"""The head of a chain without entries."""

_FIELDS = {"seq", "prev", "hash", "event"}


class CanonicalJson(str):
    """A text that is canonical JSON already."""

    __slots__ = ()


def _encoder() -> Callable[[Any], str]:
    """Return what writes canonical JSON.

    `JSONEncoder.encode` makes the encoder of the standard library again for each value, which takes
    longer than to use it.
    """
    whole = json.JSONEncoder(
        sort_keys=True, separators=(",", ":"), allow_nan=False, check_circular=False
    )
    make: Any = getattr(json.encoder, "c_make_encoder", None)
    if make is None:  # not CPython
        return whole.encode
    encode = make(None, whole.default, _quoted, None, ":", ",", True, False, False)
    return lambda value: "".join(encode(value, 0))


canonical_json = _encoder()
"""Return a value as JSON with sorted keys, without white space, in ASCII.

Raises:
    TypeError, ValueError, RecursionError: JSON cannot hold it.
"""


def chained(
    head: ChainHead, subject: str, event: JsonObject | CanonicalJson
) -> tuple[ChainHead, JsonText]:
    """Return the entry of `event` that comes after `head`, as JSON, and the new head.

    Raises:
        TypeError, ValueError: JSON cannot hold the event.
    """
    seq = head.seq + 1
    text = event if isinstance(event, str) else canonical_json(event)
    new = ChainHead(seq, _digest(seq, head.hash, subject, text))
    entry = f'{{"seq":{seq},"prev":"{head.hash}","hash":"{new.hash}","event":{text}}}'
    return new, JsonText(entry)


def head_of(value: object) -> ChainHead | None:
    """Return the head of a chain that ends with an entry; None if it is not one."""
    if not is_object(value) or set(value) != _FIELDS:
        return None
    match value:
        case {"seq": int(seq), "prev": str(), "hash": str(digest), "event": dict()}:
            return ChainHead(seq, digest)
        case _:
            return None


def _digest(seq: int, prev: str, subject: str, event: str) -> str:
    """Return the hash of an entry; `event` is canonical JSON."""
    text = f'{{"event":{event},"prev":{_quoted(prev)},"seq":{seq},"subject":{_quoted(subject)}}}'
    return sha256(text.encode("ascii")).hexdigest()


class ChainCheck:
    """Finds what is wrong in a chain, entry by entry.

    `from_start` is whether the first entry must be the first of the chain, which it is not where
    retention has removed older ones.
    """

    def __init__(self, *, from_start: bool) -> None:
        self.head: ChainHead | None = START if from_start else None
        """The last entry that was checked; None before the first one."""
        self.first: int | None = None
        """The `seq` of the first entry that was checked."""

    def problem(self, subject: str, value: object) -> tuple[int, str] | None:
        """Return what is wrong with the next entry: its `seq`, and a clause; None if nothing is.

        After a problem the check continues from the entry as it claims to be.
        """
        before, found = self.head, head_of(value)
        expected = 1 if before is None else before.seq + 1
        if found is None:
            return expected, "is not an entry of the chain"
        self.head = found
        self.first = found.seq if self.first is None else self.first
        reason = _reason(before, found, subject, value)
        return None if reason is None else (min(expected, found.seq), reason)


def _reason(before: ChainHead | None, found: ChainHead, subject: str, value: Any) -> str | None:
    if before is not None and found.seq != before.seq + 1:
        return f"expected seq {before.seq + 1}, got {found.seq}: entries are missing or moved"
    if before is not None and value["prev"] != before.hash:
        return "does not follow the entry before it"
    if _digest(found.seq, value["prev"], subject, canonical_json(value["event"])) != found.hash:
        return "was changed: its hash is another one"
    return None
