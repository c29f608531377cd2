"""Who acts: an agent, or the operator of the kernel. Only the program that owns the kernel says so.

Nothing in a message names the caller: an agent cannot take another identity by writing it.
"""

from __future__ import annotations

__all__ = ("DEFAULT_AGENT", "OPERATOR", "agent_now", "as_agent", "as_operator", "operator_now")

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from anyio import get_current_task

DEFAULT_AGENT: Final = "host"
"""Who calls where `MgpKernel.acting_for` names nobody."""
OPERATOR: Final = "operator"
"""The name of an operator who gives none."""

_agent: Final[ContextVar[str]] = ContextVar("kinwire.mgp.agent", default=DEFAULT_AGENT)
_operator: Final[ContextVar[tuple[str, int] | None]] = ContextVar(
    "kinwire.mgp.operator", default=None
)


def agent_now() -> str:
    """Return the agent for which this task calls tools."""
    return _agent.get()


def operator_now() -> str | None:
    """Return the operator as whom this task acts; None if it acts as none.

    A task that was started inside the block is another task: it does not act as the operator. So a
    handler that serves messages of a server never does.
    """
    found = _operator.get()
    return found[0] if found is not None and found[1] == get_current_task().id else None


@contextmanager
def as_agent(agent: str) -> Generator[None]:
    """Call tools for `agent` inside the block, in tasks that are started there too."""
    token, masked = _agent.set(agent), _operator.set(None)
    try:
        yield
    finally:
        _operator.reset(masked)
        _agent.reset(token)


@contextmanager
def as_operator(name: str) -> Generator[None]:
    """Act as the operator `name` inside the block, in this task only."""
    token = _operator.set((name, get_current_task().id))
    try:
        yield
    finally:
        _operator.reset(token)
