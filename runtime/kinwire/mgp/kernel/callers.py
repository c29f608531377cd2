"""Who acts: an agent, or the operator of the kernel. Only the program that owns the kernel says so.

Nothing in a message names the caller: an agent cannot take another identity by writing it.
"""

from __future__ import annotations

__all__ = (
    "AGENT_KIND",
    "DEFAULT_AGENT",
    "GATEWAY_AGENT",
    "OPERATOR",
    "UNNAMED_AGENTS",
    "Agent",
    "agent_now",
    "as_agent",
    "as_host",
    "as_operator",
    "caller_now",
    "operator_now",
)

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final, TypeVar

from anyio import get_current_task

from kinwire.mgp.rules.access import NAME_SIZE, is_name
from kinwire.support.arguments import TIME, ArgumentCheck, ValueKind

P = TypeVar("P")
R = TypeVar("R")

_NAME = ValueKind(f"1 to {NAME_SIZE} printable characters", '"agent.helper"', is_name)
_AGENT = ArgumentCheck("Agent", 'Agent("agent.helper")', {"id": _NAME}, expires_at=TIME.or_none)


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent, and until when the program has authenticated it: `kernel.acting_for(Agent(...))`.

    Calls from `expires_at` on, in seconds since 1970, are refused with error 1003; None for never.
    """

    id: str
    expires_at: float | None = None

    def __post_init__(self) -> None:
        _AGENT.check(id=self.id, expires_at=self.expires_at)


AGENT_KIND: Final = ValueKind(
    "the name of an agent, or an Agent",
    '"agent.helper"',
    lambda value: isinstance(value, Agent) or is_name(value),
)
DEFAULT_AGENT: Final = Agent("host")
"""Who calls where `MgpKernel.acting_for` names nobody."""
GATEWAY_AGENT: Final = Agent("gateway")
"""Who a client of a gateway is that nothing names."""
UNNAMED_AGENTS: Final = (DEFAULT_AGENT, GATEWAY_AGENT)
"""The agents that nobody has authenticated: these objects, and no other agent of their names."""
OPERATOR: Final = "operator"
"""The name of an operator who gives none."""

_agent: Final[ContextVar[Agent]] = ContextVar("kinwire.mgp.agent", default=DEFAULT_AGENT)
_operator: Final[ContextVar[tuple[str, int] | None]] = ContextVar(
    "kinwire.mgp.operator", default=None
)


def agent_now() -> str:
    """Return the name of the agent for which this task calls tools."""
    return _agent.get().id


def caller_now() -> Agent:
    """Return the agent for which this task calls tools."""
    return _agent.get()


def operator_now() -> str:
    """Return the operator as whom this task acts: `OPERATOR` outside of `acting_as_operator`.

    A task that was started inside the block is another task: it does not act as the operator. So a
    handler that serves messages of a server never does.
    """
    found = _operator.get()
    return found[0] if found is not None and found[1] == get_current_task().id else OPERATOR


@contextmanager
def as_agent(agent: str | Agent) -> Generator[None]:
    """Call tools for `agent` inside the block, in tasks that are started there too."""
    token = _agent.set(agent if isinstance(agent, Agent) else Agent(agent))
    masked = _operator.set(None)
    try:
        yield
    finally:
        _operator.reset(masked)
        _agent.reset(token)


async def as_host(params: P, request: object, go_on: Callable[[P], Awaitable[R]]) -> R:
    """Serve a message of a server for no agent: not for the one that happened to connect."""
    with as_agent(DEFAULT_AGENT):
        return await go_on(params)


@contextmanager
def as_operator(name: str) -> Generator[None]:
    """Act as the operator `name` inside the block, in this task only."""
    token = _operator.set((name, get_current_task().id))
    try:
        yield
    finally:
        _operator.reset(token)
