"""A host whose kernel guards a raw server, and the audit events of that."""

from __future__ import annotations

__all__ = ("AuditEvents", "audited", "guarded", "outcome")

import logging
from collections.abc import AsyncGenerator, Awaitable, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from kinwire import Connection, Host, RpcError
from kinwire.mgp import MgpKernel
from tests.runtime.mgp.raw_peers import Json, RawServer


class AuditEvents(list[Json]):
    """The params of audit events, in order."""

    def of(self, *types: str) -> list[Json]:
        """Return those of some types."""
        return [one for one in self if one["event_type"] in types]

    @property
    def of_calls(self) -> list[Json]:
        """Return those that end a call."""
        return self.of("TOOL_EXECUTED", "TOOL_BLOCKED", "VALIDATION_FAILED", "CODE_REJECTED")


class _Collector(logging.Handler):
    def __init__(self, events: AuditEvents) -> None:
        super().__init__(logging.INFO)
        self._events = events

    def emit(self, record: logging.LogRecord) -> None:
        self._events.append(record.event)  # type: ignore[attr-defined]


@contextmanager
def audited() -> Generator[AuditEvents]:
    """Yield the events that are written in the block."""
    log, events = logging.getLogger("kinwire.mgp.audit"), AuditEvents()
    handler, level = _Collector(events), log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield events
    finally:
        log.setLevel(level)
        log.removeHandler(handler)


@asynccontextmanager
async def guarded(
    raw: RawServer, kernel: MgpKernel, server_id: str | None = "s"
) -> AsyncGenerator[Connection]:
    """Yield a guarded connection to a raw server."""
    async with Host("h", "1", extensions=[kernel]) as host:
        yield await host.connect(raw, server_id=server_id)
        for server in kernel.servers:  # each call that has ended is forgotten, however it ended
            assert server.open_calls == set()


async def outcome(doing: Awaitable[Any]) -> Any:
    """Return what comes of it; of an error its code."""
    try:
        return await doing
    except RpcError as error:
        return error.code
