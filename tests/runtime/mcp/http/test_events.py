"""The events that are kept for a client that comes back."""

from __future__ import annotations

from kinwire.mcp.http.events import EventStore
from kinwire.transports.http.limits import HttpLimits
from tests.each import each


def store_of(*events: tuple[str, bytes], **limits: float) -> EventStore[str]:
    store: EventStore[str] = EventStore(HttpLimits(**limits))  # type: ignore[arg-type]
    for at, (stream, event) in enumerate(events):
        store.add(stream, event, now=float(at))
    return store


def test_what_followed_on_the_same_stream_is_found() -> None:
    store = store_of(("a", b"1"), ("b", b"2"), ("a", b"3"), ("a", b"4"))
    assert store.after("1", now=4) == ("a", [b"3", b"4"])
    assert store.after("2", now=4) == ("b", [])
    assert store.after("4", now=4) == ("a", [])


@each("id", ["0", "5", "", "01", "x", "1_1", "-1", "²", "٣", "1" * 5000])
def test_an_id_that_was_never_given_finds_nothing(id: str) -> None:
    assert store_of(("a", b"1")).after(id, now=1) is None


def test_the_oldest_give_way_to_the_newest() -> None:
    store = store_of(*[("a", b"x")] * 5, events=3)
    assert store.after("2", now=5) is None
    assert store.after("3", now=5) == ("a", [b"x", b"x"])
    store = store_of(*[("a", b"x" * 10)] * 5, event_bytes=25)
    assert store.after("3", now=5) is None
    assert store.after("4", now=5) == ("a", [b"x" * 10])


def test_the_last_event_is_kept_however_large_it_is() -> None:
    store = store_of(("a", b"1"), ("a", b"x" * 100), event_bytes=10)
    assert store.after("1", now=2) is None
    assert store.after("2", now=2) == ("a", [])


def test_what_is_old_is_forgotten_and_its_stream_with_it() -> None:
    store = store_of(("a", b"1"), ("b", b"2"), event_age=10)
    assert store.has("a")
    assert store.after("1", now=9.5) == ("a", [])
    assert store.after("1", now=10) is None
    assert not store.has("a")
    assert store.has("b")
    store.expire(100)
    assert not store.has("b")
    assert store.next_id() == "3"
