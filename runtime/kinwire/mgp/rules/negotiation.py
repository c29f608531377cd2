"""What two offers of MGP come to: versions, names of extensions, the intersection (MGP 0.2.0, 2).

An offer of a peer is read leniently: what cannot be read in it is left out, with a warning.
"""

from __future__ import annotations

__all__ = (
    "ReadOffer",
    "active_extensions",
    "answered_extensions",
    "canonical_extensions",
    "compatible",
    "read_offer",
    "version_of",
)

import re
from collections.abc import Collection, Iterable
from typing import Final, NamedTuple, cast

from kinwire.support.sanitize import sanitize_for_log
from kinwire_protocols.base import JsonObject, from_wire
from kinwire_protocols.mgp.models import ServerOffer
from kinwire_protocols.mgp.tables import EXTENSION_ALIASES

_MOST_NAMES = 1_000  # of extensions and permissions that are read from one offer
_LONGEST = 200  # characters of a name
_VERSION: Final = re.compile(
    r"v?(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?(?:-([0-9A-Za-z.-]{1,60}))?(?:\+[0-9A-Za-z.-]{1,60})?",
    re.ASCII,
)


class Version(NamedTuple):
    """A semantic version; versions compare in their order."""

    major: int
    minor: int
    patch: int
    is_release: bool
    """False for a version with a part like `-beta.2`, which comes before its release."""
    parts: tuple[tuple[bool, int, str], ...]


class ReadOffer(NamedTuple):
    """What was read of an offer."""

    offer: ServerOffer | None
    """What counts, with the names of extensions of this version; None if MGP cannot be spoken."""
    warnings: tuple[str, ...]
    """What was left out, and what differs."""


def version_of(text: object) -> Version | None:
    """Return a version; None if the text is not one. The last number may be missing."""
    found = _VERSION.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        return None
    before = found[4]
    parts = () if before is None else tuple(_part(one) for one in before.split("."))
    return Version(int(found[1]), int(found[2]), int(found[3] or 0), before is None, parts)


def compatible(ours: str, theirs: object) -> bool:
    """Return whether the major numbers are equal (MGP 0.2.0 section 2.4, rule 4)."""
    one, other = version_of(ours), version_of(theirs)
    return one is not None and other is not None and one.major == other.major


def canonical_extensions(names: Iterable[str]) -> frozenset[str]:
    """Return the names as this version has them: `permissions` is part of `security`."""
    return frozenset(_canonical(name) for name in names)


def active_extensions(ours: Iterable[str], theirs: Iterable[str]) -> frozenset[str]:
    """Return the extensions that both sides have; order and repetition mean nothing."""
    return canonical_extensions(ours) & canonical_extensions(theirs)


def answered_extensions(supported: Collection[str], asked: Iterable[str]) -> list[str]:
    """Return the extensions to answer with, in the words in which they were asked for."""
    return [name for name in dict.fromkeys(asked) if _canonical(name) in supported]


def read_offer(offer: JsonObject, ours: str) -> ReadOffer:
    """Return what counts of the offer of a peer; `ours` is the version of this side."""
    version = offer.get("version")
    if not compatible(ours, version):
        shown = _shown(version)
        return ReadOffer(None, (f"version: expected {ours}, got {shown}; MGP is not spoken",))
    assert isinstance(version, str)
    warnings = [] if _same_minor(ours, version) else [f"version: {version} differs from {ours}"]
    members: JsonObject = {
        "version": version,
        "extensions": sorted(canonical_extensions(_names(offer, "extensions", warnings))),
    }
    if offer.get("permissions_required") is not None:
        members["permissions_required"] = _names(offer, "permissions_required", warnings)
    if offer.get("server_id") is not None:
        members["server_id"] = _text(offer, "server_id", warnings) or None
    if offer.get("trust_level") is not None:  # what cannot be read is not trusted
        members["trust_level"] = _text(offer, "trust_level", warnings)
    return ReadOffer(from_wire(ServerOffer, members), tuple(warnings))


def _names(offer: JsonObject, member: str, warnings: list[str]) -> list[str]:
    value: object = offer.get(member)
    if not isinstance(value, list):
        warnings.append(f"{member}: expected a list of names, got {_shown(value)}")
        return []
    found = cast("list[object]", value)
    names = [one for one in found[:_MOST_NAMES] if isinstance(one, str) and len(one) <= _LONGEST]
    if len(names) < len(found):
        warnings.append(f"{member}: what is not a name is left out")
    return names


def _text(offer: JsonObject, member: str, warnings: list[str]) -> str:
    value: object = offer[member]
    if isinstance(value, str) and len(value) <= _LONGEST:
        return value
    warnings.append(f"{member}: expected a short text, got {_shown(value)}")
    return ""


def _canonical(name: str) -> str:
    return EXTENSION_ALIASES[name].means if name in EXTENSION_ALIASES else name


def _same_minor(ours: str, theirs: str) -> bool:
    one, other = version_of(ours), version_of(theirs)
    return one is not None and other is not None and one.minor == other.minor


def _part(text: str) -> tuple[bool, int, str]:
    """Return what a part of a pre-release compares by: numbers come before words."""
    return (False, int(text), "") if text.isdigit() else (True, 0, text)


def _shown(value: object) -> str:
    return sanitize_for_log(f"{value!r:.60}")
