"""A word on stderr when a server takes its time: silence would look like a hang."""

from __future__ import annotations

__all__ = ("patience_with",)

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio

from kinwire.support.background import background

SILENCE = 5.0  # seconds


@asynccontextmanager
async def patience_with(method: str) -> AsyncGenerator[None]:
    """Say once what is waited for, if the block takes longer than a few seconds."""
    async with background() as tasks:
        tasks.start_soon(_tell, method)
        yield
        tasks.cancel_scope.cancel()


async def _tell(method: str) -> None:
    await anyio.sleep(SILENCE)
    print(f"waiting for the server to answer {method} ...", file=sys.stderr)
