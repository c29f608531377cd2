"""What a peer offers of MCPL, in every known shape, and what a server may declare (MCPL 5, 6).

An offer is read field by field: a field of a wrong shape is left out with a warning, and the others
count, so a peer with one mistake can use all the rest. The gates of the session read for themselves
which methods are offered. What a server of ours declares is checked strictly.
"""

from __future__ import annotations

__all__ = (
    "CHANNEL_FLAGS",
    "MAY_BE_DECLARED",
    "MOST_SETS",
    "VERSION",
    "PeerOffer",
    "checked_sets",
    "checked_tools",
    "checked_uses",
    "may_be_declared",
    "read_offer",
    "read_sets",
    "uses_in",
    "with_known_uses",
)

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import cast

from pydantic import ValidationError

from kinwire.mcpl.rules.names import NAME_SIZE, is_name
from kinwire.support.json_values import text
from kinwire_protocols.base import JsonObject, from_wire, to_wire
from kinwire_protocols.mcpl.models import FeatureSet
from kinwire_protocols.mcpl.tables import USES
from kinwire_protocols.nearest import nearest
from kinwire_protocols.problems import problems

VERSION = "0.4"
"""Major and minor number of the supported version."""

MOST_SETS = 1000
"""Feature sets of one peer; any others are left out and not read."""

_SET_SIZE = 64 * 1024  # characters of JSON
MAY_BE_DECLARED = (
    f"expected at most {MOST_SETS}, with names of 1 to {NAME_SIZE} characters without a star and "
    f"of at most {_SET_SIZE} characters each"
)
"""What is expected of sets that are added later; those of an offer are limited by its message."""

CHANNEL_FLAGS = ("register", "publish", "observe", "lifecycle", "streaming")
"""What a side can offer of channels (14.1)."""

_USES = tuple(USES)


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerOffer:
    """The part of an offer of MCPL that is used here. What is absent is off."""

    blocking: bool = False
    """Whether the hook after inference may be a request."""
    feature_sets: Mapping[str, FeatureSet]
    warnings: tuple[str, ...] = ()
    """What was left out of the offer or is unknown, a sentence each."""


def read_offer(offer: JsonObject) -> PeerOffer:
    """Return what `offer`, decoded JSON, means."""
    warnings: list[str] = []
    _check_version(offer.get("version"), warnings)
    after = _below(_below(offer.get("contextHooks")).get("afterInference"))
    return PeerOffer(
        blocking=after.get("blocking") is True,  # `afterInference: true` means without it
        feature_sets=read_sets(offer.get("featureSets"), warnings),
        warnings=tuple(warnings),
    )


def read_sets(value: object, warnings: list[str]) -> dict[str, FeatureSet]:
    """Return the feature sets of an object by name, or of a list of sets with a `name`.

    True, which hosts send, declares no sets. What is left out is added to `warnings`.
    """
    found: dict[str, FeatureSet] = {}
    for place, name, members in _entries(value, warnings):
        problem = _problem(name, found)
        if problem is not None:
            warnings.append(f"{place}: {problem}")
            continue
        try:
            found[name] = from_wire(FeatureSet, members)
        except ValidationError as error:
            warnings.append(f"{place}{problems(error, members)[0]}")
            continue
        found[name] = with_known_uses(found[name])
        unknown = [use for use in found[name].uses if not uses_in(use)]
        if unknown:
            warnings.append(f"{place}/uses: {unknown[0]!r:.60} is not a known use")
    return found


def uses_in(path: str) -> list[str]:
    """Return the uses that a path contains: itself, those below it, or the one that it is below.

    A star in the path stands for one part. MCPL 0.5, an upstream draft, has such paths.
    """
    return [use for use in _USES if _meets(path.split("."), use.split("."))]


def with_known_uses(declared: FeatureSet) -> FeatureSet:
    """Return the set with the uses that its paths contain, behind those that it declares."""
    more = [use for path in declared.uses for use in uses_in(path) if use not in declared.uses]
    if not more:
        return declared
    return declared.model_copy(update={"uses": [*declared.uses, *dict.fromkeys(more)]})


def _meets(path: list[str], use: list[str]) -> bool:
    if len(path) > len(use):  # it is below the use
        return path[: len(use)] == use
    return all(one in ("*", other) for one, other in zip(path, use, strict=False))


def may_be_declared(name: str, declared: FeatureSet) -> bool:
    """Return whether a set may be added later."""
    return is_name(name) and len(text(to_wire(declared))) <= _SET_SIZE


def checked_sets(feature_sets: Mapping[str, FeatureSet]) -> Mapping[str, FeatureSet]:
    """Return the sets that a server declares.

    Raises:
        ValueError: a name is invalid, a use is unknown, or there are too many sets.

    Source: MCPL 6.2, 6.3. Refusing names with blanks and with empty parts is ours.
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
    """Raise if `uses` has a use that MCPL does not define.

    Raises:
        ValueError: it has one.
    """
    for use in uses:
        if use not in _USES:
            hint = f"{_meant(use, _USES) or ''} There are {', '.join(_USES)}.".lstrip()
            raise ValueError(f"{place}: expected uses of MCPL, got {use!r:.60}. {hint}")


def checked_tools(tools: Mapping[str, str], feature_sets: Collection[str]) -> None:
    """Raise if a tool belongs to a set that is not declared: no host could ever call it.

    Raises:
        ValueError: one does.
    """
    for tool, name in tools.items():
        if name not in feature_sets:
            hint = _meant(name, feature_sets) or (
                "Declare it; where it comes later, say what it uses in also_uses."
            )
            raise ValueError(
                f"tools[{tool!r:.60}]: expected one of feature_sets, got {name!r:.60}. {hint}"
            )


def _entries(value: object, warnings: list[str]) -> Iterator[tuple[str, str, object]]:
    """Yield place, name and fields of each set; one without a name goes to `warnings`."""
    if isinstance(value, dict | list) and len(cast("list[object]", value)) > MOST_SETS:
        warnings.append(f"featureSets: expected at most {MOST_SETS} sets; the rest is left out")
    if isinstance(value, dict):
        for name, members in islice(cast("JsonObject", value).items(), MOST_SETS):
            yield f"featureSets/{name:.60}", name, members
    elif isinstance(value, list):
        for index, members in enumerate(cast("list[object]", value)[:MOST_SETS]):
            place = f"featureSets/{index}"
            own: object = _below(members).get("name")
            if isinstance(own, str):
                yield place, own, members
            else:
                warnings.append(f"{place}/name: expected the set's name; it is left out")
    elif value is not None and not isinstance(value, bool):
        warnings.append("featureSets: expected an object or a list of sets; it is left out")


def _problem(name: str, found: Mapping[str, FeatureSet]) -> str | None:
    if not is_name(name):
        return f"expected a name of 1 to {NAME_SIZE} characters without a star; it is left out"
    return "expected one set of this name, got another; it is left out" if name in found else None


def _below(value: object) -> JsonObject:
    return cast("JsonObject", value) if isinstance(value, dict) else {}


def _check_version(value: object, warnings: list[str]) -> None:
    if value is None:
        return
    text = value if isinstance(value, str) else repr(value)
    if ".".join(text.split(".")[:2]) != VERSION:
        warnings.append(
            f"version: expected {VERSION}, got {text!r:.40}; it is spoken to as {VERSION}"
        )


def _is_plain(name: str) -> bool:
    return name.isprintable() and " " not in name and all(name.split("."))


def _meant(name: str, known: Collection[str]) -> str | None:
    near = nearest(name, known)
    return None if near is None else f"Did you mean {near!r}?"
