"""MCP-lite over its bindings."""

from __future__ import annotations

__all__ = ("rows",)

from collections.abc import Iterator

from tests.bench import lite_grpc, lite_http
from tests.bench.measure import Row


def rows() -> Iterator[Row]:
    """Yield the measurements."""
    yield from lite_http.rows()
    yield from lite_grpc.rows()
