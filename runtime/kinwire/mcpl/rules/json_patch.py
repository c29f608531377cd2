"""JSON Patch (RFC 6902): all of it or nothing, and no value is ever changed in place.

What comes out shares with what went in all that was not touched, so a state costs no more than
what is new in it. Containers that a patch has made itself are changed directly, so that time grows
with the patch and not with patch times state. A copy shares all of its source, so it costs nothing
but makes the state larger: copies count in bytes of JSON.
"""

from __future__ import annotations

__all__ = (
    "MOST_COPIED_BYTES",
    "MOST_OPERATIONS",
    "PatchError",
    "Patched",
    "must_be_known",
    "patched",
)

import re
from collections.abc import Callable, Sequence
from sys import getsizeof
from typing import Any, NamedTuple, cast

from kinwire.support.json_values import json_size, same, steps_of
from kinwire_protocols.base import UnknownVariant
from kinwire_protocols.mcpl.models import (
    PatchAdd,
    PatchCopy,
    PatchMove,
    PatchOperation,
    PatchRemove,
    PatchReplace,
    PatchTest,
)

MOST_OPERATIONS = 1000
"""Operations in one patch."""

MOST_COPIED_BYTES = 4 * 1024 * 1024
"""Bytes of JSON that the copies of one patch may add: as much as a state may have."""

_DEEPEST = 64  # parts of a pointer
_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")  # RFC 6901: no sign, no zero in front
_BAD_ESCAPE = re.compile(r"~(?![01])")


class PatchError(ValueError):
    """A patch cannot be applied; no part of it was. The text begins with a JSON pointer."""


class Patched(NamedTuple):
    """The result of a patch."""

    document: Any
    copied: int
    """Bytes of the containers that were copied because something in them has changed."""


def patched(
    document: Any, operations: Sequence[PatchOperation], *, room: int = MOST_COPIED_BYTES
) -> Patched:
    """Return `document` with the operations applied in order.

    `room` is how many bytes of JSON copies may add to it. What the patch has removed before makes
    more room.

    Raises:
        PatchError: an operation cannot be applied; the message says which, where, and why.
    """
    must_be_known(operations)
    if len(operations) > MOST_OPERATIONS:
        raise PatchError(
            f"/patch: expected at most {MOST_OPERATIONS} operations, got {len(operations)}. "
            "Send the whole state as data."
        )
    work = _Work(document, room)
    for number, operation in enumerate(operations):
        try:
            _ACTS[operation.op](work, operation)
        except _ApplyError as error:
            raise PatchError(f"/patch/{number}/{error}") from None
    return Patched(work.document, work.copied)


def must_be_known(operations: Sequence[PatchOperation]) -> None:
    """Raise a PatchError if JSON Patch does not define one of the operations."""
    for number, operation in enumerate(operations):
        if isinstance(operation, UnknownVariant):
            raise PatchError(f"/patch/{number}/op: expected one of {', '.join(_ACTS)}.")


class _ApplyError(Exception):
    """Why an operation cannot be applied; the text begins with the field that is at fault."""


