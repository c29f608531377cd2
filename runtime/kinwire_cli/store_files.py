"""The file of a store that a command names."""

from __future__ import annotations

__all__ = ("new_file", "path_of", "refuse_new")

import os

from kinwire_cli.failure import UsageError


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
