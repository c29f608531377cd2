"""Every example of every document: valid by its JSON Schema, read, and written as it was."""

from __future__ import annotations

import json
from typing import Any

from tests.each import each
from tests.generated.messages import DOCUMENTS, EXAMPLES, alone, validator


@each(("protocol", "name", "example"), EXAMPLES)
def test_an_example_is_valid_and_comes_back_as_it_was(
    protocol: str, name: str, example: Any
) -> None:
    validator(protocol, name).validate(example)
    again = alone(protocol, name, example)
    assert json.dumps(again, sort_keys=True) == json.dumps(example, sort_keys=True)


def test_every_definition_has_an_example() -> None:
    defined = {(document.name, name) for document in DOCUMENTS for name in document.definitions}
    assert {(protocol, name) for protocol, name, _ in EXAMPLES} == defined
