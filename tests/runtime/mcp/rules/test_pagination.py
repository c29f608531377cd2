"""Pagination: a server's pages of a list that changes, and a client's way through them."""

from __future__ import annotations

import json
from sys import getrefcount

import pytest
from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from kinwire.mcp.rules.pagination import MAX_PAGES, Listing, Pages
from kinwire.rpc.codec import encoded_reply
from kinwire.rpc.errors import PaginationError, UnsendableError
from tests.each import each


def listing(count: int, *, size: int = 2, method: str = "tools/list") -> Listing:
    made = Listing(method, "tools", size=size, key=b"secret")
    for number in range(count):
        made.add(str(number), {"name": str(number)})
    return made


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
        made.add(str(number), {"name": str(number), "description": "x" * length})
    assert walk(made) == [["0"], ["1", "2"], ["3"], ["4"]]


def test_a_page_is_made_once_and_again_when_the_list_changes() -> None:
    made = listing(3)
    first = made.page(None)
    assert made.page(None) is first
    made.add("3", {"name": "3"})
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
    made.remove("1")
    made.remove("0")
    assert names_on(made.page(cursor)) == ["2", "3"]


def test_a_cursor_behind_which_nothing_is_left_gives_an_empty_page() -> None:
    made = listing(3)
    cursor = made.page(None)["nextCursor"]
    made.remove("2")
    assert made.page(cursor) == {"tools": []}


def test_an_entry_that_json_cannot_hold_is_not_added() -> None:
    made = listing(1)
    with pytest.raises(UnsendableError):
        made.add("odd", {"name": object()})
    assert walk(made) == [["0"]]


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
        self.list.add(name, {"name": name})
        self.present.add(name)

    @precondition(lambda self: self.present)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.present)))
        self.list.remove(name)
        self.present.remove(name)
        self.stayed.discard(name)

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


def pages(limit: int = MAX_PAGES) -> Pages[str]:
    return Pages("tools/list", key=str.lower, limit=limit)


def test_a_list_has_a_first_page_and_ends_where_no_cursor_is() -> None:
    walk = pages()
    assert walk.has_next()
    assert walk.cursor is None
    assert walk.accept(["a", "b"], "x") == ["a", "b"]
    assert walk.has_next()
    assert walk.cursor == "x"
    assert walk.accept(["c"], None) == ["c"]
    assert not walk.has_next()
    assert not walk.has_next()


@each(
    "cursors",
    [
        pytest.param(["x", "x"], id="it never moves on"),
        pytest.param(["x", "y", "z", "y"], id="it goes back"),
        pytest.param(["", ""], id="an empty cursor is a cursor"),
    ],
)
def test_a_cursor_that_was_used_before_is_not_used_again(cursors: list[str]) -> None:
    walk = pages()
    for count, cursor in enumerate(cursors):
        assert walk.has_next()
        walk.accept([f"of page {count}"], cursor)
    for _ in range(2):
        with pytest.raises(PaginationError, match="tools/list#/nextCursor: expected a new cursor"):
            walk.has_next()


def test_a_cursor_that_was_used_is_not_kept() -> None:
    walk, cursor = pages(), "x" * 1000
    before = getrefcount(cursor)
    walk.accept(["a"], cursor)
    walk.accept(["b"], "y")
    assert getrefcount(cursor) == before


def test_no_item_comes_twice_however_pages_overlap() -> None:
    walk = pages()
    assert walk.accept(["a", "b", "A"], "x") == ["a", "b"]
    assert walk.accept(["B", "c"], "y") == ["c"]
    assert walk.accept(["a", "b", "c"], "z") == []
    assert walk.has_next()


def test_a_server_that_makes_cursors_for_ever_is_left() -> None:
    walk = pages(limit=3)
    for count in range(3):
        assert walk.has_next()
        walk.accept([str(count)], f"cursor {count}")
    with pytest.raises(PaginationError, match="expected at most 3 pages"):
        walk.has_next()


def test_a_list_of_as_many_pages_as_are_allowed_is_whole() -> None:
    walk = pages(limit=2)
    walk.accept(["a"], "x")
    walk.accept(["b"], None)
    assert not walk.has_next()
