"""A list whose pages are read while it changes."""

from __future__ import annotations

import json

import pytest
from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from kinwire.managers.listing import Listing
from kinwire.rpc.codec import encoded_reply
from kinwire.rpc.errors import UnsendableError
from tests.each import each


def listing(count: int, *, size: int = 2, method: str = "tools/list") -> Listing:
    made = Listing(method, "tools", size=size, key=b"secret")
    for number in range(count):
        add(made, str(number))
    return made


def add(to: Listing, name: str, **members: object) -> None:
    to.replace(set(), {name: {"name": name, **members}})


def names_on(page: dict[str, list[dict[str, str]]]) -> list[str]:
    return [entry["name"] for entry in page["tools"]]


def walk(made: Listing) -> list[list[str]]:
    pages, cursor = list[list[str]](), None
    while True:
        page = made.page(cursor)
        pages.append(names_on(page))
        cursor = page.get("nextCursor")
        if cursor is None:
            return pages


@each(
    ("count", "pages"),
    [
        (0, [[]]),
        (1, [["0"]]),
        (2, [["0", "1"]]),
        (3, [["0", "1"], ["2"]]),
        (5, [["0", "1"], ["2", "3"], ["4"]]),
    ],
)
def test_a_walk_sees_each_entry_once_and_in_order(count: int, pages: list[list[str]]) -> None:
    assert walk(listing(count)) == pages


def test_the_last_page_has_no_cursor_at_all() -> None:
    assert "nextCursor" not in listing(2).page(None)


def test_a_page_ends_at_about_a_megabyte_and_has_one_entry_at_least() -> None:
    made = Listing("tools/list", "tools", size=100, key=b"")
    for number, length in enumerate([600_000, 600_000, 10, 2_000_000, 10]):
        add(made, str(number), description="x" * length)
    assert walk(made) == [["0"], ["1", "2"], ["3"], ["4"]]


def test_a_page_is_made_once_and_again_when_the_list_changes() -> None:
    made = listing(3)
    first = made.page(None)
    assert made.page(None) is first
    add(made, "3")
    assert made.page(None) is not first


def test_a_page_goes_out_as_the_bytes_that_were_kept() -> None:
    page = listing(3).page(None)
    reply = json.loads(encoded_reply("a", page))
    assert reply == {"jsonrpc": "2.0", "id": "a", "result": page}


CURSOR = str(listing(3).page(None)["nextCursor"])


@each(
    "cursor",
    [
        "",
        "bogus",
        "2",
        CURSOR[:-1],
        CURSOR[1:],
        CURSOR.upper(),
        "+" + CURSOR,
        CURSOR + " ",
        "é",
        "f" * 100_000,
        listing(3, method="prompts/list").page(None)["nextCursor"],
        Listing("tools/list", "tools", size=2, key=b"another")._cursor(2),
    ],
)
def test_a_cursor_that_the_list_did_not_give_is_refused(cursor: str) -> None:
    with pytest.raises(ValueError, match="tools/list#/cursor: expected a cursor that this list"):
        listing(3).page(cursor)


def test_a_cursor_holds_when_the_entry_before_it_is_gone() -> None:
    made = listing(5)
    cursor = made.page(None)["nextCursor"]
    made.replace({"0", "1"}, {})
    assert names_on(made.page(cursor)) == ["2", "3"]


def test_a_cursor_behind_which_nothing_is_left_gives_an_empty_page() -> None:
    made = listing(3)
    cursor = made.page(None)["nextCursor"]
    made.replace({"2"}, {})
    assert made.page(cursor) == {"tools": []}


def test_nothing_changes_if_json_cannot_hold_one_of_the_entries() -> None:
    made = listing(1)
    with pytest.raises(UnsendableError, match=r"^'odd': "):
        made.replace({"0"}, {"1": {"name": "1"}, "odd": {"name": object()}})
    assert walk(made) == [["0"]]


def test_what_comes_again_keeps_its_place_and_is_a_change_only_if_it_is_another() -> None:
    made = listing(3, size=9)
    page = made.page(None)
    assert not made.replace({"1"}, {"1": {"name": "1"}})
    assert made.page(None) is page
    for changed in (1, True, 1.0, "1"):  # equal in Python, and different in JSON
        assert made.replace({"1"}, {"1": {"name": "1", "size": changed}})
        assert json.dumps(made.page(None)["tools"][1]["size"]) == json.dumps(changed)
    assert walk(made) == [["0", "1", "2"]]


def test_a_step_removes_and_adds() -> None:
    made = listing(3, size=9)
    assert made.replace({"0", "2"}, {"3": {"name": "3"}, "2": {"name": "2"}})
    assert walk(made) == [["1", "2", "3"]]
    assert not made.replace(set(), {})
    with pytest.raises(KeyError):
        made.replace({"1", "0"}, {"4": {"name": "4"}})
    assert walk(made) == [["1", "2", "3"]]


def test_old_cursors_do_not_pile_up_pages() -> None:
    made = listing(1200, size=1)
    walk(made)
    assert len(made._pages) <= 1000


class AWalkWhileTheListChanges(RuleBasedStateMachine):
    """Whatever is there during the whole walk is seen once; nothing is seen twice."""

    def __init__(self) -> None:
        super().__init__()
        self.list = Listing("tools/list", "tools", size=3, key=b"")
        self.present: set[str] = set()
        self.count = 0
        self.begin()

    def begin(self) -> None:
        self.cursor: str | None = None
        self.seen: list[str] = []
        self.stayed = set(self.present)
        self.over = False

    @rule()
    def add(self) -> None:
        name = str(self.count)
        self.count += 1
        add(self.list, name)
        self.present.add(name)

    @precondition(lambda self: self.present)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.present)))
        self.list.replace({name}, {})
        self.present.remove(name)
        self.stayed.discard(name)

    @precondition(lambda self: self.present)
    @rule(data=st.data(), size=st.integers(0, 2))
    def change(self, data: st.DataObject, size: int) -> None:
        """A changed definition keeps its place, so a walk sees it once."""
        name = data.draw(st.sampled_from(sorted(self.present)))
        self.list.replace({name}, {name: {"name": name, "size": size}})

    @rule()
    def read(self) -> None:
        if self.over:
            self.begin()
        page = self.list.page(self.cursor)
        self.seen.extend(names_on(page))
        self.cursor = page.get("nextCursor")
        self.over = self.cursor is None

    @invariant()
    def nothing_twice_and_nothing_lost(self) -> None:
        assert len(self.seen) == len(set(self.seen))
        if self.over:
            assert self.stayed <= set(self.seen)


TestAWalkWhileTheListChanges = AWalkWhileTheListChanges.TestCase
TestAWalkWhileTheListChanges.settings = settings()  # those of the profile
