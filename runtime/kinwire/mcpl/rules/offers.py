"""What a peer offers of MCPL, in every shape that is seen (MCPL 5, 6.1).

An offer is read member by member: one that is of a wrong shape is left out and told, and the rest
counts. So a peer that is careless in one thing is served in all others. Which methods are offered,
the session's gates read by themselves.
"""

from __future__ import annotations

__all__ = (
    "CHANNEL_FLAGS",
    "MAY_BE_DECLARED",
    "MOST_SETS",
    "VERSION",
    "PeerOffer",
    "may_be_declared",
    "read_offer",
    "read_sets",
)

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import cast

from pydantic import ValidationError

from kinwire.mcpl.rules.names import NAME_SIZE, is_name
from kinwire.support.json_values import text
from kinwire_protocols.base import JsonObject, from_wire, to_wire
from kinwire_protocols.mcpl.models import FeatureSet
from kinwire_protocols.mcpl.tables import USES
from kinwire_protocols.problems import problems

VERSION = "0.4"
"""Major and minor number of the version that is spoken here."""

MOST_SETS = 1000
"""Feature sets of one peer; those beyond are left out, and not even looked at."""

_SET_SIZE = 64 * 1024  # characters of JSON
MAY_BE_DECLARED = (
    f"expected at most {MOST_SETS}, with names of 1 to {NAME_SIZE} characters without a star and "
    f"of at most {_SET_SIZE} characters each"
)
"""What is expected of sets that come later; those of an offer are within one message."""

_USES = frozenset(USES)
CHANNEL_FLAGS = ("register", "publish", "observe", "lifecycle", "streaming")
"""What a side can offer of channels (14.1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerOffer:
    """An offer, understood as far as the managers act on it. What is absent is off."""

    blocking: bool = False
    """Whether the hook after inference may be a request."""
    feature_sets: Mapping[str, FeatureSet]
    warnings: tuple[str, ...] = ()
    """What was left out of the offer, or is not understood; a sentence each."""


def read_offer(offer: JsonObject) -> PeerOffer:
    """Return what `offer`, decoded JSON, comes to."""
    warnings: list[str] = []
    _check_version(offer.get("version"), warnings)
    after = _below(_below(offer.get("contextHooks")).get("afterInference"))
    return PeerOffer(
        blocking=after.get("blocking") is True,  # `afterInference: true` means without it
        feature_sets=read_sets(offer.get("featureSets"), warnings),
        warnings=tuple(warnings),
    )


def read_sets(value: object, warnings: list[str]) -> dict[str, FeatureSet]:
    """Return the feature sets of an object by name, or of a list of sets that bear their names.

    True, which hosts write, declares none. What is left out is told in `warnings`.
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
        unknown = [use for use in found[name].uses if use not in _USES]
        if unknown:
            warnings.append(f"{place}/uses: {unknown[0]!r:.60} is no use that is known")
    return found


def may_be_declared(name: str, declared: FeatureSet) -> bool:
    """Return whether a set may be declared later on."""
    return is_name(name) and len(text(to_wire(declared))) <= _SET_SIZE


def _entries(value: object, warnings: list[str]) -> Iterator[tuple[str, str, object]]:
    """Yield place, name and members of each set; what has no name is told instead."""
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
