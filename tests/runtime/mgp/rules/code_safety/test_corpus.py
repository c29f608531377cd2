"""Code safety over the vectors: what must be blocked is, what must pass does, at every level.

Both rates are a ratchet: each list is passed whole, so a new miss or refusal fails here.
"""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from kinwire.mgp.rules.code_safety.levels import LEVELS
from tests.runtime.mgp.rules.code_safety.fixtures_code import (
    CHANGES,
    Vector,
    changed,
    vectors,
    violations,
)

CHECKED = LEVELS[1:]
BLOCKED = [Vector(**row) for row in vectors("code_must_block")]
STATIC = [row for row in BLOCKED if row.kind != "limits"]
JAILS: list[str] = vectors("code_jails")
BENIGN: list[str] = [row["code"] for row in vectors("code_must_allow")]


def from_level(level: str) -> tuple[str, ...]:
    """Return a level and the stricter ones."""
    return CHECKED[CHECKED.index(level) :]


@pytest.mark.spec("mgp-7.2-2", "mgp-7.2-3", "mgp-7.2-4")
def test_harmful_code_is_blocked_at_its_level_and_at_stricter_ones() -> None:
    missed = [
        (row.id, level)
        for row in STATIC
        for level in from_level(row.level)
        if not violations(row.code, level)
    ]
    assert missed == []


def test_escapes_that_need_no_import_of_harmful_modules_are_blocked() -> None:
    missed = [code for code in JAILS if not violations(code, "standard")]
    assert missed == []
    assert len(JAILS) > 250


def test_harmless_code_passes_at_every_level() -> None:
    more = vectors("code_benign")
    refused = [
        (level, code, found)
        for level in CHECKED
        for code in (
            *BENIGN,
            *more["any level"],
            *(more["standard"] if level == "standard" else ()),
        )
        if (found := violations(code, level))
    ]
    assert refused == []


@pytest.mark.spec("mgp-7.2-1")
def test_unrestricted_checks_nothing() -> None:
    assert not any(violations(row.code, "unrestricted") for row in BLOCKED)


def test_what_only_limits_of_time_and_memory_stop_is_known() -> None:
    """A filter of the text cannot stop these; the guide says so."""
    limits = {row.id for row in BLOCKED if row.kind == "limits"}
    assert {row.id for row in BLOCKED if not violations(row.code, row.level)} <= limits


@given(row=st.sampled_from(STATIC), names=st.lists(st.sampled_from(sorted(CHANGES)), max_size=4))
def test_blocked_code_stays_blocked_in_another_form(row: Vector, names: list[str]) -> None:
    code = changed(row.code, names)
    assert violations(code, row.level), code


def test_each_change_alone_keeps_blocked_code_blocked() -> None:
    passed = [
        (row.id, name)
        for row in STATIC
        for name in CHANGES
        if not violations(changed(row.code, [name]), row.level)
    ]
    assert passed == []
