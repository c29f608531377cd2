"""What a kernel has granted to a server in one session, and what follows from it (MGP 3.6)."""

from __future__ import annotations

__all__ = ("GrantedPermissions", "OnDenied")

import inspect
import logging
import math
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import anyio

from kinwire.mgp.errors import refusal
from kinwire.mgp.rules.permissions import expanded, grant_of, read_grant
from kinwire.rpc.request import Request
from kinwire.rpc.session import Session
from kinwire.storage.clock import Clock
from kinwire.support.timestamps import end_of
from kinwire_protocols.base import to_wire
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.mgp.errors import PermissionDeniedError
from kinwire_protocols.mgp.methods import MGP_PERMISSION_REQUEST, MGP_PERMISSION_RESPONSE
from kinwire_protocols.mgp.models import (
    GrantValue,
    PermissionRequestParams,
    PermissionResponseParams,
)

if TYPE_CHECKING:
    from kinwire.mgp.server.kernel_peer import KernelPeer

logger = logging.getLogger("kinwire.mgp")

_MOST_NAMES = 1_000
_LONGEST_NAME = 256  # characters

OnDenied = Callable[[str, "KernelPeer"], Awaitable[object] | None]
"""Degrades a server: takes a permission that was denied, and the kernel that has denied it."""


class GrantedPermissions:
    """The decisions of one kernel. What it has not spoken of is neither approved nor denied."""

    def __init__(
        self,
        session: Session,
        required: Sequence[str],
        denied: Callable[[str], object],
        clock: Clock = time.time,
    ) -> None:
        self._session = session
        self._required = expanded(required)
        self._denied = denied
        self._clock = clock
        self._grants: dict[str, GrantValue] = {}
        self._until = math.inf
        self._news = anyio.Event()
        session.guard(MGP_PERMISSION_REQUEST, self._waits)
        session.guard(MGP_PERMISSION_RESPONSE, self._takes)

    @property
    def grants(self) -> Mapping[str, GrantValue]:
        """The decisions by permission. What has expired is deferred."""
        if self._clock() < self._until:
            return dict(self._grants)
        return {
            name: "deferred" if value == "approved" else value
            for name, value in self._grants.items()
        }

    async def decided(self) -> Mapping[str, GrantValue]:
        """Return the decisions as soon as none of the required permissions is deferred."""
        while any(self._of(name) in (None, "deferred") for name in self._required):
            await self._news.wait()
        return self.grants

    def refused(self, permission: str) -> bool:
        """Return whether a permission, or a part of its family, was spoken of and not approved."""
        values = [self._of(name) for name in expanded([permission])]
        return any(value not in (None, "approved") for value in values)

    def must_have(self, permission: str) -> None:
        """Refuse the request that is served if the kernel has not approved a permission.

        Raises:
            PermissionDeniedError: it is denied, deferred or expired, or was never spoken of.
        """
        for name in expanded([permission]):
            if self._of(name) != "approved":
                text = f"This needs the permission {name:.100}, which the kernel has not granted."
                details = {"reason": "permission_denied", "permission": name}
                raise refusal(PermissionDeniedError, text, details=details)

    def _of(self, permission: str) -> GrantValue | None:
        found = grant_of(self.grants, permission)
        return None if found is None else read_grant(found)

    def _waits(self, params: PermissionRequestParams, request: Request) -> None:
        self._must_fit("permissions", params.permissions)
        for name in params.permissions:
            self._grants.setdefault(name, "deferred")

    def _takes(self, params: PermissionResponseParams, request: Request) -> None:
        """Keep what the kernel has decided, in whatever form it says so."""
        self._must_fit("grants", params.grants)
        before = self.grants
        for name, grant in to_wire(params)["grants"].items():
            self._grants[name] = read_grant(grant)
        self._until = end_of(params.expires_at)
        news, self._news = self._news, anyio.Event()
        news.set()
        for name, value in self._grants.items():
            if value == "denied" != before.get(name):
                self._session.start_soon(partial(self._degrade, name))

    def _must_fit(self, field: str, names: Iterable[str]) -> None:
        """Check that a kernel speaks of few enough permissions: their names are kept.

        Raises:
            InvalidParamsError: there are too many names in all, or one is too long.
        """
        names = list(names)
        if len({*self._grants, *names}) > _MOST_NAMES:
            text = f"/{field}: expected at most {_MOST_NAMES} permissions in one session"
            raise InvalidParamsError(text)
        if any(len(name) > _LONGEST_NAME for name in names):
            text = f"/{field}: expected names of permissions of at most {_LONGEST_NAME} characters"
            raise InvalidParamsError(text)

    async def _degrade(self, permission: str) -> None:
        try:
            waiting = self._denied(permission)
            if inspect.isawaitable(waiting):
                await waiting
        except Exception:
            logger.exception("on_denied failed for the permission %s", permission)
