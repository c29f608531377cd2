"""What a kernel makes of a tool: its risk, its validators, its confirmation (MGP 4)."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from kinwire.mgp import KnownTool, ServerPolicy, ToolPolicy
from kinwire.mgp.rules.code_safety.levels import effective_rules
from kinwire.mgp.rules.server_policy import RISKS
from kinwire.mgp.rules.signs import words_of
from kinwire.mgp.rules.tools import highest_risk, kept_after_change, known_tool
from kinwire.mgp.rules.trust import DEFAULTS, effective_trust
from kinwire_protocols.mgp.models import RiskLevel, TrustLevel
from tests.runtime.mgp.raw_peers import Json, tool

SAFE: Json = {"risk_level": "safe"}


def known(definition: Json, trust: TrustLevel = "standard", **policy: Any) -> KnownTool:
    found = known_tool(definition, ServerPolicy(**policy), trust)
    assert found is not None
    return found


RISKY: list[tuple[Json, str]] = [
    # what the server says, where the kernel knows nothing worse
    (tool("think", security=SAFE), "safe"),
    (tool("think", security={"risk_level": "moderate"}), "moderate"),
    (tool("think", security={"risk_level": "dangerous"}), "dangerous"),
    (tool("think", security={"risk_level": "critical"}), "dangerous"),
    (tool("write_file", "path", security=SAFE), "safe"),
    # what it says about permissions and effects
    (tool("think", security={**SAFE, "permissions_required": ["memory.read"]}), "safe"),
    (tool("think", security={**SAFE, "permissions_required": ["memory.write"]}), "moderate"),
    (tool("think", security={**SAFE, "permissions_required": ["memory"]}), "moderate"),
    (tool("think", security={**SAFE, "permissions_required": ["shell"]}), "dangerous"),
    (tool("think", security={**SAFE, "permissions_required": ["com.example.x"]}), "dangerous"),
    (tool("think", security={**SAFE, "side_effects": ["notification"]}), "safe"),
    (tool("think", security={**SAFE, "side_effects": ["network"]}), "moderate"),
    (tool("think", security={**SAFE, "side_effects": ["weather"]}), "moderate"),
    (tool("think", security={**SAFE, "side_effects": ["process"]}), "dangerous"),
    (
        tool("think", security={**SAFE, "side_effects": ["database"], "reversible": False}),
        "dangerous",
    ),
    (tool("think", security={**SAFE, "reversible": False}), "safe"),
    # what it cannot talk the kernel out of
    (tool("execute_command", "command", security=SAFE), "dangerous"),
    (tool("helper", "cmd", security=SAFE), "dangerous"),
    (tool("run_python", "code", security=SAFE), "dangerous"),
    (tool("deleteEverything", security=SAFE), "dangerous"),
    (tool("think", security=SAFE, annotations={"destructiveHint": True}), "dangerous"),
    (tool("think", security="safe"), "dangerous"),
    (tool("think", security={"risk_level": 0}), "dangerous"),
    # a server without metadata
    (tool("read_file", "path"), "safe"),
    (tool("list_directory"), "safe"),
    (tool("write_file", "path", "content"), "moderate"),
    (tool("fetch", "url"), "moderate"),
    (tool("frobnicate"), "moderate"),
    (tool("frobnicate", annotations={"readOnlyHint": True}), "safe"),
    (tool("get", annotations={"openWorldHint": True}), "moderate"),
    (tool("remove_file", "path", annotations={"readOnlyHint": True}), "dangerous"),
]


@pytest.mark.spec("mgp-4.3-1", "mgp-4.4-1", "mgp-4.1-2")
def test_the_risk_is_the_highest_that_is_known() -> None:
    for definition, risk in RISKY:
        found = known(definition)
        assert found.risk == risk, definition
        for least in RISKS:
            raised = known(definition, tools={found.name: ToolPolicy(risk=least)})
            assert raised.risk == highest_risk((found.risk, least))
    entries: list[Json] = [{}, {"name": "x"}, {"name": 1, "inputSchema": {}}, {"inputSchema": {}}]
    for entry in entries:
        assert known_tool(entry, ServerPolicy(), "standard") is None
    flagged = known_tool(tool("think", security=SAFE), ServerPolicy(), "trusted", ("odd",))
    assert flagged is not None
    assert (flagged.risk, flagged.flags) == ("dangerous", ("odd",))


def test_confirmation_follows_risk_trust_the_server_and_the_configuration() -> None:
    for trust in get_args(TrustLevel.__value__):
        for risk in get_args(RiskLevel.__value__):
            one = tool("think", security={"risk_level": risk})
            usual = risk in DEFAULTS[trust].confirm
            assert known(one, trust).confirm is usual
            assert known(one, trust, confirm=["safe"]).confirm is (risk == "safe")
            asks = tool("think", security={"risk_level": risk, "confirmation_required": True})
            assert known(asks, trust).confirm is True
            quiet = tool("think", security={"risk_level": risk, "confirmation_required": False})
            assert known(quiet, trust).confirm is usual
            for wanted in (True, False):
                tools = {"think": ToolPolicy(confirm=wanted)}
                assert known(asks, trust, tools=tools).confirm is wanted


CHECKS: list[tuple[Json, TrustLevel, dict[str, Any], tuple[str, ...]]] = [
    (tool("think", security=SAFE), "standard", {}, ()),
    (tool("think", security={**SAFE, "validator": "readonly"}), "standard", {}, ("readonly",)),
    (tool("think", security={**SAFE, "validator": "odd"}), "standard", {}, ("odd",)),
    (tool("run", "command", security={**SAFE, "validator": "none"}), "standard", {}, ()),
    (tool("run", "command", security={**SAFE, "validator": "none"}), "sandboxed", {}, ("sandbox",)),
    (
        tool("run", "command", security={**SAFE, "validator": "readonly"}),
        "standard",
        {},
        ("readonly", "sandbox"),
    ),
    (tool("run", "command"), "standard", {}, ("sandbox",)),
    (tool("run", "command"), "trusted", {"tools": {"run": ToolPolicy(validator="none")}}, ()),
    (
        tool("run", "command"),
        "trusted",
        {"tools": {"run": ToolPolicy(validator="readonly")}},
        ("readonly",),
    ),
    (tool("think"), "standard", {"validator": "readonly"}, ("readonly",)),
    (tool("run_code", "code"), "standard", {}, ("code_safety",)),
    (tool("fetch", "url"), "standard", {}, ("network_restricted",)),
]


@pytest.mark.spec("mgp-4.3-4", "mgp-8.2-2")
def test_the_validators_are_the_configured_else_the_declared_and_the_own() -> None:
    for definition, trust, policy, expected in CHECKS:
        found = known(definition, trust, **policy)
        assert found.validators == expected, (definition, trust, policy)
        assert found.validator == (expected[0] if expected else "none")


def test_permissions_of_server_and_configuration_add_up() -> None:
    one = tool("think", security={**SAFE, "permissions_required": ["memory.read", "shell"]})
    added = {"think": ToolPolicy(permissions=["camera", "shell"])}
    assert known(one).permissions == ("memory.read", "shell")
    assert known(one, tools=added).permissions == ("memory.read", "shell", "camera")


@pytest.mark.spec("mgp-4.5-7")
def test_a_changed_definition_keeps_the_protection_that_it_had() -> None:
    strict = tool(
        "run",
        "text",
        security={
            "risk_level": "dangerous",
            "permissions_required": ["shell"],
            "validator": "sandbox",
        },
    )
    loose = tool("run", "text", security={**SAFE, "validator": "none"})
    before, after = known(strict), known(loose)
    assert (after.risk, after.validators, after.permissions, after.confirm) == (
        "safe",
        (),
        (),
        False,
    )
    kept = kept_after_change(before, after)
    assert (kept.risk, kept.validators, kept.confirm) == ("dangerous", ("sandbox",), True)
    assert kept.permissions == ("shell",)
    assert kept.digest == after.digest != before.digest
    rules = {"level": "readonly", "max_code_size_bytes": 10}
    strict = tool("run", security={**SAFE, "code_safety": rules, "confirmation_required": True})
    kept = kept_after_change(known(strict), known(loose))
    assert kept.demands_confirmation
    narrowed = effective_rules("standard", *kept.code_safety)
    assert (narrowed.level, narrowed.most_bytes) == ("readonly", 10)
    other = {"level": "standard", "blocked_imports": ["csv"], "language": "ruby"}
    kept = kept_after_change(kept, known(tool("run", security={**SAFE, "code_safety": other})))
    narrowed = effective_rules("standard", *kept.code_safety)
    assert (narrowed.level, narrowed.most_bytes, narrowed.language) == ("readonly", 10, "ruby")
    assert "csv" in narrowed.blocked_imports
    assert kept_after_change(kept, kept).code_safety == kept.code_safety
    decided = {"run": ToolPolicy(validator="none", confirm=False)}
    strict = tool("run", "text", security={"risk_level": "dangerous", "validator": "sandbox"})
    kept = kept_after_change(known(strict, tools=decided), known(loose, tools=decided))
    assert (kept.validators, kept.confirm) == ((), False)


def test_words_of_names() -> None:
    for name, words in (
        ("runShell_v2", {"run", "shell", "v", "2"}),
        ("READ-file.now", {"read", "file", "now"}),
        ("HTTPGet", {"http", "get"}),
        ("", set[str]()),
    ):
        assert words_of(name) == words


def test_trust_is_never_raised_by_the_server() -> None:
    levels: tuple[TrustLevel, ...] = get_args(TrustLevel.__value__)
    order = ["sandboxed", "standard", "trusted"]
    for configured in levels:
        assert effective_trust(configured, None) == configured
        assert effective_trust(configured, "anything") == "sandboxed"
        for declared in levels:
            lower = min(order.index(configured), order.index(declared))
            assert effective_trust(configured, declared) == order[lower]
