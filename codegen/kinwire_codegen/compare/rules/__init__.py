"""The rules of comparison, as data: one row a kind of change.

`verdict.py` says what an effect means where. The ids are part of what users write down, so they
stay: a rule may go, its number is not given away again.
"""

from __future__ import annotations

__all__ = ("RULES", "Heading", "Rule", "rule")

from kinwire_codegen.compare.rules.messages import OF_MESSAGES
from kinwire_codegen.compare.rules.programs import OF_PROGRAMS
from kinwire_codegen.compare.rules.row import Heading, Rule
from kinwire_codegen.compare.rules.surroundings import OF_SURROUNDINGS
from kinwire_codegen.compare.rules.types import OF_TYPES

RULES: dict[str, Rule] = {
    found.id: found for found in (*OF_MESSAGES, *OF_TYPES, *OF_SURROUNDINGS, *OF_PROGRAMS)
}
"""Every rule by its id."""

_BY_NAME = {found.name: found for found in RULES.values()}


def rule(name: str) -> Rule:
    """Return the rule of that name."""
    return _BY_NAME[name]
