"""What the actors of one supervisor share."""

from __future__ import annotations

__all__ = ("SupervisorServices",)

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.mgp.kernel.supervisor.group_memory import GroupMemory
from kinwire.mgp.kernel.supervisor.kept_histories import KeptHistories
from kinwire.mgp.kernel.supervisor.launch import Launch
from kinwire.mgp.kernel.supervisor.log_lines import LogLines
from kinwire.mgp.kernel.supervisor.reports import Reports
from kinwire.mgp.rules.lifecycle import StateChange
from kinwire.mgp.rules.server_spec import ServerSpec
from kinwire.rpc.session import Session
from kinwire.storage.clock import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class SupervisorServices:
    """What the actors of one supervisor share."""

    launch: Callable[[ServerSpec, LogLines], Launch]
    guarded: Callable[[Session], GuardedServer | None]
    """Returns the kernel's side of a session; None if it is over."""
    reports: Reports
    histories: KeptHistories
    clock: Clock
    changed: Callable[[StateChange], object]
    """Gets each change of a state."""
    noticed: Callable[[str], object]
    """Gets the id of a server of which something else has changed."""
    memory: GroupMemory = field(default_factory=GroupMemory)
    jitter: Callable[[], float] = random.random
