"""What a server says of its own sets: refused if it cannot be, or is most likely a slip.

Of others everything is taken that can be understood; `offers.py` reads that.
"""

from __future__ import annotations

__all__ = ("checked_sets", "checked_tools", "checked_uses")

from collections.abc import Collection, Mapping

from kinwire.mcpl.rules.names import NAME_SIZE, is_name
from kinwire.mcpl.rules.offers import MOST_SETS
from kinwire_protocols.mcpl.models import FeatureSet
from kinwire_protocols.mcpl.tables import USES
from kinwire_protocols.nearest import nearest

_USES = tuple(USES)


def checked_sets(feature_sets: Mapping[str, FeatureSet]) -> Mapping[str, FeatureSet]:
    """Return the sets that a server declares.

    Raises:
        ValueError: a name is none, a use is unknown, or there are too many.

    Source: MCPL 6.2, 6.3. That names have no blanks and no empty parts is ours.
    """
    for name, declared in feature_sets.items():
        if not (is_name(name) and _is_plain(name)):
            raise ValueError(
                f"feature_sets: expected names of 1 to {NAME_SIZE} characters, parts with dots "
                f"between them, without blanks and without a star, got {name!r:.60}. "
                "Rename that set."
            )
        checked_uses(f"feature_sets[{name!r:.60}].uses", declared.uses)
    if len(feature_sets) > MOST_SETS:  # hosts leave out what is beyond
        raise ValueError(
            f"feature_sets: expected at most {MOST_SETS}, got {len(feature_sets)}. "
            "Have one set do what is switched together."
        )
    return feature_sets


def checked_uses(place: str, uses: Collection[str]) -> None:
    """Return if all of it can be used.

    Raises:
        ValueError: MCPL has no such use.
    """
    for use in uses:
        if use not in _USES:
            mend = _meant(use, _USES) or f"There are {', '.join(_USES)}."
            raise ValueError(f"{place}: expected uses of MCPL, got {use!r:.60}. {mend}")


def checked_tools(tools: Mapping[str, str], feature_sets: Collection[str]) -> None:
    """Return if each tool has a set that is declared.

    Raises:
        ValueError: one has another set: no host could ever call it.
    """
    for tool, name in tools.items():
        if name not in feature_sets:
            mend = _meant(name, feature_sets) or (
                "Declare it; where it comes later, say what it uses in also_uses."
            )
            raise ValueError(
                f"tools[{tool!r:.60}]: expected one of feature_sets, got {name!r:.60}. {mend}"
            )


def _is_plain(name: str) -> bool:
    return name.isprintable() and " " not in name and all(name.split("."))


def _meant(name: str, known: Collection[str]) -> str | None:
    near = nearest(name, known)
    return None if near is None else f"Did you mean {near!r}?"
