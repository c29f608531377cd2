"""Whether a store is still open."""

from __future__ import annotations

__all__ = ("Life",)

from kinwire.storage.errors import StorageClosedError


class Life:
    """One for a store and everything that it gave out."""

    def __init__(self, place: str) -> None:
        self.place = place
        self._over = False

    def check(self) -> None:
        """Refuse to go on with a store that was closed.

        Raises:
            StorageClosedError: it was.
        """
        if self._over:
            raise StorageClosedError(self.place)

    def end(self) -> None:
        """The store is closed."""
        self._over = True
