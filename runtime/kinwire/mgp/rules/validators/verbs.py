"""Words that say what a tool or an argument does: read or write."""

from __future__ import annotations

__all__ = ("READS", "WRITES", "is_writing_name")

from typing import Final

from kinwire.mgp.rules.validators.places import words_of_name
from kinwire.mgp.rules.word_set import word_set

WRITES: Final = word_set(
    """
    write overwrite append save store put post patch insert upsert update merge edit modify change
    set unset replace rename move copy create make mkdir rmdir touch add delete remove drop destroy
    purge clear erase wipe truncate trash unlink rm del mv cp kill stop start restart reboot
    shutdown send publish push upload commit deploy install uninstall enable disable grant revoke
    approve reject cancel archive restore import apply schedule pay transfer submit register assign
    unassign lock unlock reset rotate chmod chown flush migrate notify invite reply revert undo
    rollback provision terminate mutate fill click press type persist evict expire
    """
)
"""Verbs of operations that change something."""

READS: Final = word_set(
    """
    get read list search find show describe count query fetch view lookup check inspect stat status
    info head tail cat grep look browse explore analyze analyse compare diff validate verify ping
    preview explain is has can summarize calculate compute convert translate resolve select scan
    watch monitor render parse extract retrieve ls log logs history help version print display poll
    """
)
"""Verbs of operations that only look."""

_JOINING: Final = frozenset({"and", "or", "then"})


def is_writing_name(name: str) -> bool:
    """Return whether a name says that something is changed.

    `find_and_delete` and `file_write` do. `list_delete_requests` does not: what follows a reading
    verb is what is read.
    """
    reading = False
    for word in words_of_name(name):
        if word in _JOINING:
            reading = False
        elif word in READS:
            reading = True
        elif word in WRITES and not reading:
            return True
    return False
