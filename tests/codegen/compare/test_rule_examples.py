"""The example on the page of a rule is an edit that the rule reports."""

from __future__ import annotations

import json

import pytest

from kinwire_codegen.compare.rules import RULES
from tests.codegen.compare.rule_examples import EXAMPLES, every_edit, excerpt, rules_of

CONTENT = json.loads(EXAMPLES.read_text(encoding="utf-8"))


@pytest.mark.slow
def test_every_example_is_an_edit_that_its_rule_reports() -> None:
    edits = [(excerpt(edit)._asdict(), edit) for edit in every_edit().values()]
    wrong = [
        rule
        for rule, example in CONTENT.items()
        if not any(rule in rules_of(edit) for found, edit in edits if found == example)
    ]
    assert wrong == [], "Run python -m tests.codegen.compare.rule_examples."


def test_most_rules_have_an_example() -> None:
    assert CONTENT.keys() <= RULES.keys()
    assert len(CONTENT) > 0.85 * len(RULES)
