"""What access control takes: its options, who may change entries, and checks of arguments."""

from __future__ import annotations

__all__ = (
    "GRANT",
    "LIST",
    "NAME",
    "QUERY",
    "REASON",
    "REVOKE",
    "Access",
    "AccessPrincipal",
    "IsOperator",
    "acts_as_operator",
)

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from kinwire.mgp.rules.access import NAME_SIZE, REASON_SIZE, is_name
from kinwire.support.arguments import (
    PLAIN_FUNCTION,
    SECONDS,
    ArgumentCheck,
    ValueKind,
    one_of,
)

logger = logging.getLogger("kinwire.mgp")


@dataclass(frozen=True, slots=True)
class AccessPrincipal:
    """Who asks to see or to change entries: an agent, a connected server, or the operator."""

    kind: Literal["agent", "server", "operator"]
    id: str
    """The name that the kernel has given it; never one from a message."""


IsOperator = Callable[[AccessPrincipal], bool]
"""Returns whether an agent or a server may grant and revoke as the operator can."""


def acts_as_operator(caller: AccessPrincipal, is_operator: IsOperator | None) -> bool:
    """Return whether a caller may do what the operator can; False if the function fails."""
    if caller.kind == "operator":
        return True
    try:
        found: Any = is_operator and is_operator(caller)
    except Exception:
        logger.exception("is_operator failed for %s", caller)
        return False
    return found is True


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """How a kernel controls access; `MgpKernel(access=...)` takes one.

    Only the program that owns the kernel grants and revokes. `is_operator` can let an agent or a
    connected server do so too, by its `AccessPrincipal`: `mgp/access/grant` and
    `mgp/access/revoke` of all others are refused with error 1000. What holds without an entry is
    `ServerPolicy.access`, or the default of the server's trust.

    Raises:
        TypeError: `is_operator` is not a plain function.
    """

    is_operator: IsOperator | None = None

    def __post_init__(self) -> None:
        _ACCESS.check(is_operator=self.is_operator)


NAME = ValueKind(f"1 to {NAME_SIZE} printable characters", '"files"', is_name, error=ValueError)
REASON = ValueKind(
    f"a string of at most {REASON_SIZE} characters",
    '"..."',
    lambda value: isinstance(value, str) and len(value) <= REASON_SIZE,
    error=ValueError,
)
_ACCESS = ArgumentCheck("Access", "Access()", {}, is_operator=PLAIN_FUNCTION.or_none)
GRANT = ArgumentCheck(
    "AccessManager.grant",
    'await kernel.access.grant("agent.a", "files", "allow")',
    {"agent": NAME, "server": NAME, "permission": one_of("allow", "deny")},
    tool=NAME.or_none,
    expires_in=SECONDS.or_none,
    justification=REASON.or_none,
)
REVOKE = ArgumentCheck(
    "AccessManager.revoke",
    'await kernel.access.revoke("agent.a", "files")',
    {"agent": NAME, "server": NAME},
    tool=NAME.or_none,
)
QUERY = ArgumentCheck(
    "AccessManager.query",
    'await kernel.access.query("agent.a", "files", "read_file")',
    {"agent": NAME, "server": NAME, "tool": NAME},
)
LIST = ArgumentCheck(
    "AccessManager.list",
    "await kernel.access.list()",
    {},
    agent=NAME.or_none,
    server=NAME.or_none,
)
