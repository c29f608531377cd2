"""Ten seconds of mixed load; `nox -s soak` does half an hour of it."""

from __future__ import annotations

import sys

import pytest

from tests.runtime.transports.soak import LIMITS, soaked

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]

SECONDS = 10.0  # on each backend


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_nothing_grows_while_clients_come_and_go(backend: str) -> None:
    grown = soaked(SECONDS, backend)
    assert grown.cycles > 2, "the server is too slow for this to mean anything"
    assert grown.over(LIMITS) == {}
