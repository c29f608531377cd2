"""An audit trail has one event for each operation, also if the operation or the log fails."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest

from kinwire.managers import audit_trail
from kinwire.managers.audit_trail import AuditEvent, AuditTrail, Ending

pytestmark = pytest.mark.anyio

LOGGER = logging.getLogger("kinwire.test.audit")
SOON = 0.01  # seconds


class FakeLog:
    """Keeps what is appended; `doing` runs before that."""

    def __init__(self, doing: Callable[[], Awaitable[object]] | None = None) -> None:
        self.doing = doing
        self.entries: list[tuple[str, Any]] = []

    async def append(self, subject: str, value: Any, *, id: str | None = None) -> Any:
        if self.doing is not None:
            await self.doing()
        self.entries.append((subject, value))


def described(event: object, at: float) -> AuditEvent:
    return AuditEvent("work", {"what": str(event), "at": at}, f"it is {event}")


def trail_on(log: Any) -> AuditTrail[Any]:
    return AuditTrail(log, lambda: 7.0, described, logger=LOGGER)


def watched(trail: AuditTrail[Any], call: Callable[[Any], Awaitable[Any]]) -> Awaitable[Any]:
    return trail.watch(call, 1, lambda ending: ending)


async def fail(params: object = None) -> None:
    raise TimeoutError("no")


async def never(params: object = None) -> None:
    await anyio.sleep_forever()


async def test_an_event_is_in_the_log_and_in_the_logger(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, LOGGER.name)
    log = FakeLog()
    assert await trail_on(log).write("done")
    assert log.entries == [("work", {"what": "done", "at": 7.0})]
    (record,) = caplog.records
    assert record.getMessage() == "it is done"
    assert vars(record)["operation"] == {"what": "done", "at": 7.0}


async def test_the_event_is_written_before_the_caller_gets_the_result() -> None:
    log = FakeLog()

    async def double(params: int) -> int:
        assert log.entries == []
        return 2 * params

    assert await watched(trail_on(log), double) == 2
    assert [value["what"] for _, value in log.entries] == [str(Ending(2))]


async def test_an_operation_that_raises_has_an_event() -> None:
    log = FakeLog()
    with pytest.raises(TimeoutError, match="no") as caught:
        await watched(trail_on(log), fail)
    assert [value["what"] for _, value in log.entries] == [str(Ending(error=caught.value))]


@pytest.mark.parametrize(("after", "late"), [(None, False), (SOON, True)])
async def test_an_operation_that_is_cancelled_has_an_event(after: float | None, late: bool) -> None:
    log = FakeLog(doing=lambda: anyio.sleep(0.001))  # the log waits in a cancelled scope
    with anyio.move_on_after(after) as scope:
        if after is None:
            scope.cancel()
        await watched(trail_on(log), never)
    assert scope.cancelled_caught
    assert [value["what"] for _, value in log.entries] == [str(Ending(cancelled=True, late=late))]


async def test_a_log_that_fails_does_not_stop_the_operation(
    caplog: pytest.LogCaptureFixture,
) -> None:
    trail = trail_on(FakeLog(doing=fail))
    assert not await trail.write("done")

    async def double(params: int) -> int:
        return 2 * params

    assert await watched(trail, double) == 2
    first, _ = caplog.records
    assert first.getMessage() == "it is done, which the log did not take"
    assert first.exc_info is not None
    assert isinstance(first.exc_info[1], TimeoutError)  # its own, with its traceback


async def test_a_log_that_does_not_answer_delays_an_operation_for_a_limited_time(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(audit_trail, "_MOST_WAITED", SOON)
    with anyio.fail_after(10):
        assert not await trail_on(FakeLog(doing=never)).write("done")
    (record,) = caplog.records
    assert record.exc_info is None


async def test_several_events_have_the_time_of_one(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(audit_trail, "_MOST_WAITED", 5 * SOON)
    log = FakeLog(doing=lambda: anyio.sleep(SOON))
    trail = trail_on(log)
    assert await trail.write_all([1], "one")
    assert not await trail.write_all(range(1000), "many")
    assert len(log.entries) < 10
    assert "many: the log did not take all events in time" in caplog.text


async def test_without_log_and_logger_no_event_is_wanted(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, LOGGER.name)
    assert not trail_on(None).wanted
    assert trail_on(FakeLog()).wanted
    caplog.set_level(logging.INFO, LOGGER.name)
    assert trail_on(None).wanted
    assert await trail_on(None).write("done")
