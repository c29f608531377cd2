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
from kinwire.support.lazy_names import lazy_names

if TYPE_CHECKING:
    from kinwire.storage.log_folder import LogFolder

_HOMES = {"LogFolder": "log_folder"}  # it needs an event loop

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _HOMES)
