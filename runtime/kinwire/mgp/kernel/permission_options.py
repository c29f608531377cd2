"""How a kernel decides about permissions: its policy, and the person who is asked (MGP 3.3)."""

from __future__ import annotations

__all__ = (
    "POLICY_KIND",
    "AskPermission",
    "PermissionAnswer",
    "PermissionQuestion",
    "Permissions",
)

import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, fields

from kinwire.mgp.kernel.callers import OPERATOR
from kinwire.support.arguments import FUNCTION, LIFE, SECONDS, TEXT, ArgumentCheck, one_of
from kinwire_protocols.mgp.models import GrantValue, PermissionPolicy, RiskLevel
from kinwire_protocols.mgp.tables import APPROVAL_POLICIES


@dataclass(frozen=True, slots=True)
class PermissionQuestion:
    """A question for the operator: may this server have this permission?"""

    server: str
    """The kernel's name for the server. It is `server_id`, never a name of the server's own."""
    permission: str
    """Its name, which the server has chosen unless it is a standard one: letters, digits, `_-.`"""
    risk: RiskLevel
    allows: str
    """What the permission allows."""
    agent: str | None = None
    """The agent whose call needs it; None if the server requires it to start."""
    tool: str | None = None
    """The tool that is called; None as for `agent`."""


@dataclass(frozen=True, slots=True)
class PermissionAnswer:
    """The operator's answer to a `PermissionQuestion`.

    A deferred one counts as denied until it is decided; the question is asked again.
    """

    decision: GrantValue
    by: str = OPERATOR
    """Who decided: it stands in the audit trail and is sent to the server."""
    lasts: float | None = None
    """For how many seconds, 0 for this once; None for `Permissions.lasts`."""
    reason: str | None = None
    """Why it was denied, for people."""

    def __post_init__(self) -> None:
        _ANSWER_CHECK.check(**{one.name: getattr(self, one.name) for one in fields(self)})


AskPermission = Callable[[PermissionQuestion], Awaitable["PermissionAnswer | bool"]]
"""Asks a person to decide about one permission; True approves it, False denies it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Permissions:
    """How a kernel decides about permissions: `MgpKernel(permissions=Permissions(ask=...))`.

    `policy` holds for servers whose `ServerPolicy.approval` is None:

    - `interactive` asks the operator for each permission that `ServerPolicy.permissions` lacks
    - `auto_approve` approves all permissions
    - `deny_all` and `config_only` approve those in `ServerPolicy.permissions` and no others

    Without `ask` a permission waits in the records for `kinwire permissions approve`. A call waits
    for `timeout` seconds, a server that connects for `start_timeout`: keep that below the
    `handshake_timeout` of the connection. An approval lasts for `lasts` seconds if the answer does
    not say how long. A denial lasts until the operator approves.

    Raises:
        ValueError: the policy is not one of the four, or a time is out of range.
    """

    policy: PermissionPolicy = "interactive"
    ask: AskPermission | None = None
    timeout: float = 60.0
    start_timeout: float = 20.0
    lasts: float = math.inf

    def __post_init__(self) -> None:
        _PERMISSIONS.check(**{one.name: getattr(self, one.name) for one in fields(self)})


POLICY_KIND = one_of(*APPROVAL_POLICIES)
_PERMISSIONS = ArgumentCheck(
    "Permissions",
    "Permissions()",
    {},
    policy=POLICY_KIND,
    ask=FUNCTION.or_none,
    timeout=SECONDS,
    start_timeout=SECONDS,
    lasts=LIFE,
)
_ANSWER_CHECK = ArgumentCheck(
    "PermissionAnswer",
    'PermissionAnswer("approved")',
    {"decision": one_of("approved", "denied", "deferred")},
    by=TEXT,
    lasts=LIFE.or_none,
    reason=TEXT.or_none,
)
