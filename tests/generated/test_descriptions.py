"""`help`, `inspect.signature`, `model_fields` and JSON Schema show fields with descriptions."""

from __future__ import annotations

import inspect
import pydoc
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from pydantic import Field

from kinwire_codegen.load.document import Document, Reference, members_of
from kinwire_codegen.load.loading import load_documents
from kinwire_codegen.load.notes import described
from kinwire_protocols import mcp
from kinwire_protocols.base import Message
from tests.codegen.documents import build_types
from tests.generated.interpreter import run
from tests.generated.messages import DOCUMENTS

LOADED = load_documents(None)


def models_of(document: Document) -> dict[str, type[Message]]:
    """Return the classes of a protocol, by the name of their definition."""
    module = import_module(f"kinwire_protocols.{document.module}.models")
    found = {name: getattr(module, name) for name in document.definitions}
    return {name: kind for name, kind in found.items() if isinstance(kind, type)}


def texts_of(document: Document, name: str) -> dict[str, str | None]:
    """Return what the document says of each field and its versions, by wire name."""
    members, _ = members_of(LOADED, Reference(document.name, name))
    return {wire: described(node) for wire, (_, node) in members.items()}


by_document = pytest.mark.parametrize("document", DOCUMENTS, ids=[one.name for one in DOCUMENTS])


@by_document
def test_a_field_has_the_description_of_the_document(document: Document) -> None:
    seen = 0
    for name, kind in models_of(document).items():
        found = {field.alias or key: field.description for key, field in kind.model_fields.items()}
        assert found == texts_of(document, name), name
        seen += len(found)
    assert seen > 5


@by_document
def test_a_signature_has_the_fields(document: Document) -> None:
    for name, kind in models_of(document).items():
        *fields, more = inspect.signature(kind).parameters.values()
        assert [one.name for one in fields] == list(kind.model_fields), name
        assert {one.kind for one in fields} <= {inspect.Parameter.KEYWORD_ONLY}
        required = [one.name for one in fields if one.default is inspect.Parameter.empty]
        needed = [key for key, field in kind.model_fields.items() if field.is_required()]
        assert required == needed, name
        assert more.kind is inspect.Parameter.VAR_KEYWORD


@by_document
def test_help_has_the_fields_and_what_they_are(document: Document) -> None:
    for name, kind in models_of(document).items():
        text = pydoc.plain(pydoc.render_doc(kind))
        shown = " ".join(text.replace(" |  ", " ").split())
        # Python 3.13 puts each parameter of a long signature on a line of its own.
        assert re.search(rf" {name}\( ?\*, ", shown) or not kind.model_fields, name
        assert " ".join(document.definitions[name]["description"].split()) in shown
        for key, field in kind.model_fields.items():
            assert f" {key}: {' '.join(str(field.description).split())} " in f"{shown} ", name


@by_document
def test_a_json_schema_describes_properties_where_they_are(document: Document) -> None:
    for name, kind in models_of(document).items():
        schema = kind.model_json_schema(by_alias=True)
        schema = schema["$defs"][name] if "$ref" in schema else schema
        found = {key: node["description"] for key, node in schema.get("properties", {}).items()}
        assert found == texts_of(document, name), name
        assert schema["description"] == document.definitions[name]["description"]


FIRST = """
import inspect, sys
from kinwire_protocols import mcp
from kinwire_protocols.base import from_wire, to_wire
print(inspect.signature(mcp.Root))
kind = mcp.CallToolResult
to_wire(from_wire(kind, {"content": []}))
print([name for name in sys.modules if name.endswith("descriptions")])
"""


def test_a_class_that_nobody_has_used_yet_has_its_signature() -> None:
    signature, _ = run("-c", FIRST).splitlines()
    assert signature == "(*, uri: str, name: str | None = None, **extra_data: Any) -> None"


def test_messages_are_read_and_written_without_descriptions() -> None:
    first = FIRST.replace("print(inspect.signature(mcp.Root))\n", "")
    assert run("-c", first) == "[]\n"


class Described(mcp.Root):
    """A root with more.

    Attributes:
        name: What this program calls it.
        size: How large it is.
    """

    size: int
    weight: float = Field(default=1.0, description="How heavy it is.")
    colour: str = "red"


def test_a_class_of_ones_own_has_the_fields_of_both() -> None:
    mcp.Root.model_rebuild()
    parameters = list(inspect.signature(Described).parameters)
    assert parameters == ["uri", "name", "size", "weight", "colour", "extra_data"]
    assert {key: field.description for key, field in Described.model_fields.items()} == {
        "uri": mcp.Root.model_fields["uri"].description,
        "name": "What this program calls it.",
        "size": "How large it is.",
        "weight": "How heavy it is.",
        "colour": None,
    }
    assert mcp.Root.model_fields["name"].description != "What this program calls it."


def test_what_cannot_be_built_yet_has_the_signature_of_its_init() -> None:
    name = "Unfinished"
    metaclass: Any = type(Message)
    made = metaclass(
        name,
        (Message,),
        {"__module__": __name__, "__qualname__": name, "__annotations__": {"later": "Nowhere"}},
    )
    assert str(inspect.signature(made)) == "(**data: 'Any') -> 'None'"


def test_an_instance_has_no_signature() -> None:
    with pytest.raises(TypeError):
        inspect.signature(mcp.Root(uri="file:///"))  # type: ignore[arg-type]


NASTY = [
    'It ends with a quote"',
    'Three """ quotes, \\ a backslash, \\n and {braces}.',
    "One paragraph.\n\nAnother one.\n    - indented\n\nfield: not a field",
    "Zoë\u2028said: \x0c ok",
    "Attributes:\n    other: no",
    "A class.\n\nAttributes:\n    other: no",
]


@pytest.mark.parametrize("text", NASTY)
def test_any_text_is_a_description(text: str, tmp_path: Path) -> None:
    node = {"type": "string", "description": text}
    thing = {"type": "object", "properties": {"first": node, "b-c": node}, "description": text}
    with build_types(tmp_path, Thing=thing) as models:
        found = {key: field.description for key, field in models.Thing.model_fields.items()}
        expected = " ".join(text.split())
        assert {key: " ".join(str(one).split()) for key, one in found.items()} == {
            "first": expected,
            "b_c": expected,
        }
        schema = models.Thing.model_json_schema()
        assert " ".join(schema["description"].split()) == expected
