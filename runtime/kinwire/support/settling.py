"""What a server does once all that it needs is loaded."""

from __future__ import annotations

__all__ = ("settle",)

import gc


def settle() -> None:
    """Take what the process has loaded out of the garbage collector's rounds, once.

    With many requests in flight they come often, and each would look through all of it.
    """
    if not gc.get_freeze_count():
        gc.collect()
        gc.freeze()
