"""Offers in every shape that is seen, and how invalid ones are read."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire.mcpl.rules.offers import MOST_SETS, may_be_declared, read_offer
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcpl import FeatureSet
from tests.each import each

pytestmark = pytest.mark.spec("mcpl-3.1-2")

SET: JsonObject = {"description": "A set", "uses": ["pushEvents"]}
HEARTBEAT: JsonObject = {
    "version": "0.4",
    "pushEvents": True,
    "channels": False,
    "rollback": False,
    "featureSets": [
        {
            "name": "heartbeat",
            "description": "A sign of life",
            "uses": ["tools"],
            "rollback": False,
            "hostState": False,
        }
    ],
}
"""The offer of a server that is in use elsewhere."""


def test_a_list_of_sets_that_bear_their_names_is_read_as_the_object_is() -> None:
    offer = read_offer(HEARTBEAT)
    assert list(offer.feature_sets) == ["heartbeat"]
    assert offer.feature_sets["heartbeat"].uses == ["tools"]
    assert offer.warnings == ()


@each("value", [True, False, None, {}, []])
def test_true_in_place_of_sets_declares_nothing(value: Any) -> None:
    offer = read_offer({"featureSets": value})
    assert offer.feature_sets == {}
    assert offer.warnings == ()


BLOCKING = [
    pytest.param({"afterInference": {"blocking": True}}, True, id="said"),
    pytest.param({"afterInference": {"blocking": 1}}, False, id="a number is not true"),
    pytest.param({"afterInference": True}, False, id="true alone"),
    pytest.param(["afterInference"], False, id="listed alone"),
    pytest.param(True, False, id="true for all hooks"),
    pytest.param([1, None], False, id="a list of others"),
]


@each(("hooks", "blocking"), BLOCKING)
def test_a_hook_blocks_only_where_that_is_said(hooks: Any, blocking: bool) -> None:
    assert read_offer({"contextHooks": hooks}).blocking is blocking


BAD = [
    pytest.param({"featureSets": 7}, "featureSets: expected an object", id="a number"),
    pytest.param({"featureSets": {"a": {"uses": []}}}, "featureSets/a", id="no description"),
    pytest.param({"featureSets": {"a": {"description": "A"}}}, "featureSets/a", id="no uses"),
    pytest.param({"featureSets": {"a": True}}, "featureSets/a", id="no object"),
    pytest.param({"featureSets": [SET]}, "featureSets/0/name", id="a nameless one in a list"),
    pytest.param({"featureSets": ["x"]}, "featureSets/0/name", id="text in a list"),
    pytest.param({"featureSets": {"a*": SET}}, "without a star", id="a star in a name"),
    pytest.param({"featureSets": {"x" * 129: SET}}, "1 to 128", id="an endless name"),
    pytest.param({"version": "0.5"}, "expected 0.4, got '0.5'", id="a newer version"),
    pytest.param({"version": 4}, "expected 0.4, got '4'", id="a version that is not a string"),
]


@each(("offer", "warning"), BAD)
def test_invalid_parts_are_left_out_and_reported_and_the_rest_counts(
    offer: JsonObject, warning: str
) -> None:
    read = read_offer({"contextHooks": {"afterInference": {"blocking": True}}, **offer})
    assert read.blocking
    assert not read.feature_sets
    assert len(read.warnings) == 1
    assert warning in read.warnings[0]


def test_one_bad_set_costs_the_others_nothing() -> None:
    read = read_offer({"featureSets": {"good": SET, "bad": {}, "better": SET}})
    assert list(read.feature_sets) == ["good", "better"]
    twice = read_offer({"featureSets": [{"name": "a", **SET}, {"name": "a", **SET}]})
    assert list(twice.feature_sets) == ["a"]
    assert "one set of this name" in twice.warnings[0]


def test_an_unknown_use_is_kept_and_reported() -> None:
    read = read_offer({"featureSets": {"a": {"description": "A", "uses": ["telepathy"]}}})
    assert read.feature_sets["a"].uses == ["telepathy"]
    assert read.warnings == ("featureSets/a/uses: 'telepathy' is not a known use",)


def test_there_is_an_end_to_the_sets_of_a_peer() -> None:
    read = read_offer({"featureSets": {f"s{number}": SET for number in range(MOST_SETS + 5)}})
    assert len(read.feature_sets) == MOST_SETS
    assert len(read.warnings) == 1


@pytest.mark.parametrize("bad", [[7] * 5000, {f"s{number}": 7 for number in range(5000)}])
def test_the_warnings_of_an_offer_are_limited(bad: Any) -> None:
    warnings = read_offer({"featureSets": bad}).warnings
    assert len(warnings) == MOST_SETS + 1
    assert "expected at most 1000 sets" in warnings[0]


def test_a_later_set_is_limited_in_size() -> None:
    assert may_be_declared("a", FeatureSet(description="x" * 60_000, uses=[]))
    assert not may_be_declared("a", FeatureSet(description="x" * 70_000, uses=[]))
    assert not may_be_declared("a*", FeatureSet(description="x", uses=[]))
