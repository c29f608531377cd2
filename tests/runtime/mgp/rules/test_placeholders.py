"""`${NAME}` is filled in once, and is never passed on as it is."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from kinwire.mgp.rules.placeholders import UnsetVariableError, filled, placeholders_in
from tests.each import each

VARIABLES = {"A_SRC": "p$q${r}", "EMPTY": "", "_x1": "y"}


def test_a_placeholder_is_filled_in_once_and_other_dollars_stay() -> None:
    expected = {
        "${A_SRC}": "p$q${r}",
        "x${A_SRC}y": "xp$q${r}y",
        "${A_SRC}${_x1}": "p$q${r}y",
        "$A_SRC": "$A_SRC",
        "$$A_SRC$": "$$A_SRC$",
        "$${A_SRC}": "${A_SRC}",
        "$$${A_SRC}": "$${A_SRC}",
        "${EMPTY}": "",
        "${EMPTY:-a}": "a",
        "${NOT_SET:-a b}": "a b",
        "${NOT_SET:-}": "",
        "}{ $ {A_SRC}": "}{ $ {A_SRC}",
        "": "",
    }
    assert {text: filled(text, VARIABLES) for text in expected} == expected


def test_a_variable_that_is_not_set_is_named() -> None:
    with pytest.raises(UnsetVariableError, match="NOT_SET") as refused:
        filled("secret ${NOT_SET}", VARIABLES)
    assert refused.value.name == "NOT_SET"
    assert "secret" not in str(refused.value)


@each("text", ["${", "${}", "${A-B}", "${1A}", "a${A_SRC", "${A:+x}", "${ A}"])
def test_a_text_that_is_nearly_a_placeholder_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        filled(text, VARIABLES)


def test_names_that_are_looked_up_are_listed() -> None:
    assert [*placeholders_in("${A}$B$${C}${D:-x}")] == ["A", "D"]


@given(st.text(), st.text("abc$ {}:-"))
def test_a_value_is_passed_on_whatever_is_in_it(value: str, around: str) -> None:
    around = around.replace("${", "").rstrip("$")
    assert filled(f"{around}${{V}}{around}", {"V": value}) == f"{around}{value}{around}"
