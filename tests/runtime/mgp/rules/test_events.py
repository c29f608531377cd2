"""Channels, patterns and severities: what a subscription takes."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, strategies as st

from kinwire.mcp.log_messages import LEVELS
from kinwire.mgp.rules.events import OWN_CHANNELS, EventSelection, checked_channels

DECLARED = ["model.token_usage", "model.limits.hit", "tool.started", "system.error"]


@pytest.mark.spec("mgp-13.2-mgp-events-subscribe-3", "mgp-13.5-6")
def test_what_is_asked_for_is_split_into_channels_and_the_rest() -> None:
    table: list[tuple[list[str], list[str], list[str]]] = [
        (["model.token_usage", "nope.x"], ["model.token_usage"], ["nope.x"]),
        (["model.*"], ["model.token_usage", "model.limits.hit"], []),
        (["*"], DECLARED, []),
        (["*.error", "model.*_usage"], ["model.token_usage", "system.error"], []),
        (["model.t?ken_usage", "tool.[a-s]tarted"], ["model.token_usage", "tool.started"], []),
        (["system.error", "model.token_usage"], ["model.token_usage", "system.error"], []),
        (["tool.started", "tool.*", "tool.started"], ["tool.started"], []),
        (
            ["security.*", "model", "model.", "", "MODEL.*"],
            [],
            ["security.*", "model", "model.", "", "MODEL.*"],
        ),
        (["x", "x", "*" * 513, "*" * 129], [], ["x", "*" * 513, "*" * 129]),
        (["*" * 128], DECLARED, []),
        ([], [], []),
    ]
    for asked, subscribed, unsupported in table:
        assert EventSelection(asked).split(DECLARED) == (subscribed, unsupported), asked


@pytest.mark.spec("mgp-13.2-mgp-events-subscribe-1")
def test_severities_are_those_of_logs_in_their_order_and_absent_is_info() -> None:
    for place, least in enumerate(LEVELS):
        selection = EventSelection(["model.*"], least)
        assert [one for one in LEVELS if selection.takes("model.x", one)] == list(LEVELS[place:])
        assert selection.takes("model.x", None) is (place <= LEVELS.index("info"))
        assert selection.takes("model.x", "catastrophe")  # it may be worse than all
    assert EventSelection(["model.*"]).takes("model.x", "debug")


def test_no_name_and_no_pattern_takes_longer_than_a_moment_to_match() -> None:
    names = [f"model.c{number}" for number in range(2000)]
    parts = list(EventSelection(["model.*", "*9", names[7], "nope"]).found(names))
    assert max(len(found) for _, found in parts) <= 500
    assert EventSelection(["*9"]).split(names, parts[4:8])[0] == names[9::10]
    long = "model." + "x" * 1_000_000
    began = time.perf_counter()
    assert not EventSelection(["*x*", "model.*"]).takes(long, None)
    assert EventSelection([long]).takes(long, None)
    slow = [f"{'[a-z]*' * 80}{number}" for number in range(100)]
    assert EventSelection(slow).split(DECLARED) == ([], slow)
    assert time.perf_counter() - began < 0.2


@given(st.lists(st.text("ab.*?", max_size=6), max_size=4))
def test_what_is_taken_later_is_what_was_subscribed(asked: list[str]) -> None:
    declared = ["a.a", "a.b", "b.a.b", "b.b"]
    selection = EventSelection(asked)
    subscribed, unsupported = selection.split(declared)
    assert subscribed == [name for name in declared if selection.takes(name, None)]
    for one in dict.fromkeys(asked):
        assert (one in unsupported) is (EventSelection([one]).split(declared)[0] == [])


@pytest.mark.spec("mgp-13.5-1", "mgp-13.5-5")
def test_a_server_has_channels_of_the_four_families() -> None:
    own = ["model.token_usage", "system.disk", "tool.queued", "security.scan.done", "tool.started"]
    assert checked_channels(own) == tuple(dict.fromkeys([*own, *OWN_CHANNELS]))
    for wrong, hint in {
        "weather.today": r"begin with model\., .*Write 'model\.weather\.today'",
        "modle.usage": r"Did you mean 'model\.usage'",
        "model": "names like",
        "model.*": "names like",
        "model..x": "names like",
        "model.x y": "names like",
        "model." + "x" * 128: "128 at most",
    }.items():
        with pytest.raises(ValueError, match=hint):
            checked_channels([wrong])
