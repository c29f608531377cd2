"""What a project makes of the changes that a comparison found. Pure: it reads no file.

A policy gives rules another severity, accepts single findings with a reason, and says which steps
of a version announce that peers break.
"""

from __future__ import annotations

__all__ = ("AcceptedFinding", "ChangePolicy", "Review", "ReviewedChange", "fingerprint", "review")

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import NamedTuple

from kinwire_codegen.compare import Comparison, DocumentChange
from kinwire_codegen.compare.rules import Heading
from kinwire_codegen.compare.verdict import Category, Level
from kinwire_codegen.compare.versions import Scheme, VersionStep


class FindingKey(NamedTuple):
    """What identifies a finding, whatever line it is on and whatever its level is."""

    rule: str
    protocol: str
    pointer: str
    what: str

    @classmethod
    def of(cls, change: DocumentChange) -> FindingKey:
        """Return the key of a change."""
        return cls(change.rule.id, change.protocol, change.pointer, change.what)


def fingerprint(change: DocumentChange) -> str:
    """Return the key of a change as 32 hexadecimal digits."""
    return sha256("\0".join(FindingKey.of(change)).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class AcceptedFinding:
    """A finding that somebody has accepted."""

    key: FindingKey
    reason: str
    by: str = ""
    date: str = ""


@dataclass(frozen=True, slots=True)
class ChangePolicy:
    """How findings are judged; by default as the rules say, with nothing accepted."""

    severities: Mapping[str, Level] = field(default_factory=dict)
    """The level of all findings of a rule, by its id."""
    scheme: Scheme | None = None
    """How versions are read; None: by their form."""
    schemes: Mapping[str, Scheme] = field(default_factory=dict)
    """The same for single protocols."""
    accepted: tuple[AcceptedFinding, ...] = ()
    site: str = ""
    """Where the site with the pages of the rules is published, with a slash at its end."""

    def step(self, protocol: str, old: str, new: str) -> VersionStep:
        """Return how a step of a protocol's version is read."""
        scheme = self.schemes.get(protocol, self.scheme) or Scheme.of(old, new)
        return VersionStep(old, new, scheme)


@dataclass(frozen=True, slots=True)
class ReviewedChange:
    """A change, and why it does not count if it does not."""

    change: DocumentChange
    """With the level that the policy gives it."""
    accepted: AcceptedFinding | None
    announced: bool
    """Whether the version of the protocol announces that peers break."""

    @property
    def counts(self) -> bool:
        """Whether somebody may notice the change, and nobody has accepted it."""
        return self.change.level is not Level.SAFE and self.accepted is None

    @property
    def fails(self) -> bool:
        """Whether the change breaks somebody and is neither accepted nor announced."""
        return self.change.level is Level.BREAKING and self.counts and not self.announced


@dataclass(frozen=True, slots=True)
class Review:
    """All changes as a policy judges them."""

    changes: tuple[ReviewedChange, ...]
    versions: Mapping[str, VersionStep]
    """The versions of the protocols that are on both sides."""
    stale: tuple[AcceptedFinding, ...]
    """What was accepted and does not occur."""

    def of(self, *categories: Category) -> list[ReviewedChange]:
        """Return the changes of these categories."""
        return [one for one in self.changes if one.change.rule.category in categories]

    def failures(self, *categories: Category) -> list[ReviewedChange]:
        """Return the changes of these categories that fail."""
        return [one for one in self.of(*categories) if one.fails]

    def acceptable(
        self, categories: Collection[Category], rules: Collection[str], *, reason: str
    ) -> list[AcceptedFinding]:
        """Return what fails in these categories, accepted for `reason`.

        If `rules` names some, only their findings are returned, with the warnings among them.
        """
        return [
            AcceptedFinding(FindingKey.of(one.change), reason)
            for one in self.of(*categories)
            if (one.fails if not rules else one.counts and one.change.rule.id in rules)
        ]

    def needed(self, protocol: str, *categories: Category) -> str | None:
        """Return the version that the changes of a protocol need, None if it has one that will do.

        Changes that were accepted need none.
        """
        step = self.versions.get(protocol)
        found = [
            one.change
            for one in self.of(*categories)
            if one.change.protocol == protocol and one.accepted is None
        ]
        if step is None:
            return None
        if any(change.level is Level.BREAKING for change in found):
            return None if step.announces_breaks else step.for_breaks
        return step.for_additions if any(map(_adds, found)) else None


def _adds(change: DocumentChange) -> bool:
    added = change.rule.heading in (Heading.ADDED, Heading.DEPRECATED)
    return change.rule.category is not Category.DOCS and (added or change.level is Level.WARNING)


def review(
    comparison: Comparison, policy: ChangePolicy, compared: Iterable[str] | None = None
) -> Review:
    """Return the changes as `policy` judges them.

    `compared` names the protocols that were compared (default: all), since what was accepted of
    others is not stale.
    """
    accepted = {one.key: one for one in policy.accepted}
    versions = {
        name: policy.step(name, *versions) for name, versions in comparison.versions.items()
    }
    announced = {name for name, step in versions.items() if step.announces_breaks}
    changes = tuple(
        ReviewedChange(
            replace(change, level=policy.severities.get(change.rule.id, change.level)),
            accepted.get(FindingKey.of(change)),
            change.protocol in announced,
        )
        for change in comparison.changes
    )
    found = {FindingKey.of(change) for change in comparison.changes}
    names = None if compared is None else set(compared)
    stale = tuple(
        one
        for one in policy.accepted
        if one.key not in found and (names is None or one.key.protocol in names)
    )
    return Review(changes, versions, stale)
