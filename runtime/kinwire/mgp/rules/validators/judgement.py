"""What a validator takes and reports."""

from __future__ import annotations

__all__ = ("ValidatorOptions", "Violation")

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidatorOptions:
    """Exceptions for one tool, from its `ToolPolicy` and `ServerPolicy`."""

    allowed_commands: Collection[str] = ()
    """Command lines that may run under `sandbox`: `*` is any word that is not an option."""
    without_shell: bool = False
    """Whether the server runs arrays of words as they are, never through a shell."""
    allowed_hosts: Collection[str] = ()
    """Hosts that may be named under `network_restricted` though they are private."""


class Violation(NamedTuple):
    """One reason to refuse a call."""

    place: str
    """The argument, such as `command` or `options.urls[2]`; empty for the whole call."""
    reason: str
    """A clause in plain words. It never has the value of an argument, which may be a secret."""
