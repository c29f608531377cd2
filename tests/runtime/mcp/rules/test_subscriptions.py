"""Subscriptions: which updates a reader gets, how many wait, and which a client has asked for."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from kinwire.mcp.rules.subscriptions import SubscribedUris, add_update, concerns
from tests.each import each


@each(
    ("subscribed", "updated", "expected"),
    [
        ("file:///notes", "file:///notes", True),
        ("file:///notes", "file:///notes/a.txt", True),
        ("file:///notes/", "file:///notes/a.txt", True),
        ("file:///notes", "file:///notes?page=2", True),
        ("file:///notes", "file:///notes#top", True),
        ("http://host", "http://host/", True),
        ("file:///notes", "file:///notes-old", False),
        ("file:///notes/a.txt", "file:///notes", False),
        ("file:///notes", "file:///other", False),
    ],
)
def test_an_update_is_for_the_address_and_what_lies_above_it(
    subscribed: str, updated: str, expected: bool
) -> None:
    assert concerns(subscribed, updated) is expected


def test_addresses_wait_once_and_in_the_order_in_which_they_came() -> None:
    waiting: dict[str, None] = {}
    for updated in ("a/2", "a/1", "a/2", "a/1"):
        add_update(waiting, "a", updated)
    assert list(waiting) == ["a/2", "a/1"]


def test_one_too_many_and_all_become_the_one_that_was_subscribed_to() -> None:
    waiting: dict[str, None] = {}
    for count in range(3):
        add_update(waiting, "a", f"a/{count}", limit=3)
    add_update(waiting, "a", "a/0", limit=3)
    assert list(waiting) == ["a/0", "a/1", "a/2"]
    add_update(waiting, "a", "a/3", limit=3)
    assert list(waiting) == ["a"]
    for count in range(1000):
        add_update(waiting, "a", f"a/{count}", limit=3)
        assert len(waiting) <= 3
        assert "a" in waiting or len(waiting) < 3


@given(st.lists(st.sampled_from(["read", *(f"a/{number}" for number in range(6))])))
def test_reading_after_each_yield_misses_no_change(steps: list[str]) -> None:
    waiting: dict[str, None] = {}
    unread: set[str] = set()

    def read() -> None:
        address = next(iter(waiting))
        del waiting[address]
        unread.difference_update(unread if address == "a" else {address})

    for step in steps:
        if step != "read":
            unread.add(step)
            add_update(waiting, "a", step, limit=3)
        elif waiting:
            read()
    while waiting:
        read()
    assert unread == set()


def test_an_address_is_watched_once_however_often_it_is_subscribed_to() -> None:
    watched = SubscribedUris()
    watched.add("a:1")
    watched.add("a:1")
    assert list(watched) == ["a:1"]
    watched.discard("a:1")
    watched.discard("a:1")
    assert "a:1" not in watched


def test_there_is_an_end_to_subscriptions_but_not_to_repeating_one() -> None:
    watched = SubscribedUris(limit=2)
    watched.add("a:1")
    watched.add("a:2")
    watched.add("a:1")
    with pytest.raises(ValueError, match="expected at most 2 subscriptions"):
        watched.add("a:3")
    watched.discard("a:1")
    watched.add("a:3")
    assert list(watched) == ["a:2", "a:3"]
