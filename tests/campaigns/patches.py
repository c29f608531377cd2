"""Patches of every kind against states of every kind: a new state or a PatchError, and no more."""

from __future__ import annotations

__all__ = ("patches",)

import json
import random
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from typing import Any

from kinwire.mcpl.rules.json_patch import PatchError, patched
from kinwire_protocols.mcpl import models as m

_NAMES = ("a", "b", "0", "1", "-", "length", "", "~1", "~0", "~", "01", "-1", "é")
_KINDS: dict[str, Any] = {
    "add": m.PatchAdd,
    "remove": m.PatchRemove,
    "replace": m.PatchReplace,
    "move": m.PatchMove,
    "copy": m.PatchCopy,
    "test": m.PatchTest,
}


def patches(chance: random.Random, goes_on: Callable[[], bool], counted: Counter[str]) -> None:
    """Apply patches as long as there is time."""
    while goes_on():
        state = _value(chance, 4)
        before = deepcopy(state)
        operations = [_operation(chance) for _ in range(chance.randrange(1, 12))]
        try:
            after = patched(state, operations).document
        except PatchError:
            counted["refused"] += 1
        else:
            counted["applied"] += 1
            json.dumps(after)  # no cycles
        assert state == before, (state, before, operations)


def _operation(chance: random.Random) -> Any:
    op = chance.choice([*_KINDS])
    more: dict[str, Any] = {"path": _pointer(chance)}
    if op in ("add", "replace", "test"):
        more["value"] = _value(chance, 2)
    if op in ("move", "copy"):
        more["from_"] = _pointer(chance)
    return _KINDS[op](op=op, **more)


def _pointer(chance: random.Random) -> str:
    return "".join(f"/{chance.choice(_NAMES)}" for _ in range(chance.randrange(4)))


def _value(chance: random.Random, depth: int) -> Any:
    kind = chance.randrange(8 if depth else 6)
    if kind < 6:
        return (None, True, 1, 1.5, "text", "")[kind]
    size = chance.randrange(4)
    if kind == 6:
        return [_value(chance, depth - 1) for _ in range(size)]
    return {chance.choice(_NAMES): _value(chance, depth - 1) for _ in range(size)}
