"""Offers in every shape that is seen, and what is made of those that are none."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire.mcpl.rules.offers import MOST_SETS, read_offer
from kinwire_protocols.base import JsonObject

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
    assert offer.push_events
    assert not offer.channels
    assert offer.warnings == ()


@pytest.mark.parametrize("value", [True, False, None, {}, []])
def test_sets_that_are_only_said_to_be_there_declare_none(value: Any) -> None:
    offer = read_offer({"featureSets": value})
    assert offer.feature_sets == {}
    assert offer.warnings == ()


FLAGS = [
    pytest.param({"contextHooks": True}, "before_inference", True, id="true for all hooks"),
    pytest.param({"contextHooks": True}, "after_inference", True, id="and the other one"),
    pytest.param({"contextHooks": {"afterInference": True}}, "after_inference", True, id="true"),
    pytest.param({"contextHooks": {"afterInference": True}}, "blocking", False, id="not blocking"),
    pytest.param(
        {"contextHooks": {"afterInference": {"blocking": True}}}, "blocking", True, id="blocking"
    ),
    pytest.param({"contextHooks": {"beforeInference": False}}, "before_inference", False, id="no"),
    pytest.param({"contextHooks": ["beforeInference"]}, "before_inference", True, id="listed"),
    pytest.param({"contextHooks": ["beforeInference"]}, "after_inference", False, id="not listed"),
    pytest.param({"contextHooks": ["afterInference"]}, "blocking", False, id="listed alone"),
    pytest.param({"contextHooks": [1, None]}, "before_inference", False, id="a list of others"),
    pytest.param({"inferenceRequest": True}, "inference_streaming", True, id="true streams too"),
    pytest.param({"inferenceRequest": {}}, "inference", True, id="an empty object is there"),
    pytest.param({"inferenceRequest": {}}, "inference_streaming", False, id="without streaming"),
    pytest.param({"inferenceRequest": False}, "inference", False, id="no inference"),
    pytest.param({"channels": False}, "channels", frozenset(), id="no channels"),
    pytest.param(
        {"channels": True},
        "channels",
        frozenset({"register", "publish", "observe", "lifecycle", "streaming"}),
        id="true for all of channels",
    ),
    pytest.param(
        {"channels": {"publish": True, "observe": False}}, "channels", {"publish"}, id="one flag"
    ),
    pytest.param({"pushEvents": "yes?"}, "push_events", True, id="what is not false is there"),
    pytest.param({"modelInfo": True}, "model_info", True, id="model"),
    pytest.param({}, "version", "0.4", id="no version is this one"),
]


@pytest.mark.parametrize(("offer", "member", "expected"), FLAGS)
def test_every_shape_of_a_flag_is_read(offer: JsonObject, member: str, expected: Any) -> None:
    assert getattr(read_offer(offer), member) == expected


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
    pytest.param({"version": 4}, "expected 0.4, got '4'", id="a version that is no text"),
    pytest.param({"state": {"mode": "forest"}}, "state/mode", id="a mode that there is not"),
]


@pytest.mark.parametrize(("offer", "warning"), BAD)
def test_what_is_of_a_wrong_shape_is_left_out_and_told_and_the_rest_counts(
    offer: JsonObject, warning: str
) -> None:
    read = read_offer({"pushEvents": True, **offer})
    assert read.push_events
    assert not read.feature_sets
    assert len(read.warnings) == 1
    assert warning in read.warnings[0]


def test_one_bad_set_costs_the_others_nothing() -> None:
    read = read_offer({"featureSets": {"good": SET, "bad": {}, "better": SET}})
    assert list(read.feature_sets) == ["good", "better"]
    twice = read_offer({"featureSets": [{"name": "a", **SET}, {"name": "a", **SET}]})
    assert list(twice.feature_sets) == ["a"]
    assert "one set of this name" in twice.warnings[0]


def test_a_use_that_is_not_known_is_kept_and_told() -> None:
    read = read_offer({"featureSets": {"a": {"description": "A", "uses": ["telepathy"]}}})
    assert read.feature_sets["a"].uses == ["telepathy"]
    assert read.warnings == ("featureSets/a/uses: 'telepathy' is no use that is known",)


def test_there_is_an_end_to_the_sets_of_a_peer() -> None:
    read = read_offer({"featureSets": {f"s{number}": SET for number in range(MOST_SETS + 5)}})
    assert len(read.feature_sets) == MOST_SETS
    assert len(read.warnings) == 1
