"""Which steps of a version announce breaking changes, and which version they need."""

from __future__ import annotations

import pytest

from kinwire_codegen.compare.policy import ChangePolicy
from kinwire_codegen.compare.versions import Scheme, VersionStep, version_rose
from tests.each import each


def step(old: str, new: str, scheme: str = "") -> VersionStep:
    return ChangePolicy(scheme=Scheme(scheme) if scheme else None).step("toy", old, new)


@each(
    ("old", "new", "scheme"),
    [
        ("1", "2", Scheme.SEMVER),
        ("0.042", "0.043", Scheme.SEMVER),
        ("1.2.3", "2.0.0-rc.1", Scheme.SEMVER),
        ("1.2.3+build.5", "1.2.4", Scheme.SEMVER),
        ("2024-11-05", "2025-03-26", Scheme.DATE),
        ("2024-11-05-draft", "2024-11-05", Scheme.DATE),
        ("spring", "summer", Scheme.ANY),
        ("1.2.3.4", "1.2.3.5", Scheme.ANY),
        ("0.9", "2025-01-01", Scheme.ANY),
        ("", "1.0", Scheme.ANY),
    ],
)
def test_the_scheme_of_versions_follows_from_their_form(old: str, new: str, scheme: Scheme) -> None:
    assert step(old, new).scheme is scheme


@each(
    ("old", "new", "announces"),
    [
        ("1.2.3", "2.0.0", True),
        ("1.2.3", "1.3.0", False),
        ("1.2.3", "1.2.4", False),
        ("1.2.3", "1.2.3", False),
        ("2.0.0", "1.9.9", False),
        ("1.2.3", "2.0.0-draft", True),
        ("1.2.3", "1.2.4-draft", False),
        ("1.2.3", "1.2.3+other", False),
        ("0.4.1", "0.5.0", True),
        ("0.4.1", "0.4.2", False),
        ("0.4.1", "1.0.0", True),
        ("0.042", "0.043", True),
        ("0.1", "0.2", True),
        ("1.4", "1.5", False),
        ("1", "2", True),
        ("9", "10", True),
        # A draft promises nothing.
        ("0.4.1-draft", "0.4.2-draft", True),
        ("1.0.0-rc.1", "1.0.0-rc.2", True),
        ("1.0.0-rc.1", "1.0.0", True),
        ("1.0.0-rc.1", "1.0.0-rc.1", False),
        ("2024-11-05", "2025-03-26", True),
        ("2024-11-05", "2024-11-05", False),
        ("2025-03-26", "2024-11-05", False),
        ("2024-11-05-draft", "2024-11-05", True),
        ("2024-11-05", "2024-11-05-draft", False),
        ("2024-11-05", "2025-01-01-draft", True),
        ("r1", "r2", True),
        ("r2", "r1", False),
        ("0.9", "2025-01-01", True),
    ],
)
def test_a_step_announces_breaks_as_its_scheme_says(old: str, new: str, announces: bool) -> None:
    assert step(old, new).announces_breaks is announces


@each(
    ("scheme", "old", "new", "announces"),
    [
        ("any", "1.2.3", "1.2.4", True),
        ("any", "1.2.3", "1.2.3", False),
        ("any", "2024-11-05", "2024-11-05.1", True),
        ("date", "1.2.3", "2.0.0", False),
        ("semver", "2024-11-05", "2025-03-26", False),
        ("semver", "1.2.3", "2025-03-26", False),
    ],
)
def test_a_policy_may_name_another_scheme(scheme: str, old: str, new: str, announces: bool) -> None:
    assert step(old, new, scheme).announces_breaks is announces


def test_a_scheme_of_one_protocol_comes_before_that_of_all() -> None:
    policy = ChangePolicy(scheme=Scheme.SEMVER, schemes={"toy": Scheme.ANY})
    assert policy.step("toy", "1.0.0", "1.0.1").announces_breaks
    assert not policy.step("other", "1.0.0", "1.0.1").announces_breaks


@each(
    ("old", "new", "for_breaks", "for_additions"),
    [
        ("1.3.9", "1.3.9", "2.0.0", "1.4.0"),
        ("1.3", "1.3", "2.0", "1.4"),
        ("1", "1", "2", None),
        ("1.3.9", "1.4.0", "2.0.0", None),
        ("1.3.9", "1.4.0-draft", "2.0.0", None),
        ("1.9.9", "1.9.10", "2.0.0", "1.10.0"),
        ("0.4.1", "0.4.2", "0.5.0", None),
        ("0.042", "0.042", "0.043", None),
        ("0", "0", "1", None),
        ("1.0.0-rc.1", "1.0.0-rc.1", "a version above 1.0.0-rc.1", None),
        ("2024-11-05", "2024-11-05", "a date after 2024-11-05", None),
        ("r1", "r1", "a version above r1", None),
    ],
)
def test_the_version_that_a_change_needs_is_named(
    old: str, new: str, for_breaks: str, for_additions: str | None
) -> None:
    found = step(old, new)
    assert (found.for_breaks, found.for_additions) == (for_breaks, for_additions)
    if for_breaks[0].isdigit():
        assert step(old, for_breaks).announces_breaks


@pytest.mark.parametrize("scheme", ["semver", "date"])
def test_versions_of_another_form_need_the_form_of_the_scheme(scheme: str) -> None:
    found = step("spring", "summer", scheme)
    assert found.for_breaks.startswith("versions such as ")
    assert found.for_additions is None


@each(
    ("old", "new"),
    [("1", "1.1"), ("0.9", "0.10"), ("1.0-draft", "1.0"), ("2024-11-05", "2025-01-01")],
)
def test_versions_are_ordered(old: str, new: str) -> None:
    assert version_rose(old, new)
    assert not version_rose(new, old)
