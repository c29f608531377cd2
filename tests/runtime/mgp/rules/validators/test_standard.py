"""Which validators there are, and what refuses whatever the arguments are."""

from __future__ import annotations

from typing import Any

from kinwire.mgp.rules.validators.places import MOST_VALUES
from kinwire.mgp.rules.validators.standard import MOST_VIOLATIONS
from kinwire_protocols.mgp.tables import VALIDATORS
from tests.each import each
from tests.runtime.mgp.rules.validators.fixtures_vectors import reasons

STANDARD = [name for name in VALIDATORS if name != "code_safety"]


@each("name", STANDARD)
def test_a_standard_validator_lets_harmless_arguments_pass(name: str) -> None:
    assert reasons(name, {"path": "notes.txt", "n": 5, "deep": [None, {"flag": True}]}) == []


@each("name", ["", "Sandbox", "sandbox ", "strict", "code_safety"])
def test_an_unknown_validator_refuses(name: str) -> None:
    assert reasons(name, {}) == [f": the validator {name!r} is not known"]


def test_none_refuses_nothing() -> None:
    assert reasons("none", {"command": "rm -rf /", "url": "file:///etc/shadow"}) == []


@each("name", ["sandbox", "readonly", "network_restricted"])
def test_arguments_of_any_size_and_depth_are_judged(name: str) -> None:
    deep: Any = "ls"
    for _ in range(5000):
        deep = [deep]
    assert not reasons(name, {"x": deep})
    assert "at most" in str(reasons(name, {"x": ["a"] * (MOST_VALUES + 1)}))
    many = reasons(
        name, {"urls": ["file:///x"] * 50, "command": ["x"], "commands": ["rm x; y"] * 50}
    )
    assert len(many) == MOST_VIOLATIONS
