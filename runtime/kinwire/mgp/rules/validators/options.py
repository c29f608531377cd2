"""What the configuration says about how one tool's arguments are judged."""

from __future__ import annotations

__all__ = ("ValidatorOptions",)

from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidatorOptions:
    """Exceptions for one tool, from its `ToolPolicy` and `ServerPolicy`."""

    allowed_commands: Collection[str] = ()
    """Command lines that may run under `sandbox`: `*` is any word that is not an option."""
    without_shell: bool = False
    """Whether the server runs arrays of words as they are, never through a shell."""
    allowed_hosts: Collection[str] = ()
    """Hosts that may be named under `network_restricted` though they are private."""
