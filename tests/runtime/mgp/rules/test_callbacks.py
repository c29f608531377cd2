"""Answers to callbacks: which fit, what is sent where nobody answers, and what is remembered."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from kinwire.mgp.rules.callbacks import (
    CHOICES,
    CallbackQuestion,
    CallbackRecord,
    CallbackState,
    approves,
    declined,
    is_yes_or_no,
    response_for,
    response_problem,
)

# options of a confirmation; which of them True and False are, None if that is not clear
CONFIRMATIONS: list[tuple[Sequence[str], str | None, str | None]] = [
    ((), "confirm", "cancel"),
    (("confirm", "cancel"), "confirm", "cancel"),
    (("cancel", "confirm"), "confirm", "cancel"),
    ((" YES ", "No"), " YES ", "No"),
    (("delete them", "cancel"), "delete them", "cancel"),
    (("ok", "later", "abort"), "ok", "abort"),
    (("approve", "deny", "ask me again"), "approve", "deny"),
    (("overwrite", "keep both"), None, None),
    (("yes", "later"), None, None),
    (("no", "cancel"), None, None),
    (("yes", "ok", "no"), None, "no"),
    (("stop",), None, "stop"),
]


def test_what_true_and_false_mean_is_clear_or_they_are_refused() -> None:
    for options, yes, no in CONFIRMATIONS:
        assert is_yes_or_no("confirmation", options) is (yes is not None), options
        assert declined("confirmation", options) == no
        for answer, expected in ((True, yes), (False, no)):
            if yes is None:
                with pytest.raises(ValueError, match="which of them means yes is not clear"):
                    response_for("confirmation", options, answer)
            else:
                assert response_for("confirmation", options, answer) == expected
        assert not is_yes_or_no("selection", options)
        assert declined("selection", options) is declined("input", options) is None


# type, options, answer, whether it fits
ANSWERS: list[tuple[str, Sequence[str], Any, bool]] = [
    ("confirmation", CHOICES, "confirm", True),
    ("confirmation", CHOICES, "Confirm", False),
    ("confirmation", (), "whatever", True),
    ("selection", ("red", "blue"), "blue", True),
    ("selection", ("red", "blue"), "green", False),
    ("selection", ("red", "blue"), True, False),
    ("selection", ("red", "blue"), ["red"], False),
    ("selection", (), "green", True),
    ("input", (), "a text", True),
    ("input", ("a", "b"), "c", True),
    ("input", (), {"a": [1, None]}, True),
    ("input", (), False, True),
    ("com.example.colour", ("a",), "b", True),
]


def test_an_answer_fits_its_question() -> None:
    for type, options, answer, fits in ANSWERS:
        assert (response_problem(type, options, answer) is None) is fits, (type, answer)
        assert response_problem(type, options, None) is None
        if fits:
            assert response_for(type, options, answer) == answer
        else:
            with pytest.raises(ValueError, match="expected one of "):
                response_for(type, options, answer)
    for wrong in (math.nan, object(), {"a": b""}):
        with pytest.raises(ValueError, match="expected a JSON value"):
            response_for("input", (), wrong)
    responses: list[object] = [True, "confirm", False, "cancel", None, 1, "Confirm", {}]
    assert list(map(approves, responses)) == [True, True, *[False] * 6]


def test_a_question_is_shown_on_one_line() -> None:
    question = CallbackQuestion("s", "a", "t", "input", "one\n\x1b[2Jtwo\u202e", (), 1)
    assert question.shown == "one\\n\\u001b[2Jtwo\\u202e"


@dataclass
class Call:
    """A request that ends when a test says so."""

    ended: bool = False


class Memory(RuleBasedStateMachine):
    """What is remembered, compared with a plain list of what happened."""

    calls: Bundle[Call] = Bundle("calls")

    @initialize()
    def begin(self) -> None:
        self.record = CallbackRecord(most=6)
        self.now = 0.0
        self.rows: dict[str, tuple[Call, Any]] = {}
        self.ends: dict[int, float] = {}

    @rule(target=calls)
    def call(self) -> Call:
        return Call()

    @rule(call=calls)
    def ask(self, call: Call) -> None:
        if call.ended:
            return
        name, before = f"cb-{len(self.rows)}", self.record.count(call)
        known = self.record.add(name, call, "digest", now=self.now)
        self.rows[name] = call, known
        assert known.state is CallbackState.OPEN
        assert self.record.count(call) <= before + 1

    @rule(call=calls)
    def end(self, call: Call) -> None:
        if not call.ended:
            call.ended = True
            for name, (owner, _) in self.rows.items():  # it is noticed when it is looked at
                if owner is call:
                    self.record.find(name, now=self.now)
            self.ends[id(call)] = self.now

    @rule(seconds=st.sampled_from([1.0, 150.0, 299.0, 300.0]))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @rule(data=st.data(), answer=st.sampled_from(["a", "b"]))
    def answer(self, data: st.DataObject, answer: str) -> None:
        if not self.rows:
            return
        name = data.draw(st.sampled_from(sorted(self.rows)))
        known = self.record.find(name, now=self.now)
        if known is None:
            return
        if known.state is CallbackState.OPEN:
            known.answered(answer)
            assert known.repeats(answer)
        known.end()  # changes nothing once there is an answer
        assert known.state is CallbackState.ANSWERED
        assert known.repeats(answer) is (known.answer == answer)

    @invariant()
    def remembers_neither_too_much_nor_too_little(self) -> None:
        assert len(self.record) <= 6
        for name, (call, known) in self.rows.items():
            found = self.record.find(name, now=self.now)
            assert found is None or found is known
            ended = self.ends.get(id(call))
            if ended is not None and self.now - ended >= 300:
                assert found is None
            elif len(self.rows) <= 6:
                assert found is known


TestMemory = Memory.TestCase


def test_of_too_many_the_ones_whose_request_has_ended_go_first() -> None:
    record, old, ended = CallbackRecord(most=2), Call(), Call()
    record.add("first", old, "", now=0)
    record.add("second", ended, "", now=0)
    ended.ended = True
    record.add("third", old, "", now=1)
    assert [record.find(name, now=1) is None for name in ("first", "second", "third")] == [
        False,
        True,
        False,
    ]
    known = record.add("fourth", old, "", now=2)
    assert record.find("first", now=2) is None
    assert record.count(old) == 2
    known.end()
    assert (known.state, known.repeats(None)) == (CallbackState.OVER, False)
