"""The managers of MGP."""

from __future__ import annotations

__all__ = ("MGP",)

from tests.spec.managers.manager import Manager

MGP = {
    "mgp access": Manager(
        attributes=("kinwire.mgp.kernel.access_store:AccessStore.current",),
        rows=(
            "mgp-5.2-1",
            "mgp-5.3-1",
            "mgp-5.3-2",
            "mgp-5.4-mgp-access-query-1",
            "mgp-5.4-mgp-access-query-3",
            "mgp-5.5-1",
            "mgp-5.5-2",
        ),
    ),
    "mgp access entries": Manager(
        attributes=(
            "kinwire.mgp.kernel.access:AccessManager.put",
            "kinwire.mgp.kernel.access:AccessManager.remove",
        ),
        rows=(
            "mgp-5.4-mgp-access-grant-1",
            "mgp-5.4-mgp-access-grant-2",
            "mgp-5.4-mgp-access-revoke-1",
            "mgp-5.4-mgp-access-revoke-2",
        ),
    ),
}
