"""Which entry decides about a tool, whatever the order in which entries were made."""

from __future__ import annotations

from itertools import permutations
from math import inf
from typing import Any, get_args

import pytest
from hypothesis import given, strategies as st

from kinwire.mgp.rules.access import (
    MOST_ENTRIES,
    AccessGrant,
    AccessSubject,
    AgentAccess,
    decide,
)
from kinwire.mgp.rules.access_results import entry_of, query_result
from kinwire_protocols.base import to_wire
from kinwire_protocols.mgp.models import AccessPermission, AccessSource, DefaultPolicy
from kinwire_protocols.mgp.tables import ACCESS_HIERARCHY
from tests.each import each

NOW = 1000.0
DEFAULTS: list[DefaultPolicy] = ["opt-in", "opt-out"]


def grant(
    permission: AccessPermission, tool: str | None = None, ends: float | None = None
) -> AccessGrant:
    return AccessGrant(AccessSubject("a", "s", tool), permission, "admin", 0.0, ends)


# entries; then, for opt-in and opt-out, what holds for the tools t and u
ALLOW_ALL, DENY_ALL = grant("allow"), grant("deny")
ALLOW_T, DENY_T = grant("allow", "t"), grant("deny", "t")
BY_DEFAULT = ("deny default_policy", "allow default_policy")
TABLE: list[tuple[list[AccessGrant], tuple[str, str], tuple[str, str]]] = [
    ([], BY_DEFAULT, BY_DEFAULT),
    ([ALLOW_ALL], ("allow server_grant",) * 2, ("allow server_grant",) * 2),
    ([DENY_ALL], ("deny server_grant",) * 2, ("deny server_grant",) * 2),
    ([ALLOW_T], ("allow tool_grant",) * 2, BY_DEFAULT),
    ([DENY_T], ("deny tool_grant",) * 2, BY_DEFAULT),
    ([ALLOW_ALL, DENY_T], ("deny tool_grant",) * 2, ("allow server_grant",) * 2),
    ([DENY_ALL, ALLOW_T], ("allow tool_grant",) * 2, ("deny server_grant",) * 2),
    ([ALLOW_ALL, DENY_ALL], ("deny server_grant",) * 2, ("deny server_grant",) * 2),
    ([ALLOW_T, DENY_T, DENY_ALL], ("deny tool_grant",) * 2, ("deny server_grant",) * 2),
    ([DENY_T, ALLOW_T, ALLOW_ALL], ("deny tool_grant",) * 2, ("allow server_grant",) * 2),
    ([grant("allow", "t", NOW), DENY_ALL], ("deny server_grant",) * 2, ("deny server_grant",) * 2),
    (
        [grant("deny", "t", NOW), ALLOW_ALL],
        ("allow server_grant",) * 2,
        ("allow server_grant",) * 2,
    ),
    ([grant("allow", None, NOW)], BY_DEFAULT, BY_DEFAULT),
    ([grant("allow", "t", NOW + 0.001)], ("allow tool_grant",) * 2, BY_DEFAULT),
]


@pytest.mark.spec("mgp-5.2-1")
def test_the_most_specific_entry_decides_and_denying_wins_on_one_level() -> None:
    for entries, of_t, of_u in TABLE:
        for order in permutations(entries):
            for tool, wanted in (("t", of_t), ("u", of_u)):
                for default, said in zip(DEFAULTS, wanted, strict=True):
                    found = decide(order, tool, default, NOW)
                    assert f"{found.permission} {found.source}" == said, (order, tool, default)
                    assert found.allowed is said.startswith("allow")
                    assert (found.entry is None) is said.endswith("default_policy")


def test_the_levels_are_those_of_the_specification() -> None:
    steps = AgentAccess("a", "s").steps("t", "opt-in", NOW)
    rows = sorted(ACCESS_HIERARCHY.values(), key=lambda row: row.priority)
    assert [step.source for step in steps] == [row.source for row in rows]
    assert [*get_args(AccessSource.__value__)] == [row.source for row in rows]


