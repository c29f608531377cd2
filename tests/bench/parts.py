"""The parts of the table, each measured in a process of its own, which nothing else has filled."""

from __future__ import annotations

__all__ = ("PARTS", "rows_of")

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from tests.bench import (
    bindings,
    connections,
    event_deliveries,
    events_index,
    gateway,
    guarded,
    lite,
    live,
    over_http,
    startup,
    storage,
    tools,
)
from tests.bench.measure import Row

PARTS: dict[str, Callable[[], Iterator[Row]]] = {
    "startup": startup.rows,
    "bindings": bindings.rows,
    "connections": connections.rows,
    "http": over_http.rows,
    "storage": storage.rows,
    "lite": lite.rows,
    "live": live.rows,
    "mgp": guarded.rows,
    "gateway": gateway.rows,
    "events-index": events_index.rows,
    "tools": tools.rows,
    "events": event_deliveries.rows,
}


def rows_of(name: str) -> list[Row]:
    """Measure a part."""
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        return process.submit(_measured, name).result()


def _measured(name: str) -> list[Row]:
    return list(PARTS[name]())
