"""Compiled schemas say that a value fits, and nothing where they cannot tell.

`constructs.py` compares them with `jsonschema` for all that a type may say.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from kinwire_codegen.load.compiled import compiled, registry_of
from tests.codegen.documents import SCHEMA

OTHER = {"$defs": {"Text": {"type": "string"}, "Own": {"$ref": "#/$defs/Text"}}}


@pytest.mark.parametrize(
    ("reference", "fits"),
    [
        ("#/$defs/Number", [1]),
        ("other.json#/$defs/Text", ["a"]),
        ("other.json#/$defs/Own", ["a"]),
        ("other.json#/$defs/Nothing", []),
        ("nothing.json#/$defs/Text", []),
        ("http://127.0.0.1:9/nothing.json", []),
    ],
)
def test_references_lead_into_the_files_and_nowhere_else(reference: str, fits: list[Any]) -> None:
    schema = {"$defs": {"Number": {"type": "number"}}, "$ref": reference}
    judge = compiled(schema, registry_of({"other.json": OTHER}), "here.json")
    assert [value for value in (1, "a") if judge(value)] == fits


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"pattern": "("}, "("),
        ({"pattern": "(?=a)"}, "a"),
        ({"type": "nothing"}, 1),
        ({"type": "string"}, "\ud800"),
    ],
)
def test_what_cannot_be_told_is_left_to_jsonschema(schema: dict[str, Any], value: object) -> None:
    assert not compiled(schema)(value)


def test_a_pattern_takes_linear_time() -> None:
    judge = compiled({"pattern": "^(a+)+$"})
    assert judge("a" * 30_000)
    assert not judge("a" * 30_000 + "!")


def test_documents_without_a_fault_do_not_load_jsonschema() -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from kinwire_codegen.lint import lint\n"
        "from kinwire_codegen.load.loading import load_documents\n"
        "assert not lint(load_documents(Path(sys.argv[1])))\n"
        "assert 'jsonschema_rs' in sys.modules, 'nothing was judged'\n"
        "assert 'jsonschema' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code, SCHEMA], check=True)


def test_an_example_is_judged_by_patterns_as_the_bindings_read_them() -> None:
    from kinwire_codegen.lint.examples import misfits
    from kinwire_codegen.load.document import Document, Documents
    from tests.codegen.documents import protocol

    digit = {"type": "string", "pattern": "^\\d$", "description": "A digit."}
    content = protocol(types={"Digit": digit | {"examples": ["7", "\u0663", "77"]}})
    document = Document(json.loads(json.dumps(content)))
    found = [place[-1] for place, _ in misfits(document, Documents({"toy": document}, {}))]
    assert found == [1, 2]
