"""The tables of `docs/mcpl.md` name the fields of the objects that callbacks receive."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from kinwire import mcpl

GUIDE = Path(__file__).parents[3] / "docs" / "mcpl.md"

OBJECTS = (
    "ChannelMessage",
    "Draft",
    "Injection",
    "MessageDecision",
    "ModelAnswer",
    "ModelRequest",
    "PushedEvent",
    "ScopeAnswer",
    "ScopeRequest",
    "UserTurn",
    "Verdict",
)


def fields_in_the_guide() -> set[str]:
    """Return what the tables name, as CLASS.FIELD."""
    section = GUIDE.read_text(encoding="utf-8").partition("## Objects in callbacks")[2]
    found: set[str] = set()
    owner = ""
    for line in section.partition("\n## ")[0].splitlines():
        if line.startswith("| `"):
            names = re.findall(r"`([\w.]+)`", line.split("|")[1])
            found.update(name if "." in name else f"{owner}.{name}" for name in names)
        elif classes := re.findall(r"`([A-Z]\w+)`", line):
            owner = classes[-1]
    return found


@pytest.mark.parametrize("name", OBJECTS)
def test_the_guide_lists_every_field(name: str) -> None:
    fields = {f"{name}.{one.name}" for one in dataclasses.fields(getattr(mcpl, name))}
    assert {one for one in fields_in_the_guide() if one.startswith(f"{name}.")} == fields


def test_the_guide_lists_only_these_objects() -> None:
    assert {one.partition(".")[0] for one in fields_in_the_guide()} == {*OBJECTS}
