"""Null in a field that may be absent and takes no null: it is read as absent. Pure."""

from __future__ import annotations

__all__ = ("nulls_read_as_absent",)

from collections.abc import Iterator
from typing import cast

from kinwire.rpc.codec import is_object
from kinwire_protocols.problems import Problem


def nulls_read_as_absent(value: object, written: object, place: str) -> Iterator[Problem]:
    """Yield each null in `value` that is not in what was `written` after it was read."""
    if is_object(value) and is_object(written):
        for name, inner in value.items():
            below = f"{place}/{name.replace('~', '~0').replace('/', '~1')}"
            if name in written:
                yield from nulls_read_as_absent(inner, written[name], below)
            elif inner is None:
                yield Problem(below, "a value, or no field", "null")
    elif isinstance(value, list) and isinstance(written, list):
        pairs = zip(cast("list[object]", value), cast("list[object]", written), strict=False)
        for index, (one, other) in enumerate(pairs):
            yield from nulls_read_as_absent(one, other, f"{place}/{index}")
