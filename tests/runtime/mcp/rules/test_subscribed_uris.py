"""The subscriptions of one client: each once, and not without end."""

from __future__ import annotations

import pytest

from kinwire.mcp.rules.subscriptions import SubscribedUris


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
