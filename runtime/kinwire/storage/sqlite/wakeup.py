"""How a thread has something done on the event loop, without waiting for it."""

from __future__ import annotations

__all__ = ("Later", "later")

import asyncio
from collections.abc import Callable

Later = Callable[[Callable[[], None]], object]


def later() -> Later:
    """Return what calls a function soon on the loop that runs here, from any thread.

    It raises RuntimeError once that loop is over.
    """
    try:
        native = asyncio.current_task() is not None  # None below a trio guest of an asyncio loop
    except RuntimeError:
        native = False
    if native:
        return asyncio.get_running_loop().call_soon_threadsafe
    from trio.lowlevel import current_trio_token

    return current_trio_token().run_sync_soon
