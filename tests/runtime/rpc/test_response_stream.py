"""The states of a response stream: each state with each event, and the pictures of them."""

from __future__ import annotations

import re
from enum import IntEnum

import pytest

from kinwire.rpc import response_stream
from kinwire.rpc.response_stream import (
    ATTACHMENTS,
    HANDLED,
    PHASES,
    StreamAttachment,
    StreamEvent,
    StreamPhase,
)
from tests.each import each

EVENTS = "BEGIN PUT RESTRICT RETURN END ATTACH DETACH DROP"

# A row for each state, a column for each event, in the order of `EVENTS`; a dot: the same state.
NEXT_PHASES = """
OWN          .    .    .           .    .    . . .
DUE          OPEN OVER .           .    OVER . . .
OPEN         .    .    ANSWER_ONLY DUE  OVER . . ANSWER_ONLY
ANSWER_ONLY  .    .    .           DUE  OVER . . .
OVER         .    .    .           .    .    . . .
"""
NEXT_ATTACHMENTS = """
DETACHED     . . . . . ATTACHED .        GONE
ATTACHED     . . . . . .        DETACHED GONE
GONE         . . . . . .        .        .
"""


def cells(table: str) -> list[tuple[str, str, str]]:
    """Return state, event and next state for each cell of a table."""
    rows = [line.split() for line in table.strip().splitlines()]
    return [
        (state, event, state if cell == "." else cell)
        for state, *row in rows
        for event, cell in zip(EVENTS.split(), row, strict=True)
    ]


def test_the_columns_are_all_events() -> None:
    assert EVENTS.split() == [event.name for event in StreamEvent]


@each(("state", "event", "expected"), cells(NEXT_PHASES))
def test_the_next_phase(state: str, event: str, expected: str) -> None:
    assert PHASES[StreamPhase[state], StreamEvent[event]] is StreamPhase[expected]


@each(("state", "event", "expected"), cells(NEXT_ATTACHMENTS))
def test_the_next_attachment(state: str, event: str, expected: str) -> None:
    found = ATTACHMENTS[StreamAttachment[state], StreamEvent[event]]
    assert found is StreamAttachment[expected]


def test_both_tables_have_each_state_with_each_event() -> None:
    for table, states, expected in (
        (PHASES, StreamPhase, NEXT_PHASES),
        (ATTACHMENTS, StreamAttachment, NEXT_ATTACHMENTS),
    ):
        assert len(table) == len(states) * len(StreamEvent) == len(cells(expected))


@pytest.mark.parametrize("states", [StreamPhase, StreamAttachment])
def test_the_pictures_name_and_explain_every_state(states: type[IntEnum]) -> None:
    pictures = str(response_stream.__doc__)
    for state in states:
        assert re.search(rf"^    {state.name}: ", pictures, re.MULTILINE), state.name
        drawn = re.findall(rf"(?<![\w]){state.name}(?![\w:])", pictures)
        assert drawn or state is StreamPhase.OWN, state.name  # it has no arrows


def test_the_pictures_name_every_event() -> None:
    assert [event.name for event in StreamEvent if event.name not in response_stream.__doc__] == []


def test_a_handler_works_in_two_phases() -> None:
    assert {StreamPhase.OPEN, StreamPhase.ANSWER_ONLY} == HANDLED
