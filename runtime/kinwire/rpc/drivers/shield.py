"""Whether a task of asyncio stands in a shielded cancel scope of anyio.

`Task.cancel()` breaks through such a shield. anyio has no public way to ask, so this looks at
its task states, which it keeps for its own use; a test pins that they are found.
"""

from __future__ import annotations

__all__ = ("shielded",)

import sys
from asyncio import Task
from typing import Any


def shielded(task: Task[Any]) -> bool:
    """Return whether a scope around the current await of `task` is shielded."""
    backend: Any = sys.modules.get("anyio._backends._asyncio")
    if backend is None:  # nobody has used anyio
        return False
    state = getattr(backend, "_task_states", {}).get(task)
    scope = None if state is None else state.cancel_scope
    while scope is not None:
        if scope.shield:
            return True
        scope = scope._parent_scope
    return False
