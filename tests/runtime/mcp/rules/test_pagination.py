"""A client's way through the pages of a server's list."""

from __future__ import annotations

from sys import getrefcount

import pytest

from kinwire.mcp.rules.pagination import MAX_PAGES, Pages
from kinwire.rpc.errors import PaginationError
from tests.each import each


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
