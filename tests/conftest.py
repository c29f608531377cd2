"""What holds for every test."""

from __future__ import annotations

import asyncio
import gc
import signal
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.absent import fold_skips
from tests.sample import IS_SAMPLE, outside_the_sample
from tests.spec.ledger import claims_of, faults_of_claims

# A shell starts background jobs, and so some CI systems start everything, with interrupts ignored,
# nohup with hang-ups ignored, and that is inherited. Tests send both to child processes, which must
# get Python's usual handling.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# grpc.aio has one queue of events for all loops of a process. What it still has for a loop that
# another test has closed is raised in the loop of the test that runs, which has no part in it.
_report = asyncio.BaseEventLoop.call_exception_handler


def _report_own(loop: asyncio.BaseEventLoop, context: dict[str, Any]) -> None:
    is_closed = str(context.get("exception")) == "Event loop is closed"
    if not (is_closed and "PollerCompletionQueue._handle_events" in context["message"]):
        _report(loop, context)


asyncio.BaseEventLoop.call_exception_handler = _report_own  # type: ignore[assignment, method-assign]

# Rounds of the garbage collector after every 700 new objects cost noticeable time.
gc.set_threshold(50_000, 20, 10)

# How many examples a property is tried with: few on every change, more in `nox -s properties`, and
# many by hand: `nox -s properties -- --hypothesis-profile=deep`.
# Nothing is said of time: a machine may be busy.
for _profile, _examples in (("quick", 20), ("thorough", 100), ("deep", 1000)):
    settings.register_profile(
        _profile,
        max_examples=_examples,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile("quick")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """End the run when a test claims a row of a specification that there is not, or too many."""
    faults = {
        f"{item.nodeid}: {fault}" for item in items for fault in faults_of_claims(claims_of(item))
    }
    if faults:
        raise pytest.UsageError("\n".join(sorted(faults)))
    if IS_SAMPLE and (left_out := outside_the_sample(items)):
        config.hook.pytest_deselected(items=left_out)
        gone = set(left_out)
        items[:] = [item for item in items if item not in gone]


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Take what was collected out of the garbage collector's rounds: all of it stays to the end."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print one line for all tests that need data next to the project, in place of hundreds."""
    fold_skips(terminalreporter.stats.get("skipped", []))
