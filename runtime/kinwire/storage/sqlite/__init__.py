"""The embedded store: one file, the standard library's sqlite3, one thread that writes.

What several tasks write at the same time leaves in one transaction, and so waits for the disk once.
Several processes may use a file at the same time; it must lie on a disk of this machine.
"""

from __future__ import annotations

__all__ = ()
