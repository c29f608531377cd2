"""Names that are like each other, found without a look at every two."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from kinwire_codegen.compare import likeness
from kinwire_codegen.compare.likeness import alike, likest

LEAST = 0.6
NAMES = st.lists(st.text("abA_1", max_size=6), max_size=8, unique=True)


def looked_at_one_by_one(olds: list[str], news: list[str]) -> dict[str, tuple[str, float]]:
    pairs = sorted((-alike(old, new), old, new) for old in olds for new in news)
    found: dict[str, tuple[str, float]] = {}
    for share, old, new in pairs:
        if -share >= LEAST and new not in found and old not in {one for one, _ in found.values()}:
            found[new] = (old, -share)
    return found


@given(NAMES, NAMES)
def test_the_same_are_found_as_by_a_look_at_every_two(olds: list[str], news: list[str]) -> None:
    assert likest(olds, news, LEAST) == looked_at_one_by_one(olds, news)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("member{}", "member{}x", id="a letter more"),
        pytest.param("oldName{}", "newName{}", id="another word"),
        pytest.param("some_name_{}", "someName{}", id="another case"),
        pytest.param("value{}", "fraction{}", id="another name"),
    ],
)
def test_of_five_hundred_names_few_are_looked_at_closely(
    old: str, new: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = 0

    def counted(one: str, other: str) -> float:
        nonlocal looks
        looks += 1
        return alike(one, other)

    monkeypatch.setattr(likeness, "alike", counted)
    numbers = range(500)
    likest([old.format(one) for one in numbers], [new.format(one) for one in numbers], LEAST)
    assert looks < 5_000  # of 250,000
