"""Versions, names of extensions and their intersection; offers of peers are read leniently."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from kinwire.mgp.rules.negotiation import (
    active_extensions,
    answered_extensions,
    compatible,
    read_offer,
    version_of,
)

OURS = "0.2.0"


def test_versions_compare_as_semantic_versions_do_and_not_as_text() -> None:
    rising = ["0.2.0-beta.2", "0.2.0-beta.11", "0.2.0-rc.1", "0.2.0", "0.2.1", "0.10.0", "1.0.0"]
    for one, other in pairwise(map(version_of, rising)):
        assert one is not None
        assert other is not None
        assert one < other
    assert version_of("0.2.0+build.7") == version_of("0.2.0") == version_of("0.2")


@pytest.mark.spec("mgp-2.4-4")
def test_the_major_number_alone_decides() -> None:
    for theirs in ("0.1.0", "0.2.0", "0.6.1", "0.2", "v0.9.0", "0.3.0-draft", "0.10.0+x"):
        assert compatible(OURS, theirs), theirs
    for other in ("1.0.0", "10.2.0", "", "two", "0", None, 0.2, ["0.2.0"], "0.2.0.1", "-0.2.0"):
        assert not compatible(OURS, other), other


@pytest.mark.spec("mgp-2.4-1")
def test_the_active_extensions_are_the_intersection_whatever_they_are_called() -> None:
    ours = ["security", "audit", "bidirectional"]
    for theirs, active in (
        (["audit", "security", "audit"], {"audit", "security"}),
        (["permissions", "events", "telepathy"], {"security", "bidirectional"}),
        (["tool_security", "callbacks"], {"security", "bidirectional"}),
        (["streaming", "progress"], set[str]()),
        ([], set[str]()),
    ):
        assert active_extensions(ours, theirs) == active_extensions(theirs, ours) == active


def test_a_server_answers_in_the_words_of_the_client() -> None:
    asked = ["tool_security", "audit", "permissions", "audit", "telepathy"]
    assert answered_extensions({"security", "audit"}, asked) == [
        *("tool_security", "audit", "permissions")
    ]


OFFERS: list[tuple[dict[str, Any], dict[str, Any], int]] = [
    ({"version": OURS, "extensions": []}, {"extensions": []}, 0),
    (
        {"version": OURS, "extensions": ["permissions", "audit"]},
        {"extensions": ["audit", "security"]},
        0,
    ),
    ({"version": "0.6.1", "extensions": ["audit"]}, {"extensions": ["audit"]}, 1),
    ({"version": OURS}, {"extensions": []}, 1),
    ({"version": OURS, "extensions": {"audit": True}}, {"extensions": []}, 1),
    ({"version": OURS, "extensions": ["audit", 7, None, "x" * 300]}, {"extensions": ["audit"]}, 1),
    ({"version": OURS, "extensions": [], "trust_level": 3}, {"trust_level": ""}, 1),
    ({"version": OURS, "extensions": [], "trust_level": "core"}, {"trust_level": "core"}, 0),
    ({"version": OURS, "extensions": [], "server_id": {"a": 1}}, {"server_id": None}, 1),
    ({"version": OURS, "extensions": [], "server_id": "s"}, {"server_id": "s"}, 0),
    (
        {"version": OURS, "extensions": [], "permissions_required": ["shell", 1]},
        {"permissions_required": ["shell"]},
        1,
    ),
    (
        {"version": OURS, "extensions": [], "permissions_required": "shell"},
        {"permissions_required": []},
        1,
    ),
]


def test_what_can_be_read_of_an_offer_counts_and_the_rest_is_reported() -> None:
    for offer, expected, warnings in OFFERS:
        reading = read_offer(offer, OURS)
        assert reading.offer is not None
        assert len(reading.warnings) == warnings, offer
        for name, value in expected.items():
            assert getattr(reading.offer, name) == value, offer


def test_mgp_is_not_spoken_with_another_major_version_or_without_one() -> None:
    for offer in ({"version": "1.0.0", "extensions": ["audit"]}, {"extensions": ["audit"]}, {}):
        reading = read_offer(offer, OURS)
        assert reading.offer is None
        assert "MGP is not spoken" in reading.warnings[0]
