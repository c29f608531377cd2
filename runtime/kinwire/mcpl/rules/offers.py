"""What a peer offers of MCPL, in every shape that is seen (MCPL 5, 6.1, 14.1).

An offer is read member by member: one that is of a wrong shape is left out and told, and the rest
counts. So a peer that is careless in one thing is served in all others.
"""

from __future__ import annotations

__all__ = ("CHANNEL_FLAGS", "MOST_SETS", "VERSION", "Offer", "read_offer", "read_sets")

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from pydantic import ValidationError

from kinwire.mcpl.rules.names import NAME_SIZE, is_name
from kinwire_protocols.base import JsonObject, from_wire
from kinwire_protocols.mcpl.models import FeatureSet, StateCapability
from kinwire_protocols.mcpl.tables import USES
from kinwire_protocols.problems import problems

VERSION = "0.4"
"""Major and minor number of the version that is spoken here."""

MOST_SETS = 1000
"""Feature sets of one peer; those beyond are left out."""

_USES = frozenset(USES)
CHANNEL_FLAGS = ("register", "publish", "observe", "lifecycle", "streaming")
"""What a side can offer of channels (14.1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """An offer, understood. What is absent is off."""

    version: str = VERSION
    push_events: bool = False
    before_inference: bool = False
    after_inference: bool = False
    blocking: bool = False
    """Whether the hook after inference may be a request."""
    inference: bool = False
    inference_streaming: bool = False
    model_info: bool = False
    channels: frozenset[str] = frozenset()
    """The flags of 14.1 that are on."""
    feature_sets: Mapping[str, FeatureSet]
    state: StateCapability | None = None
    warnings: tuple[str, ...] = ()
    """What was left out of the offer, or is not understood; a sentence each."""


def read_offer(offer: JsonObject) -> Offer:
    """Return what `offer`, decoded JSON, comes to."""
    warnings: list[str] = []
    hooks = _below(offer.get("contextHooks"))
    after = _below(hooks.get("afterInference"))
    inference = _below(offer.get("inferenceRequest"))
    channels = _below(offer.get("channels"))
    return Offer(
        version=_version(offer.get("version"), warnings),
        push_events=_on(offer.get("pushEvents")),
        before_inference=_on(hooks.get("beforeInference")),
        after_inference=_on(hooks.get("afterInference")),
        # `afterInference: true` alone means without blocking.
        blocking=hooks.get("afterInference") is not True and after.get("blocking") is True,
        inference=_on(offer.get("inferenceRequest")),
        inference_streaming=inference.get("streaming") is True,
        model_info=_on(offer.get("modelInfo")),
        channels=frozenset(flag for flag in CHANNEL_FLAGS if channels.get(flag) is True),
        feature_sets=read_sets(offer.get("featureSets"), warnings),
        state=_state(offer.get("state"), warnings),
        warnings=tuple(warnings),
    )


def read_sets(value: object, warnings: list[str]) -> dict[str, FeatureSet]:
    """Return the feature sets of an object by name, or of a list of sets that bear their names.

    True, which hosts write, declares none. What is left out is told in `warnings`.
    """
    found: dict[str, FeatureSet] = {}
    for place, name, members in _entries(value, warnings):
        if len(found) >= MOST_SETS:
            warnings.append(f"featureSets: expected at most {MOST_SETS} sets; the rest is left out")
            break
        fault = _fault(name, found)
        if fault is not None:
            warnings.append(f"{place}: {fault}")
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


def _entries(value: object, warnings: list[str]) -> Iterator[tuple[str, str, object]]:
    """Yield place, name and members of each set; what has no name is told instead."""
    if isinstance(value, dict):
        for name, members in cast("JsonObject", value).items():
            yield f"featureSets/{name:.60}", name, members
    elif isinstance(value, list):
        for index, members in enumerate(cast("list[object]", value)):
            place = f"featureSets/{index}"
            own: object = _below(members).get("name")
            if isinstance(own, str):
                yield place, own, members
            else:
                warnings.append(f"{place}/name: expected the set's name; it is left out")
    elif value is not None and not isinstance(value, bool):
        warnings.append("featureSets: expected an object or a list of sets; it is left out")


def _fault(name: str, found: Mapping[str, FeatureSet]) -> str | None:
    if not is_name(name):
        return f"expected a name of 1 to {NAME_SIZE} characters without a star; it is left out"
    return "expected one set of this name, got another; it is left out" if name in found else None


class _Everything(dict[str, Any]):
    """True in the place of an object: all that can be below it is on."""

    def get(self, key: str, default: Any = None) -> Any:
        return True


def _below(value: object) -> JsonObject:
    if value is True:
        return _Everything()
    if isinstance(value, list):  # the names of what is on
        names = cast("list[object]", value)
        return {name: True for name in names if isinstance(name, str)}
    return cast("JsonObject", value) if isinstance(value, dict) else {}


def _on(value: object) -> bool:
    return value is not None and value is not False


def _version(value: object, warnings: list[str]) -> str:
    if value is None:
        return VERSION
    text = value if isinstance(value, str) else repr(value)
    if ".".join(text.split(".")[:2]) != VERSION:
        warnings.append(
            f"version: expected {VERSION}, got {text!r:.40}; it is spoken to as {VERSION}"
        )
    return text


def _state(value: object, warnings: list[str]) -> StateCapability | None:
    if value is None:
        return None
    try:
        return from_wire(StateCapability, value)
    except ValidationError as error:
        warnings.append(f"state{problems(error, value)[0]}")
        return None
