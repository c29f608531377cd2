"""Each end on each transport, with a peer of bytes; the tests of a file share them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.runtime.transports.faults.fixtures_ends import (
    PLACES,
    Place,
    Session,
    client_under_test,
    server_under_test,
)
from tests.runtime.transports.faults.table import CLIENT


@pytest.fixture(scope="module", params=PLACES, ids=str)
def where(request: pytest.FixtureRequest) -> Place:
    found: Place = request.param
    return found


@pytest.fixture(scope="module")
def session(where: Place) -> Iterator[Session]:
    """The end under test; tests leave it as it was."""
    under_test = client_under_test if where.end == CLIENT else server_under_test
    with under_test(where.transport, where.backend) as one:
        yield one
