"""Events of MCPE as those of other protocols, and the other way round."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest

from kinwire.mcpe import event_priority, new_event, push_arguments, signature_of
from kinwire.mcpe.rules.events import PRIORITIES
from kinwire_protocols.mcp.models import LoggingLevel


def test_an_event_is_pushed_with_its_id_its_time_and_what_it_is() -> None:
    time = "2026-01-01T00:00:00Z"
    event = new_event("a.b", {"n": 1}, priority="high", tags=["x"], timestamp=time)
    pushed = push_arguments(event)
    assert json.loads(pushed["content"]) == {"n": 1}
    assert (pushed["event_id"], pushed["timestamp"]) == (event.id, time)
    assert pushed["origin"] == {"type": "a.b", "priority": "high", "tags": ["x"]}
    assert push_arguments(new_event("a.b"))["origin"] == {"type": "a.b", "priority": "normal"}


def test_severities_become_priorities_in_their_order() -> None:
    levels: tuple[str, ...] = get_args(LoggingLevel.__value__)
    found = [PRIORITIES.index(event_priority(level)) for level in levels]
    assert (found[0], found[-1]) == (0, 3)
    assert found == sorted(found)
    assert event_priority(None) == event_priority("info") == "normal"
    assert event_priority("catastrophe") == "critical"


def test_what_is_no_event_or_no_body_is_named() -> None:
    wrong: Any = {}
    with pytest.raises(TypeError, match="push_arguments: event: expected an MCPEvent"):
        push_arguments(wrong)
    with pytest.raises(TypeError, match="signature_of: body: expected bytes"):
        signature_of(wrong, "s")
    with pytest.raises(TypeError, match="signature_of: secret") as refused:
        signature_of(b"", b"hidden")  # type: ignore[arg-type]
    assert "hidden" not in str(refused.value)
