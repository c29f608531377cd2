"""`inspect` and `doctor` show what a server offers of MGP, wherever it says so."""

from __future__ import annotations

from typing import Any

from tests.cli.fixtures_scripts import Captured, greeting, ran, scripted

MGP = {
    "version": "0.2.0",
    "extensions": ["security", "audit"],
    "permissions_required": ["shell"],
    "trust_level": "standard",
}
OFFERS: list[tuple[dict[str, Any], str | None]] = [
    ({"mgp": MGP}, "0.2.0: audit, security; needs shell; trust standard"),
    ({"experimental": {"mgp": {"version": "0.6.1", "extensions": []}}}, "0.6.1: no extensions"),
    ({"mgp": {"version": "1.0.0", "extensions": []}}, "another version: 1.0.0"),
    ({"mgp": True}, None),
    ({}, None),
]


def test_the_offer_of_mgp_is_shown(capsys: Captured) -> None:
    for capabilities, shown in OFFERS:
        server = scripted(answers={"initialize": greeting(capabilities)})
        _, out, _ = ran(capsys, "inspect", *server)
        rows = [line for line in out.splitlines() if line.startswith("MGP ")]
        assert rows == ([] if shown is None else [f"MGP           {shown}"])
    _, out, _ = ran(capsys, "doctor", *scripted(answers={"initialize": greeting({"mgp": MGP})}))
    version = next(line for line in out.splitlines() if " version " in line)
    assert version.endswith(
        "MCP 2024-11-05, MGP 0.2.0: audit, security; needs shell; trust standard"
    )
