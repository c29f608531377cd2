"""Options of a kernel's registry, and checks of the arguments of its methods."""

from __future__ import annotations

__all__ = (
    "ADVERTISE",
    "APPROVE",
    "DEREGISTER",
    "LIST_SERVERS",
    "REGISTER",
    "AskRegistration",
    "Registrations",
)

import os
import socket
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, fields
from uuid import uuid4

from kinwire.mgp.kernel.access_options import NAME, REASON, IsOperator
from kinwire.mgp.rules.registration import Registration
from kinwire.support.arguments import (
    FUNCTION,
    PATH,
    PLAIN_FUNCTION,
    SECONDS,
    SECRET,
    TEXT,
    TEXTS,
    ArgumentCheck,
    instance_of,
    list_of,
    table_of,
)
from kinwire_protocols.mgp.models import DiscoveryFilter, ServerProfile

AskRegistration = Callable[[Registration], Awaitable[bool]]
"""Asks a person whether a server may run; True approves it, False takes it out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Registrations:
    """How a kernel takes servers that are registered at run time: `MgpKernel(registrations=...)`.

    Agents and servers may ask for one by `mgp/discovery/register`. It is sandboxed, and runs as
    soon as an operator approves it: `ask` asks a person, and without it the server waits for
    `kernel.registry.approve`. `is_operator` can let an agent or a connected server act as the
    operator, by its `AccessPrincipal`: what it registers is approved.

    Scripts have to be in `folder`, which is the current folder if it is None. They may import the
    packages in `imports` beyond what code that may only read can import.

    Kernels that share records run each server once. `name` is what this kernel is called there. One
    that is killed is replaced after `lease` seconds; all of them must use the same number.

    Raises:
        TypeError: an argument is not of its type.
        ValueError: `lease` is out of range.
    """

    ask: AskRegistration | None = None
    is_operator: IsOperator | None = None
    folder: str | os.PathLike[str] | None = None
    imports: Collection[str] = ("kinwire", "kinwire_protocols", "mcp", "fastmcp")
    name: str | None = None
    lease: float = 15.0

    def __post_init__(self) -> None:
        _REGISTRATIONS.check(**{one.name: getattr(self, one.name) for one in fields(self)})
        if self.name is None:
            name = f"{socket.gethostname()}-{os.getpid()}-{uuid4().hex[:8]}"
            object.__setattr__(self, "name", name)


_REGISTRATIONS = ArgumentCheck(
    "Registrations",
    "Registrations()",
    {},
    ask=FUNCTION.or_none,
    is_operator=PLAIN_FUNCTION.or_none,
    folder=PATH.or_none,
    imports=TEXTS,
    name=NAME.or_none,
    lease=SECONDS,
)
_PROFILE = instance_of(ServerProfile, "a ServerProfile", "ServerProfile()")
LIST_SERVERS = ArgumentCheck(
    "RegistryManager.list",
    "await kernel.registry.list()",
    {},
    wanted=instance_of(DiscoveryFilter, "a DiscoveryFilter", "DiscoveryFilter()").or_none,
)
ADVERTISE = ArgumentCheck(
    "RegistryManager.advertise",
    "kernel.registry.advertise({one.id: one.profile for one in config.servers})",
    {"profiles": table_of(_PROFILE, "a dictionary from server_id to ServerProfile", '"files"')},
)
REGISTER = ArgumentCheck(
    "RegistryManager.register",
    'await kernel.registry.register("tool", command="python", args=["tool.py"])',
    {"id": TEXT},
    command=TEXT.or_none,
    args=list_of(SECRET, "several strings"),
    url=SECRET.or_none,
    profile=_PROFILE.or_none,
    justification=REASON.or_none,
)
APPROVE = ArgumentCheck(
    "RegistryManager.approve",
    "await kernel.registry.approve(waiting.id, waiting.digest)",
    {"id": TEXT, "digest": TEXT},
)
DEREGISTER = ArgumentCheck(
    "RegistryManager.deregister",
    'await kernel.registry.deregister("tool")',
    {"id": TEXT},
    reason=REASON.or_none,
)
