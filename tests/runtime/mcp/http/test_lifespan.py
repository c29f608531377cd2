"""What an application does when its server reports its start and its end."""

from __future__ import annotations

import gc
from collections.abc import MutableMapping
from typing import Any

import pytest

from tests.runtime.mcp.http.conftest import Tools

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("frozen", [0, 1])
async def test_objects_loaded_at_the_start_are_frozen_for_the_collector_once(
    tools: Tools, monkeypatch: pytest.MonkeyPatch, frozen: int
) -> None:
    done: list[str] = []
    monkeypatch.setattr(gc, "get_freeze_count", lambda: frozen)
    monkeypatch.setattr(gc, "collect", lambda: done.append("collect"))
    monkeypatch.setattr(gc, "freeze", lambda: done.append("freeze"))
    told = iter([{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}])
    said: list[str] = []

    async def receive() -> MutableMapping[str, Any]:
        return next(told)

    async def send(message: MutableMapping[str, Any]) -> None:
        said.append(message["type"])

    await tools.server.asgi()({"type": "lifespan"}, receive, send)
    assert said == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
    assert done == ([] if frozen else ["collect", "freeze"])
