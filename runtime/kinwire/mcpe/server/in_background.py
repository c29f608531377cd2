"""What a server does for clients that no call waits for."""

from __future__ import annotations

__all__ = ("in_background",)

import logging
from collections.abc import Callable, Coroutine
from contextvars import Context
from typing import Any

from kinwire.rpc.errors import ConnectionClosedError
from kinwire.storage.errors import StorageError
from kinwire.support.background import start_detached

logger = logging.getLogger("kinwire.mcpe")


def in_background(work: Callable[[], Coroutine[Any, Any, object]]) -> None:
    """Do some work in a task that belongs to no request; what fails is logged."""

    async def run() -> None:
        try:
            await work()
        except ConnectionClosedError:
            logger.debug("a client has left before it was notified")
        except StorageError as error:
            logger.error("a subscription was not written: %s", error)
        except Exception:  # of an interceptor
            logger.exception("a client was not notified")

    Context().run(start_detached, run)
