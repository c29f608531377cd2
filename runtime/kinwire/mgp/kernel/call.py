"""A call of a tool that is about to leave the kernel: what every check of it gets."""

from __future__ import annotations

__all__ = ("Check", "GuardedCall")

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kinwire.mgp.rules.tools import KnownTool
from kinwire_protocols.base import JsonObject

if TYPE_CHECKING:
    from kinwire.mgp.kernel.guarded_server import GuardedServer


@dataclass(slots=True)
class GuardedCall:
    """One call, before it is sent."""

    agent: str
    """Who calls: set by the kernel, never taken from a message."""
    server: GuardedServer
    tool: KnownTool
    arguments: JsonObject
    """The arguments that are sent; checks do not change them."""
    trace_id: str
    approved_once: set[str] = field(default_factory=set[str], compare=False)
    """The permissions that were approved when they were asked for by this call."""


Check = Callable[[GuardedCall], Awaitable[None] | None]
"""Judges a call, and raises to refuse it. It may return what to wait for."""