class _Work:
    """A document while it is patched."""

    def __init__(self, document: Any, room: int) -> None:
        self.document = document
        self.copied = 0  # bytes of the containers that were changed
        # Containers that this patch has made and nothing else shares, by id. What contains one of
        # them is one, too. Nothing else is made while a patch is applied, so an id that is free
        # again can only come back to one of these.
        self._own: set[int] = set()
        self._room = room  # bytes of JSON that copies may still add
        self._gone: list[Any] = []  # removed, and not yet counted as room

    def get(self, pointer: str, member: str = "path") -> Any:
        """Return the value at a place."""
        value = self.document
        for token in _tokens(pointer, member):
            value = value[_key(value, token, member)]
        return value

    def add(self, pointer: str, value: Any) -> None:
        """Add a value at a place: set it in an object, or insert it into an array."""
        tokens = _tokens(pointer, "path")
        if not tokens:
            self._put_whole(value)
            return
        container = self._container(tokens)
        if isinstance(container, list):
            entries = cast("list[object]", container)
            entries.insert(_insertion(entries, tokens[-1]), value)
        else:
            members = _members(container, "path", tokens[-1])
            if tokens[-1] in members:
                self._gone.append(members[tokens[-1]])
            members[tokens[-1]] = value

    def remove(self, pointer: str, member: str = "path") -> Any:
        """Remove the value at a place and return it."""
        tokens = _tokens(pointer, member)
        if not tokens:
            raise _ApplyError(f"{member}: expected a place within the state, got the whole of it")
        container = self._container(tokens, member)
        key = _key(container, tokens[-1], member)  # also says whether it is a container
        return container.pop(key)

    def drop(self, pointer: str) -> None:
        """Remove the value at a place for good."""
        self._gone.append(self.remove(pointer))

    def replace(self, pointer: str, value: Any) -> None:
        """Replace the value at a place."""
        tokens = _tokens(pointer, "path")
        if not tokens:
            self._put_whole(value)
            return
        container = self._container(tokens)
        key = _key(container, tokens[-1], "path")
        self._gone.append(container[key])
        container[key] = value

    def copy(self, value: Any) -> Any:
        """Return a value to add at a second place; this patch changes neither place in the other.

        Raises:
            _ApplyError: the state would become too large.
        """
        self._take_room(value)
        shared = [value]
        while shared:
            one = shared.pop()
            if id(one) in self._own:
                self._own.remove(id(one))
                shared += one.values() if isinstance(one, dict) else one
        return value

    def _take_room(self, value: Any) -> None:
        size = json_size(value, self._room)
        if size > self._room:
            self._room += sum(json_size(one, MOST_COPIED_BYTES) for one in self._gone)
            self._gone.clear()
            size = json_size(value, self._room)
        if size > self._room:
            raise _ApplyError(
                f"from: expected copies of at most {max(self._room, 0)} more bytes of JSON, "
                "got more. Send the whole state as data"
            )
        self._room -= size

    def _put_whole(self, value: Any) -> None:
        self._gone.append(self.document)
        self.document = value

    def _container(self, tokens: list[str], member: str = "path") -> Any:
        """Return the container of a place, as a copy that may be changed."""
        self.document = container = self._owned(self.document)
        for token in tokens[:-1]:
            key = _key(container, token, member)
            container[key] = inner = self._owned(container[key])
            container = inner
        return container

    def _owned(self, value: Any) -> Any:
        if id(value) in self._own or not isinstance(value, dict | list):
            return value
        mine: Any = (
            dict(cast("dict[str, Any]", value))
            if isinstance(value, dict)
            else list(cast("list[object]", value))
        )
        self._own.add(id(mine))
        self.copied += getsizeof(mine)
        return mine


def _add(work: _Work, operation: PatchAdd) -> None:
    work.add(operation.path, operation.value)


def _remove(work: _Work, operation: PatchRemove) -> None:
    work.drop(operation.path)


def _replace(work: _Work, operation: PatchReplace) -> None:
    work.replace(operation.path, operation.value)


def _move(work: _Work, operation: PatchMove) -> None:
    if operation.path == operation.from_:
        work.get(operation.from_, "from")
        return
    if operation.path.startswith(f"{operation.from_}/"):
        raise _ApplyError(f"path: expected a place outside of {operation.from_!r}, got one in it")
    work.add(operation.path, work.remove(operation.from_, "from"))


def _copy(work: _Work, operation: PatchCopy) -> None:
    work.add(operation.path, work.copy(work.get(operation.from_, "from")))


def _test(work: _Work, operation: PatchTest) -> None:
    if not same(work.get(operation.path), operation.value):
        raise _ApplyError(f"value: expected what is at {operation.path!r:.80}, got another value")


_ACTS: dict[str, Callable[[_Work, Any], None]] = {
    "add": _add,
    "remove": _remove,
    "replace": _replace,
    "move": _move,
    "copy": _copy,
    "test": _test,
}


def _tokens(pointer: str, member: str) -> list[str]:
    """Return the parts of a JSON pointer (RFC 6901)."""
    if pointer and not pointer.startswith("/"):
        raise _ApplyError(f"{member}: expected a pointer that begins with /, got {pointer!r:.80}")
    if _BAD_ESCAPE.search(pointer):
        raise _ApplyError(f"{member}: expected ~0 or ~1 behind each ~, got {pointer!r:.80}")
    steps = steps_of(pointer)
    if len(steps) > _DEEPEST:
        raise _ApplyError(f"{member}: expected at most {_DEEPEST} parts, got {len(steps)}")
    return steps


def _key(container: Any, token: str, member: str) -> Any:
    """Return the key or index of an existing place in a container."""
    if isinstance(container, list):
        size = len(cast("list[object]", container))
        if _INDEX.fullmatch(token) and int(token) < size:
            return int(token)
        raise _ApplyError(f"{member}: expected an index below {size}, got {token!r:.40}")
    if token in _members(container, member, token):
        return token
    raise _ApplyError(f"{member}: expected a member that is there, got {token!r:.80}")


def _insertion(entries: list[Any], token: str) -> int:
    if token == "-":
        return len(entries)
    if _INDEX.fullmatch(token) and int(token) <= len(entries):
        return int(token)
    raise _ApplyError(f"path: expected - or an index up to {len(entries)}, got {token!r:.40}")


def _members(container: Any, member: str, token: str) -> dict[str, Any]:
    if isinstance(container, dict):
        return cast("dict[str, Any]", container)
    raise _ApplyError(f"{member}: expected an object or array around {token!r:.80}, got neither")
