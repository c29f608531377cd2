"""What a specification says about members of a type, checked on the examples of the document."""

from __future__ import annotations

__all__ = ("Shape", "check_shape", "shape")

from typing import Any, NamedTuple

import pytest
from pydantic import ValidationError

from kinwire_protocols.base import JsonObject
from tests.generated.messages import EXAMPLES, alone, validator


class Shape(NamedTuple):
    """Members of one type, each with a value that it must not have."""

    protocol: str
    kind: str
    required: bool
    wrong: JsonObject


def shape(*claimed: str, kind: str, required: bool = True, **wrong: Any) -> Any:
    """Return one case of a test; the rows that it claims begin with the protocol."""
    protocol = next(
        name for name in ("mcp-lite", "mcpl", "mcpe") if claimed[0].startswith(f"{name}-")
    )
    case = Shape(protocol, kind, required, wrong)
    return pytest.param(case, marks=pytest.mark.spec(*claimed), id=f"{claimed[0]}-{kind}")


def check_shape(case: Shape) -> None:
    """Check that the type has the members, as required as they are, and of their types."""
    for name, wrong in case.wrong.items():
        examples = [one for at, kind, one in EXAMPLES if (at, kind) == case[:2] and name in one]
        assert examples, f"no example of {case.kind} has {name}"
        example = examples[0]
        assert alone(case.protocol, case.kind, example) == example
        refuse(case, {**example, name: wrong})
        without = {key: value for key, value in example.items() if key != name}
        if case.required:
            refuse(case, without)
        else:
            validator(case.protocol, case.kind).validate(without)
            assert alone(case.protocol, case.kind, without) == without


def refuse(case: Shape, value: JsonObject) -> None:
    """Check that neither JSON Schema nor the model takes it."""
    assert not validator(case.protocol, case.kind).is_valid(value)
    with pytest.raises(ValidationError):
        alone(case.protocol, case.kind, value)
