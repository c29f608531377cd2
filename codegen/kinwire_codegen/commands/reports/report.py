"""What all forms of a report about changes are made from."""

from __future__ import annotations

__all__ = ("Report",)

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from kinwire_codegen.compare import DocumentChange
from kinwire_codegen.compare.policy import Review, ReviewedChange
from kinwire_codegen.compare.verdict import Category, Level
from kinwire_codegen.compare.versions import version_rose
from kinwire_codegen.load.positions import Position
from kinwire_codegen.load.sources import DocumentSource


@dataclass(frozen=True)
class Report:
    """Reviewed changes, the documents that they are in, and what of them is shown."""

    review: Review
    old: DocumentSource
    new: DocumentSource
    categories: Sequence[Category]
    policy_file: str = ""
    """The path of the policy file, empty if the project has no policy."""
    site: str = ""
    """The address of the site with the pages of the rules, empty if it is not known."""

    @property
    def found(self) -> list[ReviewedChange]:
        """The changes of the chosen categories."""
        return self.review.of(*self.categories)

    @property
    def shown(self) -> list[ReviewedChange]:
        """Those that somebody may notice."""
        return [one for one in self.found if one.change.level is not Level.SAFE]

    @property
    def counted(self) -> dict[str, int]:
        """How many there are of each level, and how many are accepted, which count only there."""
        counted = Counter(one.change.level for one in self.found if one.accepted is None)
        levels = {level.name.lower(): counted[level] for level in Level}
        return levels | {"accepted": sum(one.accepted is not None for one in self.found)}

    def place(self, change: DocumentChange) -> tuple[str, Position]:
        """Return where a change is in the new documents; in the old ones if the new have none."""
        here = self.old if change.gone and change.protocol not in self.new.documents else self.new
        place = change.place[:-1] if change.gone else change.place
        return here.position(change.protocol, place)

    def rule_page(self, rule: str) -> str | None:
        """Return the address of a rule's page on the site."""
        return f"{self.site}rules/{rule}.html" if self.site else None

    def version_lines(self) -> list[str]:
        """Return a line for each protocol whose version announces breaks, or has to rise."""
        return [line for name in self.review.versions if (line := self._version_line(name))]

    def _version_line(self, protocol: str) -> str | None:
        old, new, _ = step = self.review.versions[protocol]
        breaks = any(
            one.change.level is Level.BREAKING and one.accepted is None
            for one in self.found
            if one.change.protocol == protocol
        )
        verb = "rose" if version_rose(old, new) else "went"
        rose = f"{verb} from {old} to {new}" if old != new else f"is still {old}"
        if breaks and step.announces_breaks:
            return f"{protocol} {rose}: what breaks is announced"
        needed = self.review.needed(protocol, *self.categories)
        what = "what breaks" if breaks else "what is new"
        return f"{protocol} {rose}: {what} needs {needed}" if needed else None
