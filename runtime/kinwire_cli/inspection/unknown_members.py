"""Members that this version of the protocol does not know: they survive, and mean something."""

from __future__ import annotations

__all__ = ("unknown_members",)

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import cast

from kinwire_protocols.base import Message
from kinwire_protocols.mcp import ToolInputSchema

_OPEN = (ToolInputSchema,)  # its members are keywords of JSON Schema


def unknown_members(message: Message) -> Counter[str]:
    """Return how often each occurs, by a pointer in which `*` is any item of a list."""
    return Counter(_walk(message, ""))


def _walk(value: object, pointer: str) -> Iterator[str]:
    if isinstance(value, Message):
        if isinstance(value, _OPEN):
            return
        yield from (f"{pointer}/{name}" for name in value.model_extra or ())
        for name, field in type(value).model_fields.items():
            yield from _walk(getattr(value, name), f"{pointer}/{field.alias or name}")
    elif isinstance(value, (list, tuple)):
        for item in cast("Sequence[object]", value):
            yield from _walk(item, f"{pointer}/*")
