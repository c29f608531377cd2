"""Asynchronous tests of the runtime run on both libraries."""

from __future__ import annotations

__all__ = ("anyio_backend",)

from tests.fixtures_backends import anyio_backend
