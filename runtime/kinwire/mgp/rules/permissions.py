"""Permissions: what a name stands for, how risky it is, and what a policy decides (MGP 3).

The standard permissions and their risks are the generated table `STANDARD_PERMISSIONS`.
"""

from __future__ import annotations

__all__ = (
    "MOST_PERMISSIONS",
    "NAME_SIZE",
    "PermissionDecision",
    "PermissionState",
    "allowed_by",
    "checked_permissions",
    "expanded",
    "grant_of",
    "grants_on_wire",
    "judge",
    "name_problem",
    "narrowed",
    "read_grant",
    "risk_of",
    "why_lacking",
)

import math
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from kinwire.rpc.codec import is_object
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mgp.models import (
    GrantValue,
    PermissionGrant,
    PermissionPolicy,
    RiskLevel,
)
from kinwire_protocols.mgp.tables import STANDARD_PERMISSIONS

NAME_SIZE = 128
"""The longest name of a permission, in characters."""
MOST_PERMISSIONS = 100
"""The most permissions that one server, or one tool, may require."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*(?:\.[A-Za-z0-9][A-Za-z0-9_-]*)*", re.ASCII)
_STANDARD: Final[Mapping[str, RiskLevel]] = {
    name: rule.risk_level for name, rule in STANDARD_PERMISSIONS.items()
}


def _families() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name in _STANDARD:
        family, dot, _ = name.partition(".")
        if dot:
            found[family] = (*found.get(family, ()), name)
    return found


_FAMILIES: Final = _families()
_DECIDED: Final[Mapping[str, GrantValue]] = {"approved": "approved", "denied": "denied"}
_SPELLINGS: Final = {name.lower(): name for name in (*_STANDARD, *_FAMILIES)}

GrantSource = Literal["configuration", "name", "nobody", "operator", "policy", "server"]
"""What decided: `server` for its answer that grants less, `name` for a name that is not valid."""


class PermissionState(NamedTuple):
    """What holds for one permission of one server at one moment."""

    value: GrantValue
    source: GrantSource
    expires_at: float | None = None
    """When an approval ends, in seconds since 1970; None for never."""


@dataclass(frozen=True, slots=True)
class PermissionDecision:
    """What an operator decided about one permission of one server."""

    server: str
    permission: str
    value: GrantValue
    by: str
    """The operator."""
    at: float
    """When, in seconds since 1970."""
    expires_at: float | None = None
    """When it ends, in seconds since 1970; None for never. At that time it has already ended."""
    reason: str | None = None
    revoked: bool = False
    """Whether it was approved before."""

    @property
    def approved(self) -> bool:
        """Whether it was approved."""
        return self.value == "approved"

    def to_json(self) -> JsonObject:
        """Return the decision as it is stored."""
        stored: JsonObject = {
            "server": self.server,
            "permission": self.permission,
            "by": self.by,
            "at": self.at,
            "expires_at": self.expires_at,
        }
        if self.reason is not None:
            stored["reason"] = self.reason
        if self.revoked:
            stored["revoked"] = True
        return stored

    @classmethod
    def from_json(cls, stored: Any, *, value: GrantValue) -> PermissionDecision:
        """Return the decision that `to_json` has written.

        Raises:
            ValueError, TypeError, KeyError: it is not one.
        """
        expires_at, reason = stored["expires_at"], stored.get("reason")
        return cls(
            str(stored["server"]),
            str(stored["permission"]),
            value,
            str(stored["by"]),
            float(stored["at"]),
            None if expires_at is None else float(expires_at),
            None if reason is None else str(reason),
            stored.get("revoked") is True,
        )


def name_problem(name: str) -> str | None:
    """Return why `name` is not a valid name of a permission, as a clause; None if it is one.

    A name has labels of ASCII letters, digits, `_` and `-` between dots. A standard name in other
    letters is refused: people would take it for the standard one.
    """
    if name in _STANDARD:
        return None
    if not 0 < len(name) <= NAME_SIZE:
        return f"it has {len(name)} characters, not 1 to {NAME_SIZE}"
    if _NAME.fullmatch(name) is None:
        return "it is not made of letters, digits, _ and - with dots between"
    standard = _SPELLINGS.get(name.lower(), name)
    return None if standard == name else f"it is written {standard}"


def checked_permissions(place: str, names: Collection[str]) -> tuple[str, ...]:
    """Return `names` of a configuration, expanded.

    Raises:
        ValueError: a name is not valid.
    """
    for name in names:
        problem = name_problem(name)
        if problem is not None:
            raise ValueError(
                f"{place}: expected names of permissions, got {name!r:.60}: {problem}. "
                "Write a name such as filesystem.read or com.example.custom"
            )
    return expanded(names)


def expanded(names: Iterable[str]) -> tuple[str, ...]:
    """Return each permission that `names` stand for, once, in order.

    A family (`shell`) stands for its standard permissions (`shell.execute`). What comes into the
    family later is another permission: an approval of the family does not cover it.
    """
    return tuple(dict.fromkeys(one for name in names for one in _FAMILIES.get(name, (name,))))


def risk_of(permission: str) -> RiskLevel:
    """Return how risky it is to approve; what is not a standard permission is dangerous."""
    return _STANDARD.get(permission, "dangerous")


def allowed_by(permission: str) -> str:
    """Return what a permission allows, for people."""
    rule = STANDARD_PERMISSIONS.get(permission)
    return "Not a standard permission: ask its server's author" if rule is None else rule.allows


def judge(
    policy: PermissionPolicy, decision: PermissionDecision | None, *, configured: bool
) -> PermissionState:
    """Return what holds for a permission (MGP 3.3).

    `decision` is the operator's last one that has not expired. A denial of the operator counts more
    than everything else. `configured` says that the configuration approves it. Only under
    `interactive` does an approval of the operator count, and only there may it be asked for:
    `deny_all` and `config_only` approve what the configuration lists and nothing else.
    """
    if decision is not None and not decision.approved:
        return PermissionState("denied", "operator")
    if configured:
        return PermissionState("approved", "configuration")
    if policy == "auto_approve":
        return PermissionState("approved", "policy")
    if policy != "interactive":
        return PermissionState("denied", "policy")
    if decision is None:
        return PermissionState("deferred", "nobody")
    return PermissionState("approved", "operator", decision.expires_at)


def narrowed(state: PermissionState, until: float, now: float, *, denied: bool) -> PermissionState:
    """Return an approval with what the server itself has answered, which can only take away.

    `until` is when its answer ends, in seconds since 1970; infinity for never.
    """
    if denied or until <= now:
        return PermissionState("denied", "server")
    if until == math.inf:
        return state
    first = until if state.expires_at is None else min(until, state.expires_at)
    return state._replace(expires_at=first)


def grant_of(grants: Mapping[str, object], permission: str) -> object:
    """Return what `grants` say about a permission, or about its family."""
    return grants.get(permission, grants.get(permission.partition(".")[0]))


def read_grant(grant: object) -> GrantValue:
    """Return the decision in one of its three forms; what is not known is deferred.

    The forms are `"approved"`, `{"decision": "approved"}` and `{"granted": true}`.
    """
    if is_object(grant):
        flag = grant.get("granted")
        if isinstance(flag, bool):
            return "approved" if flag else "denied"
        grant = grant.get("decision")
    return _DECIDED.get(grant, "deferred") if isinstance(grant, str) else "deferred"


def grants_on_wire(
    required: Iterable[str], states: Mapping[str, PermissionState]
) -> dict[str, PermissionGrant]:
    """Return the decision for each permission of `states`, and for each family that was required.

    A family is approved if all of it is, and denied if one of it is.
    """
    grants: dict[str, PermissionGrant] = {name: state.value for name, state in states.items()}
    for name in required:
        parts: list[GrantValue] = [
            states[one].value for one in _FAMILIES.get(name, ()) if one in states
        ]
        if parts:
            grants[name] = _worst(parts)
    return grants


def _worst(values: Collection[GrantValue]) -> GrantValue:
    order: tuple[GrantValue, ...] = ("denied", "deferred", "approved")
    return next(one for one in order if one in values)


def why_lacking(permission: str, state: PermissionState, policy: PermissionPolicy) -> str:
    """Return why a permission is not approved, as a clause."""
    if state.source == "name":
        return f"whose name is not valid: {name_problem(permission)}"
    return {
        "nobody": "which nobody has decided about",
        "operator": "which an operator has denied",
        "server": "which the server itself has denied",
    }.get(state.source, f"which the policy {policy} does not approve")
