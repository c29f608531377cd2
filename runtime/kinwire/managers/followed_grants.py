"""Decisions of people that a running program follows: what other processes decide, it sees."""

from __future__ import annotations

__all__ = ("FollowedGrants",)

from typing import Generic, TypeVar

import anyio

from kinwire.managers.grants import GrantStore
from kinwire.support.background import start_detached

A = TypeVar("A")


class FollowedGrants(Generic[A]):
    """A `GrantStore` whose memory has what other processes decide within a second.

    `prefix` is what all of its records begin with. Without records (`is_shared` is False) nothing
    is followed, and memory is all there is.
    """

    def __init__(self, grants: GrantStore[A], prefix: str, *, is_shared: bool) -> None:
        self._grants = grants
        self._prefix = prefix
        self._is_shared = is_shared
        self._following: _Following | None = None

    def follow(self) -> None:
        """Begin to follow the records, if there are any."""
        if self._following is None and self._is_shared:
            self._following = _Following(self._grants, self._prefix)

    def unfollow(self) -> None:
        """Stop following, and forget what would no longer change in memory."""
        if self._following is not None:
            self._following.scope.cancel()
            self._following = None
            self._grants.leave()

    async def load(self, prefix: str = "") -> None:
        """Take decisions into memory; a later change of what is loaded is not missed.

        Raises:
            StorageError: the store failed, or a record cannot be read.
        """
        if self._following is not None:
            await self._following.ready.wait()
        await self._grants.load(prefix)


class _Following:
    """The task that sees decisions of other processes."""

    def __init__(self, grants: GrantStore[A], prefix: str) -> None:
        self.scope = anyio.CancelScope()
        self.ready = anyio.Event()
        self._follow = grants.follow
        self._prefix = prefix
        start_detached(self._run)

    async def _run(self) -> None:
        with self.scope:
            await self._follow(self._prefix, ready=self.ready.set)
