"""One timer for all times: when it fires, what it survives, and how often it wakes."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import pytest
from hypothesis import given, strategies as st

from kinwire.managers.due_times import DueTimes
from kinwire.managers.timer_wheel import TimerWheel
from kinwire.support.background import background
from tests.runtime.managers.fixtures_time import FakeTime

pytestmark = pytest.mark.anyio

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("set"), st.integers(0, 5), st.integers(0, 9)),
        st.tuples(st.just("discard"), st.integers(0, 5), st.just(0)),
        st.tuples(st.just("take"), st.just(0), st.integers(0, 9)),
    ),
    max_size=30,
)


@given(STEPS)
async def test_times_are_those_of_a_dictionary(steps: list[tuple[str, int, int]]) -> None:
    times, model = DueTimes[int](), dict[int, float]()
    for step, key, at in steps:
        if step == "set":
            times.set(key, at)
            model.pop(key, None)
            model[key] = at
        elif step == "discard":
            times.discard(key)
            model.pop(key, None)
        else:
            due = sorted((item for item in model.items() if item[1] <= at), key=lambda one: one[1])
            assert list(times.take(at)) == due
            for taken, _ in due:
                del model[taken]
        assert times.first == min(model.values(), default=None)
        assert (len(times), times.get(key)) == (len(model), model.get(key))


async def test_times_that_change_take_no_memory() -> None:
    times = DueTimes[int]()
    for at in range(10_000):
        times.set(at % 10, at)
    assert len(times._heap) < 100


class Wheel:
    """A timer with a clock of its own, which notes what it fires."""

    def __init__(self, at_once: int = 64) -> None:
        self.time = FakeTime()
        self.fired: list[tuple[str, float, float]] = []
        self.sleeps: list[float] = []
        self.wheel = TimerWheel(self.fire, clock=self.time, sleep=self.sleep, at_once=at_once)

    async def fire(self, key: str, at: float) -> None:
        self.fired.append((key, at, self.time.now))

    async def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        await self.time.sleep(seconds)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        async with background() as tasks:
            tasks.start_soon(self.wheel.run)
            await self.time.advance(0)
            yield
            tasks.cancel_scope.cancel()


async def test_keys_are_fired_on_time_and_once() -> None:
    one = Wheel()
    one.wheel.set("before", 999.0)
    async with one.running():
        one.wheel.set("late", 1004.5)
        one.wheel.set("soon", 1000.25)
        one.wheel.set("moved", 1000.5)
        one.wheel.set("moved", 1003.0)
        one.wheel.set("removed", 1001.0)
        one.wheel.discard("removed")
        assert (len(one.wheel), one.wheel.get("moved"), one.wheel.get("x")) == (3, 1003.0, None)
        await one.time.advance(10)
        one.wheel.set("past", 5.0)
        await one.time.advance(0)
    assert one.fired == [
        ("before", 999.0, 1000.0),
        ("soon", 1000.25, 1000.25),
        ("moved", 1003.0, 1003.0),
        ("late", 1004.5, 1004.5),
        ("past", 5.0, 1010.0),
    ]


async def test_a_clock_that_is_set_is_noticed_within_a_second() -> None:
    one = Wheel()
    async with one.running():
        one.wheel.set("a", 5000.0)
        one.wheel.set("b", 90_000.0)
        await one.time.advance(0.5)
        one.time.now += 86_400  # the machine was asleep, or the clock was wrong
        await one.time.advance(1.0)
        assert [key for key, _, _ in one.fired] == ["a"]
        one.time.now -= 86_400
        await one.time.advance(10)
        assert [key for key, _, _ in one.fired] == ["a"]
        assert one.wheel.get("b") == 90_000.0


async def test_it_sleeps_without_times_and_wakes_once_a_second_with_some() -> None:
    one = Wheel()
    async with one.running():
        await one.time.advance(1000)
        assert one.sleeps == []
        for number in range(1000):
            one.wheel.set(f"k{number}", 9000.0 + number)
        await one.time.advance(5)
        assert len(one.sleeps) <= 7
        assert max(one.sleeps) == 1.0


async def test_one_key_is_never_fired_concurrently_with_itself_and_others_are() -> None:
    one = Wheel(at_once=3)
    gates = {key: anyio.Event() for key in "abcde"}
    running, most = list[str](), list[list[str]]()

    async def fire(key: str, at: float) -> None:
        running.append(key)
        most.append(sorted(running))
        await gates[key].wait()
        running.remove(key)

    one.wheel._fire = fire
    async with one.running():
        for key in "abcde":
            one.wheel.set(key, 1000.0)
        await one.time.advance(0)
        assert running == ["a", "b", "c"]
        one.wheel.set("a", 1000.0)
        await one.time.advance(0)
        for key in "edcba":
            gates[key].set()
        await one.time.advance(0)
        assert running == []
    assert all(len(set(names)) == len(names) <= 3 for names in most)
    assert len(most) == 6


async def test_a_failure_is_logged_and_the_next_is_fired(caplog: pytest.LogCaptureFixture) -> None:
    one = Wheel()
    fire = one.fire

    async def fails(key: str, at: float) -> None:
        await fire(key, at)
        if key == "a":
            raise RuntimeError("no")

    one.wheel._fire = fails
    with caplog.at_level(logging.ERROR, "kinwire.managers"):
        async with one.running():
            one.wheel.set("a", 1000.0)
            one.wheel.set("b", 1000.0)
            await one.time.advance(1)
            one.wheel.set("a", 1000.0)
            await one.time.advance(1)
    assert [key for key, _, _ in one.fired] == ["a", "b", "a"]
    assert len(caplog.records) == 2


async def test_numbers_out_of_range_are_refused() -> None:
    for options in ({"look": 0.0}, {"look": float("nan")}, {"at_once": 0}):
        with pytest.raises(ValueError, match="TimerWheel"):
            TimerWheel[str](Wheel().fire, **options)
