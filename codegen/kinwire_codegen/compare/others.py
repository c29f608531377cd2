"""What an object says about fields that it does not name: any, none, or those of one type."""

from __future__ import annotations

__all__ = ("closed", "is_closed", "typed_fields", "value_of")

from collections.abc import Iterable

from kinwire_codegen.compare.sides import Member, Typed


def is_closed(typed: Typed) -> bool:
    """Return whether fields without a name are refused."""
    return typed.node.get("additionalProperties") is False


def closed(new: Typed) -> tuple[str, Typed, str]:
    """Return the rule, the place and what changed, of an object that is closed or open now."""
    if is_closed(new):
        return "object-closed", new, f"{new.label} refuses other fields now"
    return "object-opened", new, f"{new.label} may have other fields now"


def value_of(typed: Typed) -> Typed:
    """Return the type of the fields without a name; any value if the object is open."""
    node = typed.node.get("additionalProperties")
    found = node if isinstance(node, dict) else {}
    label = f"a value of {typed.label}"
    place = (*typed.place, "additionalProperties")
    return typed._replace(node=found, place=place, label=label)


def typed_fields(typed: Typed, required: set[str], names: Iterable[str]) -> dict[str, Member]:
    """Return the fields of which an object says something without describing them.

    Those are the required ones, and, if the fields without a name have a type, all `names` of the
    other side. Of an open object others are not returned: they mean nothing to it.
    """
    value = value_of(typed)
    found = {*required, *names} if value.node else required
    return {
        name: Member(value._replace(label=f"{typed.label}.{name}"), name in required, False)
        for name in sorted(found)
    }
