"""Named entries that are listed and used while they change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from kinwire.managers.entry_table import EntryKind, EntryTable
from kinwire.managers.listing import Listing
from kinwire.rpc import codec
from kinwire_protocols.jsonrpc.errors import InvalidParamsError

KIND = EntryKind("Pump", "a name", "Remove the other pump first.", ValueError)


@dataclass
class Pump:
    """An entry whose protocol is nobody's."""

    definition: dict[str, Any]


@dataclass
class Pumps:
    """A table, and how often it has said that it has changed."""

    changes: int = 0
    table: EntryTable[Pump] = field(init=False)

    def __post_init__(self) -> None:
        listing = Listing("pumps/list", "pumps", size=2, key=b"")
        self.table = EntryTable(KIND, listing, self.changed)

    def changed(self) -> None:
        self.changes += 1

    def add(self, *names: str) -> None:
        for name in names:
            self.table.add(name, pump(name))

    def listed(self) -> list[str]:
        return [entry["name"] for page in self.pages() for entry in page["pumps"]]

    def pages(self) -> Iterator[dict[str, Any]]:
        cursor = None
        while True:
            page = self.table.page(cursor)
            yield page
            cursor = page.get("nextCursor")
            if cursor is None:
                return


def pump(name: str, **members: object) -> Pump:
    return Pump({"name": name, **members})


def test_entries_are_listed_and_found_until_they_are_removed() -> None:
    pumps = Pumps()
    pumps.add("b", "a", "c")
    assert pumps.listed() == ["b", "a", "c"]
    assert pumps.table.entries["a"].definition == {"name": "a"}
    pumps.table.remove("a")
    assert pumps.listed() == ["b", "c"]
    assert list(pumps.table.entries) == ["b", "c"]
    with pytest.raises(KeyError):
        pumps.table.remove("a")
    assert pumps.changes == 4


def test_a_name_in_use_is_refused() -> None:
    pumps = Pumps()
    pumps.add("a", "b")
    expected = (
        "Pump 'a': expected a name that is free, got one in use. Remove the other pump first."
    )
    for come in ({"a": pump("a")}, {"c": pump("c"), "a": pump("a")}):
        with pytest.raises(ValueError, match=f"^{expected}$"):
            pumps.table.replace({"b"}, come)
    assert pumps.listed() == list(pumps.table.entries) == ["a", "b"]
    assert pumps.changes == 2


def test_an_entry_that_json_cannot_hold_is_refused_and_the_rest_with_it() -> None:
    pumps = Pumps()
    pumps.add("a")
    with pytest.raises(ValueError, match=r"^Pump 'c': "):
        pumps.table.replace({"a"}, {"b": pump("b"), "c": pump("c", size=object())})
    assert pumps.listed() == list(pumps.table.entries) == ["a"]
    assert pumps.changes == 1


def test_many_entries_change_in_one_step() -> None:
    pumps = Pumps()
    pumps.add("a", "b", "c")
    pumps.table.replace({"a", "b"}, {"b": pump("b", size=2), "d": pump("d")})
    assert pumps.listed() == ["b", "c", "d"]
    assert set(pumps.table.entries) == {"b", "c", "d"}
    assert pumps.table.entries["b"].definition["size"] == 2
    assert pumps.changes == 4
    with pytest.raises(KeyError):
        pumps.table.replace({"a"}, {"e": pump("e")})
    assert "e" not in pumps.table.entries


def test_no_change_is_reported_if_what_is_listed_is_the_same() -> None:
    pumps = Pumps()
    pumps.add("a", "b", "c")
    again = {name: pump(name) for name in "abc"}
    pumps.table.replace(set("abc"), again)
    assert pumps.changes == 3
    assert pumps.table.entries["b"] is again["b"]


def test_a_page_that_has_not_changed_is_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pumps, encoded = Pumps(), list[object]()
    plain = codec.encode

    def counted(value: Any) -> bytes:
        encoded.append(value)
        return plain(value)

    monkeypatch.setattr(codec, "encode", counted)
    pumps.add("a", "b", "c")
    first = list(pumps.pages())
    encoded.clear()
    assert all(page is before for page, before in zip(pumps.pages(), first, strict=True))
    assert encoded == []
    pumps.add("d")
    assert len(list(pumps.pages())) == len(encoded) == 2


def test_a_cursor_of_somebody_else_is_refused() -> None:
    with pytest.raises(InvalidParamsError, match="pumps/list#/cursor: expected a cursor"):
        Pumps().table.page("1.0")


def test_who_asks_for_an_unknown_name_gets_help() -> None:
    pumps = Pumps()
    pumps.add("upper_pump", "lower_pump")
    assert pumps.table.near("uper_pump") == "Did you mean 'upper_pump'?"
    assert pumps.table.near("x") == "pumps/list names those there are."
