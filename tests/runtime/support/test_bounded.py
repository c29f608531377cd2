"""Bounded collections against simple models, and the room that they take."""

from __future__ import annotations

from hypothesis import given, settings, strategies as st

from kinwire.support.bounded import DropOldestQueue, LruDict, TtlDict

KEYS = st.sampled_from("abcde")
QUICK = settings(max_examples=60, deadline=None)
LIMIT = 3


@QUICK
@given(st.lists(st.tuples(st.sampled_from(["get", "peek", "put", "pop"]), KEYS), max_size=30))
def test_the_least_recently_used_entry_is_removed_first(steps: list[tuple[str, str]]) -> None:
    real, model = LruDict[str, int](LIMIT), list[tuple[str, int]]()
    for number, (step, key) in enumerate(steps):
        value = dict(model).get(key)
        rest = [entry for entry in model if entry[0] != key]
        if step == "put":
            model = [*rest, (key, number)]
            assert real.put(key, number) == [entry[0] for entry in model[:-LIMIT]]
            model = model[-LIMIT:]
        elif step == "get":
            assert real.get(key) == value
            model = model if value is None else [*rest, (key, value)]
        elif step == "peek":
            assert real.peek(key) == value
        else:
            assert real.pop(key) == value
            model = rest
        assert [*real] == [entry[0] for entry in model]
        assert (len(real), key in real) == (len(model), key in dict(model))
    real.clear()
    assert len(real) == 0


@QUICK
@given(
    st.lists(
        st.tuples(st.sampled_from(["get", "put", "pop", "expire"]), KEYS, st.integers(0, 4)),
        max_size=30,
    )
)
def test_entries_expire_and_the_oldest_is_removed_first(steps: list[tuple[str, str, int]]) -> None:
    now, real = 0, TtlDict[str, int](5, limit=LIMIT)
    model: list[tuple[str, int, int]] = []  # key, value, and when it was put
    for number, (step, key, waited) in enumerate(steps):
        now += waited
        model = [one for one in model if now - one[2] < 5]
        value = next((one[1] for one in model if one[0] == key), None)
        if step == "get":
            assert real.get(key, now=now) == value
            continue
        if step == "expire":
            real.expire(now=now)
            assert len(real) == len(model)
            continue
        model = [one for one in model if one[0] != key]
        if step == "put":
            real.put(key, number, now=now)
            model = [*model, (key, number, now)][-LIMIT:]
            assert len(real) == len(model)
        else:
            assert real.pop(key, now=now) == value


def test_a_dictionary_that_expires_need_not_have_a_limit() -> None:
    real = TtlDict[int, int](10)
    for key in range(1000):
        real.put(key, key, now=0)
    assert len(real) == 1000
    real.put(1000, 0, now=10)
    assert len(real) == 1


def test_an_entry_of_no_seconds_is_never_there() -> None:
    real = TtlDict[str, int](0)
    real.put("a", 1, now=5)
    assert (real.get("a", now=5), len(real)) == (None, 0)


@given(st.lists(st.one_of(st.none(), st.integers(0, 9)), max_size=30))
def test_the_oldest_makes_room_for_the_newest(steps: list[int | None]) -> None:
    """A step is a value of that size, or None to take one; the model is a list."""
    queue, model = DropOldestQueue[tuple[int, int]](3, size=12), list[tuple[int, int]]()
    for number, size in enumerate(steps):
        if size is None:
            assert not model or queue.take() == model.pop(0)
            continue
        removed = queue.put((number, size), size)
        model.append((number, size))
        while len(model) > 3 or sum(one for _, one in model) > 12:
            assert removed.pop(0) == model.pop(0)
        assert (removed, len(queue)) == ([], len(model))
    assert [queue.take() for _ in range(len(queue))] == model


def test_a_value_that_is_too_large_is_not_kept() -> None:
    queue = DropOldestQueue[str](3, size=5)
    assert queue.put("a", 5) == []
    assert queue.put("b", 6) == ["a", "b"]
    assert len(queue) == 0
