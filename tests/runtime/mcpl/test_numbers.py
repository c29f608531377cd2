"""Invalid numbers are refused where they are set, by the name of the option."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from typing import Any

import pytest

from kinwire.mcpl import (
    Channels,
    Hooks,
    Inference,
    InjectionLimits,
    McplHost,
    McplServer,
    PushedEvent,
    Scopes,
    ScriptedProvider,
    UrlGuard,
)
from kinwire_protocols import mcpl
from tests.runtime.mcpl.fixtures_pairs import feature, live_pair

WRONG: list[Any] = [nan, -1, -inf, True, "5", None, 10**400, 10**5000]


def inference(**options: Any) -> Inference:
    return Inference(
        provider=ScriptedProvider(), routing=mcpl.RoutingPolicy(default="m"), **options
    )


def budget(tokens: Any) -> Inference:
    return inference(budgets={"a.*": tokens})


def larger(tokens: Any) -> Inference:
    return inference(larger={"small": (tokens, "large")})


def guard(**options: Any) -> UrlGuard:
    return UrlGuard(["*"], **options)


Make = Callable[..., object]
TIMES: list[tuple[str, Make]] = [
    ("McplHost.push_timeout", McplHost),
    ("Hooks.before_timeout", Hooks),
    ("Hooks.after_timeout", Hooks),
    ("Inference.timeout", inference),
    ("Scopes.ask_timeout", Scopes),
    ("Channels.message_timeout", Channels),
    ("Channels.moderate_timeout", Channels),
    ("UrlGuard.timeout", guard),
]
LIVES: list[tuple[str, Make]] = [
    ("Scopes.approval_life", Scopes),
    ("Inference.pin_life", inference),
]
COUNTS: list[tuple[str, Make, int]] = [
    ("Inference.at_once", inference, 1),
    ("UrlGuard.size", guard, 1),
    ("InjectionLimits.size", InjectionLimits, 0),
    ("InjectionLimits.hook_size", InjectionLimits, 0),
    ("Inference.budgets['a.*']", budget, 0),
    ("Inference.larger['small']", larger, 0),
]


def name_in(option: str) -> str:
    return option.partition(".")[2].partition("[")[0]


def made(option: str, make: Make, value: Any) -> object:
    return make(value) if "[" in option else make(**{option.partition(".")[2]: value})


def refused(option: str, make: Make, value: Any, expected: str) -> None:
    owner = option.partition(".")[0]
    with pytest.raises(ValueError, match=rf"\. Write {owner}\(.*{name_in(option)}=") as raised:
        made(option, make, value)
    assert str(raised.value).startswith(f"{option}: expected {expected}")
    assert ", got " in str(raised.value)


@pytest.mark.parametrize(("option", "make"), TIMES, ids=[name for name, _ in TIMES])
def test_a_time_is_one_that_can_be_waited_for(option: str, make: Make) -> None:
    for value in (*WRONG, 0, inf):
        refused(option, make, value, "seconds above 0 to 3153600000")
    made(option, make, 0.001)
    made(option, make, 3153600000)


@pytest.mark.parametrize(("option", "make"), LIVES, ids=[name for name, _ in LIVES])
def test_a_life_may_be_none_and_without_end(option: str, make: Make) -> None:
    for value in WRONG:
        refused(option, make, value, "seconds from 0 to 3153600000, or math.inf")
    for value in (0, 1.5, inf):
        made(option, make, value)


@pytest.mark.parametrize(("option", "make", "least"), COUNTS, ids=[name for name, _, _ in COUNTS])
def test_a_count_is_a_whole_number(option: str, make: Make, least: int) -> None:
    for value in (*WRONG, 1.5, inf, least - 1):
        refused(option, make, value, f"a whole number from {least} to 9007199254740991")
    made(option, make, least)


def test_events_have_a_rate() -> None:
    for value in (*WRONG, 0, inf):
        refused("McplHost.push_rate", McplHost, value, "a number above 0")
    McplHost(push_rate=0.001)


CALLS: list[Any] = [
    ("push", {"attempts": 0}, "HostPeer.push: attempts: expected a whole number from 1"),
    ("push", {"attempts": nan}, "HostPeer.push: attempts: expected a whole number from 1"),
    ("push", {"first_delay": -1}, "HostPeer.push: first_delay: expected seconds from 0"),
    ("push", {"first_delay": nan}, "HostPeer.push: first_delay: expected seconds from 0"),
    ("infer", {"timeout": 0}, "HostPeer.infer: timeout: expected seconds above 0"),
    ("infer", {"timeout": nan}, "HostPeer.infer: timeout: expected seconds above 0"),
]


@pytest.mark.spec("mcpl-9.1-1", "mcpl-11.1-1")
@pytest.mark.anyio
@pytest.mark.parametrize(("call", "options", "message"), CALLS)
async def test_a_call_with_an_invalid_number_sends_nothing(
    call: str, options: dict[str, Any], message: str
) -> None:
    events: list[PushedEvent] = []

    async def take(event: PushedEvent) -> mcpl.PushEventResult:
        events.append(event)
        return mcpl.PushEventResult(accepted=True)

    live = McplServer(feature_sets={"a": feature("pushEvents", "inferenceRequest")})
    host = McplHost(enabled=["*"], on_push=take, inference=inference())
    async with live_pair(live, host) as (connection, _):
        await connection.mcp.ping()
        (side,) = live.hosts
        with pytest.raises(ValueError, match=message):
            await getattr(side, call)("a", "x", **options)
        assert events == []
        assert (await side.push("a", "x", attempts=1, first_delay=0)).accepted
