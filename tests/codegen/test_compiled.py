"""Compiled schemas say that a value fits, and nothing where they cannot tell.

`constructs.py` compares them with `jsonschema` for all that a type may say.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from typing import Any

import pytest
from pydantic_core import SchemaValidator, core_schema

from kinwire_codegen.lint.examples import misfits
from kinwire_codegen.load.compiled import compiled, registry_of
from kinwire_codegen.load.document import Document, Documents
from kinwire_codegen.load.patterns import translated
from tests.codegen.documents import SCHEMA, protocol

OTHER = {"$defs": {"Text": {"type": "string"}, "Own": {"$ref": "#/$defs/Text"}}}


@pytest.mark.parametrize(
    ("reference", "fits"),
    [
        ("#/$defs/Number", [1]),
        ("other.json#/$defs/Text", ["a"]),
        ("other.json#/$defs/Own", ["a"]),
        ("other.json#/$defs/Nothing", []),
        ("nothing.json#/$defs/Text", []),
    ],
)
def test_references_lead_into_the_files(reference: str, fits: list[Any]) -> None:
    schema = {"$defs": {"Number": {"type": "number"}}, "$ref": reference}
    judge = compiled(schema, registry_of({"other.json": OTHER}))
    assert [value for value in (1, "a") if judge(value)] == fits


def test_nothing_is_fetched() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        url = f"http://127.0.0.1:{server.getsockname()[1]}/any.json"
        assert not compiled({"$ref": url})(1)
        with pytest.raises(BlockingIOError):  # nobody has connected
            server.accept()


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"pattern": "("}, "("),
        ({"type": "nothing"}, 1),
        ({"type": "string"}, "\ud800"),
        ({"$id": "::%%"}, 1),
    ],
)
def test_what_cannot_be_told_is_left_to_jsonschema(schema: dict[str, Any], value: object) -> None:
    assert not compiled(schema)(value)
    assert not compiled({"$ref": "other.json"}, registry_of({"other.json": schema}))(value)


PATTERNS = {
    r"^\d$": ["7", "\u0663"],
    r"^\w$": ["a", "\xe9"],
    r"\b\xe9": ["a \xe9", "a\xe9", "\xe9"],
    r"\Ba": ["ba", "\xe9a", " a"],
    r"^a$": ["a", "a\n", "b"],
    r"^(a+)+$": ["a" * 30_000, "a" * 30_000 + "!"],
}


def test_examples_are_judged_by_patterns_as_the_bindings_read_them() -> None:
    for pattern, values in PATTERNS.items():
        kind = {"type": "string", "pattern": pattern, "description": "A text."}
        document = Document(protocol(types={"Text": kind | {"examples": values}}))
        found = [place[-1] for place, _ in misfits(document, Documents({"toy": document}, {}))]
        reader = SchemaValidator(core_schema.str_schema(pattern=translated(pattern)))
        expected = [
            number for number, one in enumerate(values) if not reader.isinstance_python(one)
        ]
        assert found == expected, pattern


def test_documents_without_a_fault_do_not_load_jsonschema() -> None:
    code = (
        "import json, sys; from pathlib import Path\n"
        "from kinwire_codegen.lint import lint\n"
        "from kinwire_codegen.load.loading import load_documents\n"
        "from kinwire_codegen.lint.examples import misfits\n"
        "from kinwire_codegen.load.document import Document, Documents\n"
        "assert not lint(load_documents(Path(sys.argv[1])))\n"
        "toy = Document(json.loads(sys.argv[2]))\n"
        "assert not list(misfits(toy, Documents({'toy': toy}, {})))\n"
        "assert 'jsonschema_rs' in sys.modules, 'nothing was judged'\n"
        "assert 'jsonschema' not in sys.modules\n"
    )
    without_examples = json.dumps(protocol())
    subprocess.run([sys.executable, "-c", code, SCHEMA, without_examples], check=True)
