"""The tables of `docs/mcpl.md` name the fields of the objects that callbacks receive."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from kinwire import mcpl
from kinwire.mcpl import McplHost, McplServer
from tests.each import each
from tests.runtime.mcpl.fixtures_pairs import live_pair

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


@each("name", OBJECTS)
def test_the_guide_lists_every_field(name: str) -> None:
    fields = {f"{name}.{one.name}" for one in dataclasses.fields(getattr(mcpl, name))}
    assert {one for one in fields_in_the_guide() if one.startswith(f"{name}.")} == fields


def test_the_guide_lists_only_these_objects() -> None:
    assert {one.partition(".")[0] for one in fields_in_the_guide()} == {*OBJECTS}


@pytest.mark.anyio
async def test_the_guide_lists_attributes_that_peers_have() -> None:
    section = GUIDE.read_text(encoding="utf-8").partition("## The other side as an object")[2]
    table, _, sentence = section.partition("\n## ")[0].partition("\nA server gets")
    of_server = [name for row in re.findall(r"^\| `.*? \|", table, re.M) for name in _names(row)]
    of_channels = _names(table.partition("`ServerChannels` |")[2].partition("|")[0])
    of_scopes = _names(table.partition("`ServerScopes` |")[2].partition("|")[0])
    of_host, _, of_host_channels = sentence.partition("It has")[2].partition("(")
    live = McplServer(feature_sets={})
    async with live_pair(live, McplHost()) as (_, server):
        (host,) = live.hosts
        for owner, names, least in (
            (server, of_server, 12),
            (server.channels, of_channels, 6),
            (server.scopes, of_scopes, 3),
            (host, _names(of_host), 7),
            (host.channels, _names(of_host_channels), 3),
        ):
            assert len(names) >= least
            assert [name for name in names if not hasattr(owner, name)] == []


def _names(text: str) -> list[str]:
    return re.findall(r"`(\w+)", text)
