"""Stores for processes, as for the tests of stores."""

from __future__ import annotations

__all__ = ("engine", "nats_server")

from tests.runtime.storage.conftest import engine, nats_server
