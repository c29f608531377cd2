"""Names of permissions, the four policies, and the forms of a grant (MGP 3)."""

from __future__ import annotations

import math
from typing import Any

import pytest

from kinwire.mgp import ServerPolicy, ToolPolicy
from kinwire.mgp.rules.permissions import (
    PermissionDecision,
    PermissionState,
    allowed_by,
    checked_permissions,
    expanded,
    grant_of,
    grants_on_wire,
    judge,
    name_problem,
    narrowed,
    read_grant,
    risk_of,
)


def test_any_other_name_is_a_permission_that_is_dangerous() -> None:
    for name in ("com.example.custom_permission", "shell.sudo", "unheard-of", "X.y.2z"):
        assert name_problem(name) is None
        assert (risk_of(name), expanded([name])) == ("dangerous", (name,))
        assert "Not a standard permission" in allowed_by(name)


def test_a_family_stands_for_its_standard_permissions_once() -> None:
    assert expanded(["shell", "network", "shell.execute", "camera"]) == (
        "shell.execute",
        "network.outbound",
        "network.listen",
        "camera",
    )


def test_malformed_names_are_refused() -> None:
    wrong = (
        *("", " ", "shell.", ".execute", "shell..execute", "shell execute", "shell/execute"),
        *("shell.*", "*", "shell.execute\n", "sh\u0435ll.execute", "\u202eshell", "1st", "-x"),
        *("a" * 129, "Shell.Execute", "SHELL", "camerA"),
    )
    assert [name for name in wrong if name_problem(name) is None] == []
    assert name_problem("Shell.Execute") == "it is written shell.execute"
    for name in wrong:
        with pytest.raises(ValueError, match="expected names of permissions"):
            checked_permissions("here", [name])
    with pytest.raises(ValueError, match=r"ServerPolicy\.permissions"):
        ServerPolicy(permissions=["shell.*"])
    with pytest.raises(ValueError, match=r"ToolPolicy\.permissions"):
        ToolPolicy(permissions=["Shell"])


YES = PermissionDecision("files", "camera", "approved", "ann", 5.0, 9.0)
NO = PermissionDecision("files", "camera", "denied", "ann", 5.0)


def test_what_each_policy_decides() -> None:
    table: dict[str, tuple[str, str, str]] = {
        # nobody has decided, the operator has approved, the operator has denied
        "interactive": ("deferred nobody", "approved operator", "denied operator"),
        "auto_approve": ("approved policy", "approved policy", "denied operator"),
        "deny_all": ("denied policy", "denied policy", "denied operator"),
        "config_only": ("denied policy", "denied policy", "denied operator"),
    }
    for policy, expected in table.items():
        for decision, result in zip((None, YES, NO), expected, strict=True):
            state = judge(policy, decision, configured=False)  # type: ignore[arg-type]
            assert f"{state.value} {state.source}" == result
            state = judge(policy, decision, configured=True)  # type: ignore[arg-type]
            listed = "denied operator" if decision is NO else "approved configuration"
            assert f"{state.value} {state.source}" == listed
    assert judge("interactive", YES, configured=False).expires_at == 9.0


def test_what_a_server_answers_can_only_take_away() -> None:
    approved = PermissionState("approved", "operator", 9.0)
    assert narrowed(approved, math.inf, 1.0, denied=False) == approved
    assert narrowed(approved, 5.0, 1.0, denied=False).expires_at == 5.0
    assert narrowed(approved, 20.0, 1.0, denied=False).expires_at == 9.0
    assert narrowed(approved, 5.0, 5.0, denied=False) == PermissionState("denied", "server")
    assert narrowed(approved, math.inf, 1.0, denied=True) == PermissionState("denied", "server")


def test_the_three_forms_of_a_grant_are_read() -> None:
    forms: list[tuple[Any, str]] = [
        ("approved", "approved"),
        ({"decision": "approved"}, "approved"),
        ({"granted": True}, "approved"),
        ("denied", "denied"),
        ({"decision": "denied"}, "denied"),
        ({"granted": False}, "denied"),
        ("deferred", "deferred"),
        ({"granted": "no", "decision": "approved"}, "approved"),
    ]
    unknown: list[Any] = ["APPROVED", "yes", True, 1, None, [], {}, ["approved"], {"granted": 1}]
    forms += [(other, "deferred") for other in unknown]
    for form, value in forms:
        assert read_grant(form) == value, form
    assert grant_of({"shell": "approved"}, "shell.execute") == "approved"
    assert grant_of({"shell": "approved", "shell.execute": "denied"}, "shell.execute") == "denied"
    assert grant_of({"shell": "approved"}, "camera") is None


def test_a_family_that_a_server_asked_for_is_answered_by_its_name_too() -> None:
    def said(**values: str) -> Any:
        states = {
            f"network.{name}": PermissionState(value, "operator")  # type: ignore[arg-type]
            for name, value in values.items()
        }
        return grants_on_wire(["network", "shell"], states)["network"]

    assert said(outbound="approved", listen="approved") == "approved"
    assert said(outbound="approved", listen="deferred") == "deferred"
    assert said(outbound="denied", listen="deferred") == "denied"


def test_a_stored_decision_is_read_as_it_was_written() -> None:
    revoked = PermissionDecision("files", "camera", "denied", "ann", 5.0, None, "no more", True)
    for decision in (YES, NO, revoked):
        stored = decision.to_json()
        assert PermissionDecision.from_json(stored, value=decision.value) == decision
    for broken in ({}, None, "x", {**YES.to_json(), "at": "x"}):
        with pytest.raises((KeyError, TypeError, ValueError)):
            PermissionDecision.from_json(broken, value="approved")
