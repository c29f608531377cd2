"""An engine for each test: memory and SQLite on both event loops, NATS on asyncio."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.runtime.storage.fixtures_engines import Engine, NatsServer


@pytest.fixture(scope="session")
def nats_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    """A server that lives as long as the tests of this process."""
    server = NatsServer(tmp_path_factory.mktemp("nats"))
    server.start()
    yield server
    server.kill()


@pytest.fixture
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Engine:
    """An empty store, not opened yet."""
    if request.param == "memory":
        return Engine("memory", "memory:")
    if request.param == "sqlite":
        return Engine("sqlite", f"sqlite:///{tmp_path}/store.db")
    server: NatsServer = request.getfixturevalue("nats_server")
    return Engine("nats", server.url)
