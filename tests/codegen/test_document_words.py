"""What documents say of versions, deprecation and values of enums, in lint and in the bindings."""

from __future__ import annotations

import importlib
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pydantic import ValidationError

from kinwire_codegen.lint import lint
from kinwire_codegen.load.findings import DocumentError
from kinwire_codegen.load.notes import deprecation, described
from tests.codegen.documents import documents, protocol
from tests.each import each

GOLDEN = Path(__file__).parent / "golden" / "expected"
KIND = {"description": "A kind.", "type": "integer", "enum": [1, 2, -1]}


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(GOLDEN)
    return importlib.import_module("tiny_bindings.tiny")


def findings(folder: Path, **types: dict[str, Any]) -> list[str]:
    try:
        found = lint(documents(folder, protocol(types=types)))
    except DocumentError as error:
        found = list(error.findings)
    return [str(one).removeprefix("toy.json#/$defs/") for one in found]


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        pytest.param(
            {"Kind": {**KIND, "enumValues": {"3": {}, "-2": {}}}},
            [
                "Kind/enumValues/-2: '-2' is not a value of the enum. Did you mean '2'?",
                "Kind/enumValues/3: '3' is not a value of the enum. Add it to enum, or remove it.",
            ],
            id="a value that the enum does not have",
        ),
        pytest.param(
            {"Kind": {"description": "Text.", "type": "string", "enumValues": {"a": {}}}},
            ["Kind/enumValues: there is no enum here. Add it, or remove enumValues."],
            id="no enum",
        ),
        pytest.param(
            {"Kind": {"description": "Any.", "enum": ["1", 1], "enumValues": {"1": {}}}},
            [
                "Kind/enumValues/1: '1' is both a text and an integer of the enum."
                " Give one of them another value."
            ],
            id="a text that looks like an integer",
        ),
        pytest.param(
            {"Kind": {"description": "A.", "enum": ["a"], "enumValues": {"a": {"name": "A"}}}},
            ["Kind/enumValues/a/name: a text needs no name: it is written as it is. Remove it."],
            id="a name for a text",
        ),
        pytest.param(
            {"Kind": {**KIND, "enumValues": {"1": {"name": "BigDog"}, "-1": {"name": "BIG_DOG"}}}},
            ["Kind/enumValues/-1/name: 1 and -1 are both 'BIG_DOG' in Python. Rename one of them."],
            id="two names that are one in Python",
        ),
        pytest.param(
            {
                "Box": {
                    "description": "A box.",
                    "type": "object",
                    "properties": {"kind": {"enum": [1], "enumValues": {"1": {"name": "One"}}}},
                }
            },
            [
                "Box/properties/kind/enumValues/1/name: only an enum with a name of its own"
                " can have constants. Move the enum to $defs and refer to it."
            ],
            id="a name inside a field",
        ),
        pytest.param(
            {
                "Kind": {**KIND, "enumValues": {"1": {"name": "One"}}},
                "KindValues": {"description": "Text.", "type": "string"},
            },
            [
                "KindValues: 'KindValues' is the class of the constants of 'Kind'."
                " Choose another name."
            ],
            id="a type with the name of the constants",
        ),
        pytest.param(
            {"Kind": {**KIND, "deprecated": {}, "x-vendor": {"any": [None]}}},
            ["Kind/deprecated: {} should be non-empty. See meta.schema.json."],
            id="a deprecation that says nothing, next to an entry of a vendor",
        ),
    ],
)
def test_lint_names_the_place_and_the_fix(
    types: dict[str, Any], expected: list[str], tmp_path: Path
) -> None:
    assert findings(tmp_path, **types) == expected


@each(
    ("said", "expected"),
    [
        (True, "Deprecated."),
        ({"since": "2"}, "Deprecated since 2."),
        ({"reason": "It is slow."}, "Deprecated: It is slow."),
        ({"replacement": "`fast`"}, "Deprecated. Use `fast`."),
        (
            {"since": "2", "reason": "It is slow", "replacement": "`fast`."},
            "Deprecated since 2: It is slow. Use `fast`.",
        ),
        (None, None),
    ],
)
def test_a_deprecation_is_one_sentence_or_two(said: Any, expected: str | None) -> None:
    assert deprecation({} if said is None else {"deprecated": said}) == expected


def test_the_text_of_an_enum_lists_only_values_with_something_said() -> None:
    values = {"1": {"name": "BigDog", "since": "2"}, "2": {"x-color": "red"}, "-1": {"name": "No"}}
    assert described({**KIND, "since": "1", "enumValues": values}) == (
        "A kind. Since 1.\n\n- `1` (`BIG_DOG`): Since 2.\n- `-1` (`NO`)"
    )


def test_names_of_integers_are_constants_and_values_stay_integers(tiny: ModuleType) -> None:
    base = importlib.import_module("tiny_bindings.base")
    names = tiny.BindingValues
    assert (names.PAPER_BACK, names.HARD_BACK, names.NONE) == (1, 2, -1)
    made = tiny.FindParams(binding=names.HARD_BACK)
    for read in (made, base.from_wire(tiny.FindParams, {"binding": 2})):
        assert type(read.binding) is int
        assert base.to_wire(read) == {"binding": 2}
    tiny.FindParams.model_validate({"binding": 4}, strict=True)
    with pytest.raises(ValidationError):
        base.from_wire(tiny.FindParams, {"binding": 3})


def test_only_calls_of_deprecated_stubs_warn(tiny: ModuleType) -> None:
    base = importlib.import_module("tiny_bindings.base")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert base.from_wire(tiny.Lamp, {"name": "desk"}).name == "desk"
        assert tiny.FindParams(hint=1).hint == 1
        assert tiny.WornError().code == 4004
    assert tiny.Lamp.__deprecated__ == "Deprecated: Shelves have light."
    with pytest.warns(DeprecationWarning, match=r"Nobody listens\. Use `books/lent`\."):
        tiny.ServerStub(None).books_announce(id=1, date="now").close()
