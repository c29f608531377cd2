"""A function of the user ends in one of three ways: it answers, it is late, or it fails."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from kinwire.managers.ask import Answer, Failed, Late, ask, log_failure
from kinwire.rpc.errors import ConnectionClosedError, RequestTimeoutError

pytestmark = pytest.mark.anyio

SOON = 0.01  # seconds
LONG = 20.0


async def asked(callback: Callable[[Any], Awaitable[Any]], timeout: float | None = LONG) -> Any:
    return await ask(callback, 1, name="Thing.callback", timeout=timeout, expects=int)


def raising(error: Exception) -> Callable[[Any], Awaitable[Any]]:
    async def callback(argument: int) -> int:
        raise error

    return callback


async def never(argument: int) -> int:
    await anyio.sleep_forever()
    return argument


async def twice(argument: int) -> int:
    return 2 * argument


@pytest.mark.parametrize("timeout", [LONG, None])
async def test_the_value_of_the_function_is_the_answer(timeout: float | None) -> None:
    assert await asked(twice, timeout) == Answer(2)


async def test_a_function_that_exceeds_its_time_is_late_and_cancelled() -> None:
    ended = anyio.Event()

    async def slow(argument: int) -> int:
        try:
            return await never(argument)
        finally:
            ended.set()

    assert await asked(slow, SOON) == Late(SOON)
    assert ended.is_set()


@pytest.mark.parametrize(
    "error",
    [
        TimeoutError("its own"),
        RequestTimeoutError("tools/call", 1.0),
        OSError("no"),
        ExceptionGroup("both", [TimeoutError(), ValueError()]),
    ],
)
@pytest.mark.parametrize("timeout", [LONG, None])
async def test_an_error_of_the_function_is_its_failure(
    error: Exception, timeout: float | None
) -> None:
    failed = await asked(raising(error), timeout)
    assert isinstance(failed, Failed)
    assert failed.error is error
    assert failed.error.__traceback__ is not None


async def test_a_deadline_inside_the_function_is_its_failure() -> None:
    async def limited(argument: int) -> int:
        with anyio.fail_after(SOON):
            return await never(argument)

    failed = await asked(limited)
    assert isinstance(failed, Failed)
    assert isinstance(failed.error, TimeoutError)


async def test_a_function_that_answers_as_its_time_ends_has_answered() -> None:
    async def stubborn(argument: int) -> int:
        try:
            return await never(argument)
        except anyio.get_cancelled_exc_class():
            return argument  # it swallows its cancellation

    assert await asked(stubborn, SOON) == Answer(1)
    await anyio.lowlevel.checkpoint()  # no cancellation is left over


async def test_a_function_that_fails_as_its_time_ends_has_failed() -> None:
    async def clumsy(argument: int) -> int:
        try:
            return await never(argument)
        finally:
            raise ValueError("while it cleaned up")

    failed = await asked(clumsy, SOON)
    assert isinstance(failed, Failed)
    assert str(failed.error) == "while it cleaned up"
    await anyio.lowlevel.checkpoint()  # no cancellation is left over


async def test_a_cancellation_from_outside_is_raised() -> None:
    outcome: list[object] = []
    with anyio.CancelScope() as scope:
        scope.cancel()
        outcome.append(await asked(never))
    assert scope.cancelled_caught
    assert outcome == []


async def test_an_earlier_deadline_from_outside_is_not_ours() -> None:
    outcome: list[object] = []
    with anyio.move_on_after(SOON) as scope:
        outcome.append(await asked(never))
    assert scope.cancelled_caught
    assert outcome == []


on_asyncio = pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True)


@on_asyncio
async def test_a_cancelled_task_that_the_function_awaits_is_a_failure() -> None:
    async def careless(argument: int) -> int:
        task = asyncio.create_task(never(argument))
        task.cancel()
        return await task

    failed = await asked(careless)
    assert isinstance(failed, Failed)
    assert str(failed.error) == "Thing.callback: something that it awaits was cancelled"
    assert isinstance(failed.error.__cause__, asyncio.CancelledError)


@on_asyncio
@pytest.mark.parametrize("timeout", [LONG, None])
async def test_a_native_cancellation_of_the_caller_is_raised(timeout: float | None) -> None:
    task = asyncio.create_task(asked(never, timeout))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize(
    ("value", "expects", "wanted"),
    [
        (None, int, "int, got NoneType"),
        ("1", int | float, "int or float, got str"),
        (1, dict | None, "dict or NoneType, got int"),
    ],
)
async def test_a_value_of_another_type_is_a_failure(
    value: object, expects: Any, wanted: str
) -> None:
    async def callback(argument: int) -> object:
        return value

    failed = await ask(callback, 1, name="Thing.callback", timeout=LONG, expects=expects)
    assert isinstance(failed, Failed)
    assert str(failed.error) == f"Thing.callback: expected {wanted}. Return one in every case."


@pytest.mark.parametrize("value", [None, 1, "text"])
async def test_a_value_of_any_type_is_an_answer_where_object_is_expected(value: object) -> None:
    async def callback(argument: int) -> object:
        return value

    answer = await ask(callback, 1, name="Thing.callback", timeout=LONG, expects=object)
    assert answer == Answer(value)


@pytest.mark.parametrize(
    ("outcome", "reason", "traced"),
    [
        (Late(1.0), "it was late", False),
        (Failed(ConnectionClosedError("gone\naway")), "gone away", False),
        (Failed(ValueError("bad")), "bad", True),
        (Failed(TimeoutError()), "TimeoutError", True),
    ],
)
async def test_the_log_has_the_traceback_of_an_error_that_is_not_ours(
    outcome: Late | Failed, reason: str, traced: bool, caplog: pytest.LogCaptureFixture
) -> None:
    import logging

    log_failure(logging.getLogger("kinwire.test"), outcome, "%s failed", "notes")
    (record,) = caplog.records
    assert record.getMessage() == f"notes failed: {reason}"
    assert (record.exc_info is not None) is traced
