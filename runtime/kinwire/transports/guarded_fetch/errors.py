"""What is raised where nothing was fetched."""

from __future__ import annotations

__all__ = ("NotFetchedError",)

from kinwire.rpc.errors import KinwireError


class NotFetchedError(KinwireError):
    """Nothing was fetched: the URL may not be asked, or what came from there cannot be used.

    `reason` is a clause. It has neither path nor query of the URL, which may hold keys.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
