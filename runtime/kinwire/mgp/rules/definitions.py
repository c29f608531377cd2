"""What is suspicious in the definition of a tool: texts that are written to steer a model.

A definition reaches the model whole, so all of it is read: name, description, names and values in
the schemas, and fields that no version of MCP has. It goes by classes of words in one sentence, so
it finds usual attacks and no proof: a definition without flags may still lie.
"""

from __future__ import annotations

__all__ = ("definition_flags",)

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final, TypeAlias, TypeGuard

from kinwire.mgp.rules.hidden_text import hidden_in, plain_text
from kinwire.mgp.rules.steering import STEERING
from kinwire.rpc.codec import is_object
from kinwire.support.json_values import json_size, pointer_below
from kinwire_protocols.base import JsonObject

_MOST_FLAGS = 20
_MOST_VALUES = 20_000
_WORD = 64  # characters of a text whose flags are kept
_MOST_CHARACTERS = 100_000
_LONGEST = 8000  # characters; of 527 real tools the longest description has 3866
_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./:-]{0,127}")
_EVENT_TOOLS: Final = frozenset(
    f"events_{name}" for name in ("subscribe", "unsubscribe", "list", "pause", "resume", "update")
)
_RESERVED: Final = re.compile(r"(mgp|mcpl?|mcpe)[./].*|events_\w+|redeem|await|mcp-lite")

_Place: TypeAlias = "tuple[_Place, str | int] | None"
"""The place around a value, and its name or number there; None for the definition itself."""


def definition_flags(definition: JsonObject, *, has_events: bool = False) -> tuple[str, ...]:
    """Return what is suspicious in an entry of `tools/list`: places with the reason, at most 20.

    An empty tuple means that nothing was found. The names of tools of MCP Events are reserved for
    a server that offers it, which `has_events` says.
    """
    found = dict.fromkeys(_flags(definition, has_events=has_events))
    return tuple(found)[:_MOST_FLAGS]


def _flags(definition: JsonObject, *, has_events: bool) -> Iterator[str]:
    name = definition.get("name")
    if isinstance(name, str) and not (has_events and name in _EVENT_TOOLS):
        yield from (f"/name: {reason}" for reason in _of_name(name))
    if json_size(definition, _MOST_CHARACTERS) > _MOST_CHARACTERS:
        yield f": is larger than {_MOST_CHARACTERS} bytes"
    for place, text, is_key in _texts(definition):
        # Most texts of a list are words such as `type` and `string`.
        reasons = _of_word(text, is_key) if len(text) <= _WORD else _of_text(text, is_key)
        for reason in reasons:
            yield f"{_pointer(place)}: {reason}"


def _of_text(text: str, is_key: bool) -> Iterator[str]:
    yield from hidden_in(text)
    plain = plain_text(text)
    # Names of parameters are words, too: `content_of_ssh_id_rsa`.
    spoken = re.sub(r"[_-]+", " ", plain) if is_key else plain
    yield from STEERING.reasons(plain, spoken)
    if len(text) > _LONGEST:
        yield f"is longer than {_LONGEST} characters"


@lru_cache(maxsize=4096)
def _of_word(text: str, is_key: bool) -> tuple[str, ...]:
    return tuple(_of_text(text, is_key))


def _of_name(name: str) -> Iterator[str]:
    if not _NAME.fullmatch(name) or ".." in name or "//" in name:
        yield "is not a name of a tool"
    if _RESERVED.fullmatch(plain_text(name)):
        yield "is a name that a protocol reserves"


def _texts(definition: JsonObject) -> Iterator[tuple[_Place, str, bool]]:
    """Yield each string with its place, names of fields included."""
    todo: list[tuple[Any, _Place]] = [(definition, None)]
    left = _MOST_CHARACTERS
    for _ in range(_MOST_VALUES):
        if not todo or left < 0:
            break
        value, place = todo.pop()
        if isinstance(value, str):
            left -= len(value)
            yield place, value[: _LONGEST + 1], False
        elif is_object(value):
            for key, inner in reversed(value.items()):
                at = place, key
                todo.append((inner, at))
                left -= len(key)
                yield at, key[: _LONGEST + 1], True
        elif _is_array(value):
            items = [(inner, (place, number)) for number, inner in enumerate(value)]
            todo += reversed(items)


def _pointer(place: _Place) -> str:
    steps = list[str]()
    while place is not None:
        place, step = place
        steps.append(pointer_below("", str(step)[:60]))
    return "".join(reversed(steps))


def _is_array(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list)
