"""What a host has changed by hand for one server, against its policy (MCPL 6.7, 7.2)."""

from __future__ import annotations

__all__ = ("RESTRICTIONS", "Restrictions")

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kinwire.managers.durable_map import text_codec
from kinwire_protocols.base import from_wire, to_wire
from kinwire_protocols.mcpl.models import ScopeRules


@dataclass(frozen=True, slots=True)
class Restrictions:
    """What `enable`, `disable` and `scopes.set` have changed, and later connections keep."""

    switched: Mapping[str, bool] = field(default_factory=dict[str, bool])
    """By pattern whether `enable` (True) or `disable` was last; of two that match a set the later
    one counts. Sets are on if the policy enables them and this does not disable them."""
    lists: Mapping[str, ScopeRules] = field(default_factory=dict[str, ScopeRules])
    """By feature set: the lists of `scopes.set`, in place of those of `Scopes.lists`."""

    def __bool__(self) -> bool:
        """Return whether anything was changed."""
        return bool(self.switched or self.lists)


def _write(restrictions: Restrictions) -> Any:
    lists = {name: to_wire(rules) for name, rules in restrictions.lists.items()}
    return {"switched": [list(one) for one in restrictions.switched.items()], "lists": lists}


def _read(stored: Any) -> Restrictions:
    lists = {name: from_wire(ScopeRules, rules) for name, rules in stored["lists"].items()}
    return Restrictions({pattern: on for pattern, on in stored["switched"]}, lists)


RESTRICTIONS = text_codec(_write, _read)
"""How they are stored, by the key of the server."""