def test_an_explanation_shows_ended_entries_but_they_say_nothing() -> None:
    ended, holds = grant("allow", "t", NOW), grant("deny")
    row = AgentAccess("a", "s").with_grant(ended).with_grant(holds)
    steps = [(one.source, one.permission, one.entry) for one in row.steps("t", "opt-out", NOW)]
    assert steps == [
        ("tool_grant", None, ended),
        ("server_grant", "deny", holds),
        ("default_policy", "allow", None),
    ]


GRANTS = st.builds(
    grant,
    st.sampled_from(["allow", "deny"]),
    st.sampled_from([None, "t", "u"]),
    st.sampled_from([None, NOW - 1, NOW, NOW + 1]),
)


@given(
    st.lists(GRANTS, max_size=6),
    st.sampled_from(["t", "u"]),
    st.sampled_from(DEFAULTS),
)
def test_decisions_are_those_of_a_plain_reference(
    entries: list[AccessGrant], tool: str, default: DefaultPolicy
) -> None:
    def reference() -> tuple[str, str]:
        for level, source in ((tool, "tool_grant"), (None, "server_grant")):
            said = [
                one.permission
                for one in entries
                if one.subject.tool == level and (one.expires_at or inf) > NOW
            ]
            if said:
                return "deny" if "deny" in said else "allow", source
        return {"opt-in": "deny", "opt-out": "allow"}[default], "default_policy"

    found = decide(entries, tool, default, NOW)
    assert (found.permission, found.source) == reference()


@given(st.lists(GRANTS, max_size=6))
def test_a_later_entry_takes_the_place_and_what_is_stored_is_read_again(
    grants: list[AccessGrant],
) -> None:
    row, last = AgentAccess("a", "s"), dict[str | None, AccessGrant]()
    for one in grants:
        row = row.with_grant(one)
        last[one.subject.tool] = one
    assert row.entries == last
    assert AgentAccess.from_json(row.to_json()) == row
    kept = {tool: one for tool, one in last.items() if one.holds(NOW)}
    assert row.current(NOW).entries == kept
    assert "t" not in row.without("t").entries


@each(
    ("key", "value"),
    [
        ("permission", "Allow"),
        ("permission", None),
        ("tool", 5),
        ("granted_by", None),
        ("granted_at", "soon"),
        ("expires_at", "never"),
        ("justification", 1),
    ],
)
def test_an_entry_that_cannot_be_read_is_never_taken_for_another(key: str, value: Any) -> None:
    stored = AgentAccess("a", "s").with_grant(grant("allow", "t", NOW)).to_json()
    stored["entries"][0][key] = value
    with pytest.raises((KeyError, TypeError, ValueError)):
        AgentAccess.from_json(stored)
    del stored["entries"][0]["tool"]
    with pytest.raises((KeyError, TypeError, ValueError)):
        AgentAccess.from_json(stored)


def test_the_number_of_entries_of_an_agent_for_a_server_is_limited() -> None:
    entries: dict[str | None, AccessGrant] = {
        f"t{n}": grant("allow", f"t{n}") for n in range(MOST_ENTRIES)
    }
    full = AgentAccess("a", "s", entries)
    assert full.with_grant(grant("deny", "t0")).entries["t0"].permission == "deny"
    with pytest.raises(ValueError, match="at most 1000 entries"):
        full.with_grant(grant("deny", "new"))


@pytest.mark.spec("mgp-5.3-1", "mgp-5.3-2")
def test_entries_and_decisions_on_the_wire() -> None:
    entry = to_wire(entry_of(grant("allow", "t", 1.5)))
    assert (entry["entry_type"], entry["tool_name"]) == ("tool_grant", "t")
    assert (entry["granted_at"], entry["expires_at"]) == (
        "1970-01-01T00:00:00.000Z",
        "1970-01-01T00:00:01.500Z",
    )
    whole = to_wire(entry_of(grant("deny")))
    assert (whole["entry_type"], whole["tool_name"], whole["expires_at"]) == (
        "server_grant",
        None,
        None,
    )
    assert to_wire(query_result(decide([], "t", "opt-out", NOW))) == {
        "permission": "allow",
        "source": "default_policy",
        "granted_by": None,
        "granted_at": None,
        "expires_at": None,
    }
