"""What a server may say about its tools: mistakes are found when the program starts."""

from __future__ import annotations

__all__ = ("checked_security", "must_be_permissions")

from collections.abc import Collection, Iterable

from kinwire.mgp.rules.permissions import expanded, name_problem
from kinwire.mgp.rules.tools import EFFECT_RISKS
from kinwire_protocols.mgp.models import ToolSecurity
from kinwire_protocols.mgp.tables import (
    RISK_LEVELS,
    SAFETY_LEVELS,
    STANDARD_PERMISSIONS,
    VALIDATORS,
)
from kinwire_protocols.nearest import nearest


def must_be_permissions(place: str, names: Iterable[str]) -> None:
    """Check the permissions that a server of this program declares.

    Raises:
        ValueError: one is neither a standard permission, nor a family of them, nor named like a
            domain: `com.example.custom_permission`.

    Source: MGP 0.2.0 section 3.2.
    """
    for name in names:
        known = name in STANDARD_PERMISSIONS or expanded((name,)) != (name,)
        if known or (name_problem(name) is None and name.count(".") > 1):
            continue
        raise ValueError(
            f"{place}: expected a permission of MGP, or one like com.example.name, got "
            f"{name!r:.60}. {_hint(name, STANDARD_PERMISSIONS)}"
        )


def checked_security(tool: str, security: ToolSecurity) -> ToolSecurity:
    """Return what a server says about a tool.

    Raises:
        ValueError: a word in it is not one of MGP, or `code_safety` has no validator of its name.

    Source: MGP 0.2.0 sections 4.3, 7.3.
    """
    place = f"security of {tool!r:.60}"
    _must_be(place, "risk_level", security.risk_level, RISK_LEVELS)
    must_be_permissions(f"{place}: permissions_required", security.permissions_required or ())
    for effect in security.side_effects or ():
        _must_be(place, "side_effects", effect, EFFECT_RISKS)
    if security.validator is not None:
        _must_be(place, "validator", security.validator, VALIDATORS)
    if security.code_safety is not None:
        _must_be(place, "code_safety.level", security.code_safety.level, SAFETY_LEVELS)
        if security.validator != "code_safety":
            raise ValueError(
                f"{place}: code_safety without its validator. Write validator='code_safety'."
            )
    return security


def _must_be(place: str, member: str, value: str, known: Collection[str]) -> None:
    if value not in known:
        raise ValueError(
            f"{place}: {member}: expected one of {', '.join(known)}, got {value!r:.60}. "
            f"{_hint(value, known)}"
        )


def _hint(name: str, known: Collection[str]) -> str:
    near = nearest(name, list(known))
    return f"Did you mean {near!r}?" if near else f"There are {', '.join(known)}."
