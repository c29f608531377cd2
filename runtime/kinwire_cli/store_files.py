"""The store that a command names, which has to exist where nothing is written."""

from __future__ import annotations

__all__ = ("new_file", "path_of", "refuse_new", "refuse_nothing")

import os
from typing import TYPE_CHECKING

from kinwire_cli.failure import UsageError

if TYPE_CHECKING:
    from kinwire.storage import Store


def path_of(url: str) -> str | None:
    """Return the file that a store URL names; None for a store that is not a file.

    Raises:
        StorageAddressError: it is not a valid store URL.
    """
    from kinwire.storage.store_url import parsed

    address = parsed(url)
    return address.path if address.engine == "sqlite" else None


def new_file(url: str) -> str | None:
    """Return the file of a store if it does not exist yet, else None."""
    path = path_of(url)
    return None if path is None or os.path.lexists(path) else path


def refuse_new(url: str) -> None:
    """Refuse a file that does not exist: a command that only reads makes none.

    Raises:
        UsageError: the file does not exist.
    """
    path = new_file(url)
    if path is not None:
        raise UsageError(f"{path}: there is no such file.", "Name an existing file.")


async def refuse_nothing(url: str, store: Store) -> None:
    """Refuse a store on a server that holds nothing: its name is wrong, and it was never made.

    Raises:
        UsageError: it holds nothing.
    """
    if url.startswith("nats:") and not await store.entries():
        text = "this store does not exist on the server, or is empty."
        raise UsageError(text, "Name an existing one: nats://host:port/name.")
