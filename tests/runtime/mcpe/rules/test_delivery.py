"""Which delivery preferences a server takes."""

from __future__ import annotations

import re
from typing import Any

import pytest

from kinwire.mcpe.rules import features as features_rules
from kinwire.mcpe.rules.delivery import delivery_problems, zone_of
from kinwire.mcpe.rules.features import EventFeatures
from kinwire_protocols.mcpe.models import DeliveryPreferences

CRON = {"expression": "@daily", "timezone": "Europe/London"}
ONCE = {"deliverAt": "2025-01-15T18:00:00Z", "timezone": "UTC"}


def problems(features: EventFeatures | None = None, **fields: Any) -> list[str]:
    """Return what is wrong with preferences, as JSON has them."""
    made = DeliveryPreferences.model_validate(fields, by_alias=True, by_name=False)
    return [str(one) for one in delivery_problems(made, features or EventFeatures())]


@pytest.mark.spec("mcpe-5.3-1", "mcpe-5.3-2", "mcpe-5.3-3")
def test_preferences_that_fit() -> None:
    for fields in (
        {"channels": ["realtime"]},
        {"channels": ["cron"], "cronSchedule": CRON},
        {"channels": ["scheduled"], "scheduledDelivery": ONCE},
        {
            "channels": ["realtime", "cron", "scheduled"],
            "cronSchedule": {**CRON, "aggregateEvents": False, "maxEventsPerDelivery": 1},
            "scheduledDelivery": {**ONCE, "deliverAt": "2025-01-15T18:00:00.5+01:00"},
        },
    ):
        assert problems(**fields) == []


@pytest.mark.spec("mcpe-3.2-11", "mcpe-3.2-13")
def test_what_does_not_fit_is_refused_with_its_place() -> None:
    few = EventFeatures(
        channels=("realtime", "cron"),
        multi_channel=False,
        timezones=("UTC",),
        cron_presets={"@nightly": "0 3 * * *"},
    )
    table: list[tuple[EventFeatures | None, dict[str, Any], list[str]]] = [
        (None, {"channels": ["cron"]}, ["cronSchedule"]),
        (None, {"channels": ["scheduled"]}, ["scheduledDelivery"]),
        (None, {"channels": ["sms"]}, ["channels/0"]),
        (None, {"channels": ["realtime", "realtime"]}, ["channels/1"]),
        (
            few,
            {"channels": ["realtime", "scheduled"]},
            ["channels", "channels/1", "scheduledDelivery"],
        ),
        (few, {"channels": ["cron"], "cronSchedule": CRON}, ["timezone", "expression"]),
        (
            few,
            {"channels": ["cron"], "cronSchedule": {"expression": "@nightly", "timezone": "UTC"}},
            [],
        ),
        (
            few,
            {"channels": ["realtime"], "scheduledDelivery": {**ONCE, "timezone": "GMT"}},
            ["timezone"],
        ),
    ]
    for text in ("0 0 31 2 *", "* * * * * *", "60 * * * *", "@Daily", ""):
        schedule = {"expression": text, "timezone": "UTC"}
        table.append((None, {"channels": ["cron"], "cronSchedule": schedule}, ["expression"]))
    for zone in ("", "Mars/Olympus", "Europe", "../UTC", "/etc/passwd", "right/UTC", "localtime"):
        schedule = {**ONCE, "timezone": zone}
        table.append(
            (None, {"channels": ["scheduled"], "scheduledDelivery": schedule}, ["timezone"])
        )
    for time in ("", "2025-01-15", "2025-01-15T18:00:00", "18:00"):
        schedule = {**ONCE, "deliverAt": time}
        table.append(
            (None, {"channels": ["scheduled"], "scheduledDelivery": schedule}, ["deliverAt"])
        )
    for features, fields, places in table:
        found = problems(features, **fields)
        pointers = [one.partition(": ")[0].removeprefix("/delivery/") for one in found]
        ends = [re.sub("^(cronSchedule|scheduledDelivery)/", "", one) for one in pointers]
        assert sorted(ends) == sorted(places), fields


def test_the_message_says_what_is_expected() -> None:
    schedule = {"expression": "@Daily", "timezone": "London"}
    assert problems(channels=["cron"], cronSchedule=schedule) == [
        "/delivery/cronSchedule/timezone: expected the IANA name of a time zone, as Europe/London, "
        'got "London"',
        "/delivery/cronSchedule/expression: expected five fields, or one of @hourly, @daily, "
        '@weekly, @monthly (did you mean @daily?), got "@Daily"',
    ]


def test_zones_are_those_of_the_iana() -> None:
    for name in ("UTC", "Europe/London", "America/Argentina/Buenos_Aires", "Etc/GMT+5"):
        assert zone_of(name) is not None
    for name in ("posix/UTC", "right/Europe/London", "Factory", "posixrules", "\0", "a" * 5000):
        assert zone_of(name) is None


def test_without_the_library_the_channel_cron_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    assert EventFeatures().channels == ("realtime", "cron", "scheduled")
    monkeypatch.setattr(features_rules, "find_spec", lambda name: None)
    assert EventFeatures().channels == ("realtime", "scheduled")
    with pytest.raises(ValueError, match=r"`cron` needs the library.+kinwire\[events\]"):
        EventFeatures(channels=("realtime", "cron"))
