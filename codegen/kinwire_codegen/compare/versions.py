"""Which steps of a version announce that peers break.

A version says by its form how it is read: `1.4.0` as semantic versioning, `2024-11-05` as a date.
A draft (`2.0.0-rc.1`) promises nothing, so any later version of it may break peers.
"""

from __future__ import annotations

__all__ = ("Scheme", "VersionStep", "version_rose")

import re
from enum import Enum
from itertools import zip_longest
from typing import NamedTuple

_DRAFT = r"(?P<draft>-[0-9A-Za-z.-]*[A-Za-z][0-9A-Za-z.-]*)?"
_DATE = re.compile(rf"(?P<date>\d{{4}}-\d{{2}}-\d{{2}}){_DRAFT}")
_SEMVER = re.compile(
    r"(?P<major>\d+)(?:\.(?P<minor>\d+))?(?:\.(?P<patch>\d+))?" + _DRAFT + r"(?:\+[0-9A-Za-z.-]+)?"
)


class Scheme(Enum):
    """What a step of a version promises. The values are the words of the policy file."""

    SEMVER = "semver"
    """A higher major version may break peers; before 1.0, a higher minor version too."""
    DATE = "date"
    """A later date may break peers."""
    ANY = "any"
    """Any higher version may break peers."""

    @classmethod
    def of(cls, *versions: str) -> Scheme:
        """Return the scheme that all versions have by their form, `ANY` if it is not one."""
        forms = {_form(version) for version in versions}
        return forms.pop() if len(forms) == 1 else cls.ANY


class VersionStep(NamedTuple):
    """The versions of a protocol on both sides, and how they are read."""

    old: str
    new: str
    scheme: Scheme

    @property
    def announces_breaks(self) -> bool:
        """Whether peers of the old version have to expect that the new one breaks them."""
        if not version_rose(self.old, self.new):
            return False
        if self.scheme is Scheme.ANY:
            return True
        if not self._fits:
            return False
        return _is_draft(self.old) or _series(self.old) < _series(self.new)

    @property
    def for_breaks(self) -> str:
        """What the new version has to be so that it may break peers: `2.0.0`, or a few words."""
        if self.scheme is not Scheme.ANY and not self._fits:
            return {
                Scheme.SEMVER: "versions such as 1.4.0",
                Scheme.DATE: "versions such as 2024-11-05",
            }[self.scheme]
        if self.scheme is Scheme.ANY or _is_draft(self.old):
            return f"a version above {self.old}"
        if self.scheme is Scheme.DATE:
            return f"a date after {self.old}"
        major, minor, patch = _numbers(self.old)
        if int(major) or minor is None:
            return _version(_next(major), minor and "0", patch and "0")
        return _version(major, _next(minor), patch and "0")

    @property
    def for_additions(self) -> str | None:
        """The version that additions need; None if the new one is as high, or none is needed.

        Before 1.0 additions need no version of their own, and dates have no such step.
        """
        if self.scheme is not Scheme.SEMVER or not self._fits or _is_draft(self.old):
            return None
        major, minor, patch = _numbers(self.old)
        if not int(major) or minor is None:
            return None
        new_major, new_minor, _ = _numbers(self.new)
        if (int(new_major), int(new_minor or 0)) > (int(major), int(minor)):
            return None
        return _version(major, _next(minor), patch and "0")

    @property
    def _fits(self) -> bool:
        return Scheme.of(self.old, self.new) is self.scheme


def version_rose(old: str, new: str) -> bool:
    """Return whether a version is above another: numbers by size, `-draft` below its release."""
    for one, other in zip_longest(_ranks(old), _ranks(new), fillvalue=(1, 0, "")):
        if one != other:
            return one < other
    return False


def _ranks(version: str) -> list[tuple[int, int, str]]:
    # A word ranks below the end of the version, a number above it.
    return [
        (2, int(part), "") if part.isdecimal() else (0, 0, part.lower())
        for part in re.findall(r"\d+|[a-zA-Z]+", version)
    ]


def _form(version: str) -> Scheme:
    if _DATE.fullmatch(version):
        return Scheme.DATE
    return Scheme.SEMVER if _SEMVER.fullmatch(version) else Scheme.ANY


def _matched(version: str) -> re.Match[str]:
    found = _DATE.fullmatch(version) or _SEMVER.fullmatch(version)
    assert found is not None  # by the scheme
    return found


def _is_draft(version: str) -> bool:
    found = _DATE.fullmatch(version) or _SEMVER.fullmatch(version)
    return found is not None and found["draft"] is not None


def _series(version: str) -> tuple[int, ...]:
    """Return the part of a version that rises if it may break peers."""
    if _form(version) is Scheme.DATE:
        return tuple(map(int, _matched(version)["date"].split("-")))
    major, minor, _ = _numbers(version)
    return (int(major),) if int(major) else (0, int(minor or 0))


def _numbers(version: str) -> tuple[str, str | None, str | None]:
    found = _matched(version)
    return found["major"], found["minor"], found["patch"]


def _next(number: str) -> str:
    """Return the number above, as long as it was: `042` is followed by `043`."""
    return str(int(number) + 1).zfill(len(number))


def _version(*parts: str | None) -> str:
    return ".".join(part for part in parts if part)
