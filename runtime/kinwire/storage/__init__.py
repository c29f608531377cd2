"""Where managers keep what must outlive a process: two ports, and an engine that a URL chooses.

`open_store` opens one; an engine loads when a URL asks for it.
"""

from __future__ import annotations

__all__ = (
    "Appended",
    "Change",
    "ConflictError",
    "CursorLostError",
    "Entry",
    "Log",
    "LogFolder",
    "Record",
    "Records",
    "Retention",
    "StorageAddressError",
    "StorageClosedError",
    "StorageDamagedError",
    "StorageError",
    "StorageFullError",
    "StorageInputError",
    "StorageLockedError",
    "StorageReadOnlyError",
    "StorageUnavailableError",
    "StorageVersionError",
    "Store",
    "StoreEntry",
    "open_store",
)

from typing import TYPE_CHECKING

from kinwire.storage.errors import (
    ConflictError,
    CursorLostError,
    StorageAddressError,
    StorageClosedError,
    StorageDamagedError,
    StorageError,
    StorageFullError,
    StorageInputError,
    StorageLockedError,
    StorageReadOnlyError,
    StorageUnavailableError,
    StorageVersionError,
)
from kinwire.storage.log import Appended, Entry, Log, Retention
from kinwire.storage.records import Change, Record, Records
from kinwire.storage.store import Store, StoreEntry, open_store

if TYPE_CHECKING:
    from kinwire.storage.log_folder import LogFolder
else:

    def __getattr__(name: str) -> object:
        """Load `LogFolder` when it is first asked for: it needs an event loop."""
        if name != "LogFolder":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from kinwire.storage.log_folder import LogFolder

        globals()[name] = LogFolder
        return LogFolder
