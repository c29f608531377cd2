"""Arrays with a short form: what may have one, what is read, and what comparisons say."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from kinwire_codegen.compare import compare
from kinwire_codegen.compare.verdict import Category
from kinwire_codegen.exports.jsonschema import jsonschema_files
from kinwire_codegen.lint import lint
from tests.codegen.documents import build_types, documents, protocol

Node = dict[str, Any]

TEXT: Node = {"type": "string"}
WORD: Node = {
    "type": "object",
    "properties": {"kind": {"const": "word", "type": "string"}, "some-text": TEXT, "more": TEXT},
    "required": ["kind", "some-text"],
}
SHORT: Node = {"$ref": "#/$defs/Word", "member": "some-text"}
WORDS: Node = {"type": "array", "items": {"$ref": "#/$defs/Word"}, "shorthand": SHORT}
LINE: Node = {"type": "object", "properties": {"words": {"$ref": "#/$defs/Words"}}}


def faults(folder: Path, **types: Node) -> list[str]:
    described = {name: {"description": "A type."} | node for name, node in types.items()}
    return [str(one) for one in lint(documents(folder, protocol(types=described)))]


def test_a_string_is_read_as_one_item_and_written_as_a_list(tmp_path: Path) -> None:
    with build_types(tmp_path, Word=WORD, Words=WORDS, Line=LINE) as models:
        base = importlib.import_module(f"{models.__name__.partition('.')[0]}.base")
        word = {"kind": "word", "some-text": "tea"}
        for read in ("tea", [word]):
            line = base.from_wire(models.Line, {"words": read})
            assert line.words == [models.Word(kind="word", some_text="tea")]
            assert base.to_wire(line) == {"words": [word]}
        assert models.Line(words="tea") == line
        for wrong in (1, word, ["tea"], [{"kind": "word"}]):
            with pytest.raises(ValidationError):
                base.from_wire(models.Line, {"words": wrong})


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (WORDS, None),
        (TEXT | {"shorthand": SHORT}, "a short form belongs to an array in $defs"),
        (WORDS | {"items": TEXT}, "'Word' is not an item of the array"),
        (
            WORDS | {"shorthand": SHORT | {"$ref": "#/$defs/Absent"}},
            "'Absent' is not an item of the array",
        ),
        (
            WORDS | {"shorthand": SHORT | {"member": "more"}},
            "a string does not make a whole 'Word'",
        ),
        (
            WORDS | {"shorthand": SHORT | {"member": "none"}},
            "a string does not make a whole 'Word'",
        ),
    ],
)
def test_a_short_form_makes_an_item_of_its_array(
    words: Node, said: str | None, tmp_path: Path
) -> None:
    found = faults(tmp_path, Word=WORD, Words=words, Line=LINE)
    assert (said is None and found == []) or any(str(said) in one for one in found)


def test_a_short_form_is_not_of_a_type_without_a_name(tmp_path: Path) -> None:
    line: Node = {"type": "object", "properties": {"words": WORDS}}
    (found,) = faults(tmp_path, Word=WORD, Line=line)
    assert "a short form belongs to an array in $defs" in found


def test_json_schemas_for_others_have_only_the_list(tmp_path: Path) -> None:
    types = {"Word": WORD, "Words": WORDS, "Line": LINE}
    described = {name: {"description": "A type."} | node for name, node in types.items()}
    found = documents(tmp_path, protocol(types=described))
    (text,) = jsonschema_files(found, found["toy"]).values()
    assert "shorthand" not in text


PLAIN: Node = {"type": "array", "items": {"$ref": "#/$defs/Word"}}
BOTH: Node = {"anyOf": [TEXT, PLAIN]}


@pytest.mark.parametrize(
    ("old", "new", "rules"),
    [
        (PLAIN, WORDS, []),  # old writers and old readers know only the list
        (WORDS, PLAIN, ["type-narrowed"]),  # old writers may write a string
        (BOTH, WORDS, []),  # a string is still read, and not written any more
        (WORDS, BOTH, []),  # old readers read the string that is written now
    ],
    ids=["added", "removed", "from a union", "to a union"],
)
def test_a_comparison_knows_that_a_short_form_is_only_read(
    old: Node, new: Node, rules: list[str], tmp_path: Path
) -> None:
    sides = []
    for name, words in (("old", old), ("new", new)):
        types = {"Word": WORD, "Words": words, "Line": LINE}
        described = {key: {"description": "A type."} | node for key, node in types.items()}
        (tmp_path / name).mkdir()
        sides.append(documents(tmp_path / name, protocol(types=described)))
    changes = compare(sides[0], sides[1], ("toy",)).of(Category.WIRE)
    assert [one.rule.name for one in changes] == rules
