"""Audit events: their canonical JSON is that of their params, whatever is in them."""

from __future__ import annotations

from typing import Any

from hypothesis import given, strategies as st

from kinwire.managers.hash_chain import canonical_json
from kinwire.mgp.rules.audit_events import MaskedDetails, SecurityEvent

NAME = st.text(max_size=8) | st.sampled_from(["token=abcdefgh12345678", "\x1b[31m", "é\u2028"])
DETAILS = st.dictionaries(
    NAME, st.integers() | NAME | st.floats(allow_nan=False, allow_infinity=False), max_size=3
)


@given(NAME, NAME | st.none(), NAME | st.none(), NAME, DETAILS, st.booleans())
def test_canonical_json_is_that_of_the_params(
    actor: str,
    server: str | None,
    tool: str | None,
    trace_id: str,
    details: dict[str, Any],
    is_masked: bool,
) -> None:
    shown = MaskedDetails(details) if is_masked else details
    event = SecurityEvent("TOOL_EXECUTED", "agent", actor, server, tool, "SUCCESS", shown, trace_id)
    assert event.canonical(1_772_193_600.25) == canonical_json(event.params(1_772_193_600.25))
