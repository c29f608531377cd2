"""Errors for what lacks a permission: they say why, and what an operator can do."""

from __future__ import annotations

__all__ = ("asks_itself", "lacks", "too_many")

from kinwire.mgp.errors import refusal
from kinwire.mgp.rules.permissions import MOST_PERMISSIONS, PermissionState, why_lacking
from kinwire.support.sanitize import sanitize_for_log
from kinwire_protocols.mgp.errors import PermissionDeniedError
from kinwire_protocols.mgp.models import PermissionPolicy


def lacks(
    server: str, permission: str, state: PermissionState, policy: PermissionPolicy, what: str
) -> PermissionDeniedError:
    """Return the error for a permission that is not approved; `what` needs it."""
    why = why_lacking(permission, state, policy)
    hint = f'List it in ServerPolicy(permissions=["{permission:.60}"])'
    if state.source in ("operator", "nobody"):
        hint = f"To approve it: kinwire permissions approve {server} {permission} --store URL"
    details = {
        "reason": "permission_undecided" if state.value == "deferred" else "permission_denied",
        "permission": permission,
        "server_id": server,
        "decided_by": state.source,
    }
    text = f"{server}: {what} the permission {permission:.60}, {why}. {hint}"
    return refusal(PermissionDeniedError, sanitize_for_log(text), details=details)


def too_many(server: str, what: str) -> PermissionDeniedError:
    """Return the error for `what` needs more permissions than may be required."""
    text = f"{server}: {what} more than {MOST_PERMISSIONS} permissions."
    details = {"reason": "permission_denied", "server_id": server}
    return refusal(PermissionDeniedError, sanitize_for_log(text), details=details)


def asks_itself(server: str, permission: str) -> PermissionDeniedError:
    """Return the error for a call in `Permissions.ask` that waits for what it is to answer."""
    details = {
        "reason": "permission_undecided",
        "permission": permission,
        "server_id": server,
        "decided_by": "nobody",
    }
    text = (
        f"{server}: the permission {permission:.60} is being asked for, and the call is made by "
        "the function that asks (Permissions.ask): it would wait for itself. Call only tools there "
        "that need no open permission."
    )
    return refusal(PermissionDeniedError, sanitize_for_log(text), details=details)
