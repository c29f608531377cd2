"""What stops programs that use the bindings, whatever goes over the wire."""

from __future__ import annotations

from importlib import import_module
from inspect import iscoroutinefunction
from typing import Any

import pytest

from kinwire_codegen.compare import compare
from kinwire_codegen.compare.change import DocumentChange
from kinwire_codegen.compare.python_names import (
    attributes_of,
    constants_of,
    names_of_augments,
    names_of_rows,
)
from kinwire_codegen.compare.sides import Side
from kinwire_codegen.compare.verdict import Category, Level
from kinwire_codegen.load.document import Document, Documents, Reference
from kinwire_codegen.load.loading import load_documents
from tests.codegen.compare.documents import (
    Node,
    against,
    at,
    changing,
    edited,
    golden,
    loaded,
    toy,
)
from tests.each import each


def of_bindings(old: Node, new: Node) -> list[DocumentChange]:
    return against(old, new).of(Category.BINDINGS)


def test_a_class_that_is_gone_stops_programs_though_nothing_sends_it() -> None:
    old = edited(toy(), changing("$defs", "Spare", {"description": "A.", "type": "string"}))
    (change,) = of_bindings(old, toy())
    assert (change.rule.name, change.what) == ("class-removed", "Spare is gone")
    assert (change.level, list(map(str, change.breaks))) == (Level.BREAKING, ["old programs"])


@pytest.mark.parametrize("row", ["params", "result"])
def test_another_class_of_the_same_shape_is_another_type_to_programs(row: str) -> None:
    def twin(content: Node) -> None:
        content["$defs"]["Twin"] = content["$defs"]["AskParams"]

    old = edited(toy(), twin)
    new = edited(old, changing("methods/ask", row, "#/$defs/Twin"))
    found = {change.rule.name: change.what for change in of_bindings(old, new)}
    was = {"params": "AskParams", "result": "AskResult"}[row]
    assert found == {"annotation-changed": f"ask {row}: Twin in Python, and was {was}"}


def test_another_class_of_a_member_is_another_type_to_programs() -> None:
    def twin(content: Node) -> None:
        content["$defs"]["Twin"] = content["$defs"]["Part"]

    old = edited(toy(), twin)
    path = "$defs/AskParams/properties"
    new = edited(old, changing(path, "c", {"$ref": "#/$defs/Twin"}))
    (change,) = of_bindings(old, new)
    assert change.what == "AskParams.c is Twin in Python, and was Part"
    assert against(old, new).of(Category.WIRE) == []


def test_a_constant_of_the_tables_that_is_gone_stops_programs() -> None:
    old = golden()["tiny"].content

    def edit(content: Node) -> None:
        content["limits"].pop(next(iter(content["limits"])))

    (change,) = of_bindings(old, edited(old, edit))
    assert (change.rule.name, change.level) == ("constant-removed", Level.BREAKING)


def test_a_tool_that_meets_a_method_of_its_name_is_called_otherwise() -> None:
    old = golden()["tiny"].content

    def edit(content: Node) -> None:
        content["methods"]["dust"] = at(content, "methods/books~find")

    (change,) = of_bindings(old, edited(old, edit))
    assert change.what == "dust was dust in Python and is dust_tool"


def test_a_removed_anchor_is_reported_to_readers() -> None:
    new = edited(toy(), changing("$defs/AskParams/properties", "b", None))
    found = [one for one in against(toy(), new).of(Category.DOCS)]
    assert [(one.rule.name, one.what) for one in found] == [
        (
            "anchor-removed",
            "the anchor of AskParams.b is gone: toy/methods/ask.md#params.b",
        )
    ]


def told(old: Node, new: Node) -> list[tuple[str, str]]:
    return [(one.rule.name, one.what) for one in of_bindings(old, new) if one.level]


def edits(content: Node, *edits: Any) -> Node:
    for edit in edits:
        content = edited(content, edit)
    return content


OF_ROWS = [
    pytest.param(
        changing("methods", "notified", None),
        [
            ("class-removed", "NotifiedParams is gone"),
            (
                "name-removed",
                "ClientStub.notified, ClientHandlers.notified and methods.NOTIFIED are gone",
            ),
        ],
        changing("$defs", "NotifiedParams", None),
        id="a method is gone",
    ),
    pytest.param(
        lambda content: content["methods"].update(asks=content["methods"].pop("ask")),
        [("name-changed", "ask was ask in Python and is asks")],
        None,
        id="it has another name",
    ),
    pytest.param(
        lambda content: content["methods"].update(
            enquire=content["methods"].pop("ask") | {"aliases": ["ask"]}
        ),
        [("name-changed", "ask was ask in Python and is enquire")],
        None,
        id="its old name is an alias",
    ),
    pytest.param(
        changing("methods/ask", "status", "considered"),
        [("name-removed", "ServerStub.ask and ServerHandlers.ask are gone")],
        None,
        id="it is only considered",
    ),
    pytest.param(
        changing("methods/ask", "from", "server"),
        [("name-removed", "ServerStub.ask and ServerHandlers.ask are gone")],
        None,
        id="the other end sends it",
    ),
    pytest.param(changing("methods/ask", "from", "both"), [], None, id="both ends send it"),
    pytest.param(changing("methods/ask", "kind", "either"), [], None, id="it may be notified"),
    pytest.param(changing("methods/ask", "aliases", ["beg"]), [], None, id="it has an alias"),
]


@each(("edit", "expected", "more"), OF_ROWS)
def test_a_stub_a_handler_and_a_row_that_are_gone_stop_programs(
    edit: Any, expected: list[tuple[str, str]], more: Any
) -> None:
    new = edits(toy(), edit, *([more] if more else []))
    assert told(toy(), new) == expected


def test_a_method_that_can_no_longer_be_notified_loses_the_stub_for_it() -> None:
    old = edited(toy(), changing("methods/ask", "kind", "either"))
    assert told(old, toy()) == [("name-removed", "ServerStub.notify_ask is gone")]


def test_two_methods_that_swap_their_names_are_two_changes_of_the_wire_alone() -> None:
    def swap(content: Node) -> None:
        rows = content["methods"]
        rows["ask"], rows["notified"] = rows["notified"], rows["ask"]

    names = {what for rule, what in told(toy(), edited(toy(), swap)) if rule == "name-removed"}
    assert names == {
        "ServerStub.ask and ServerHandlers.ask are gone",
        "ClientStub.notified and ClientHandlers.notified are gone",
    }


def member(name: str, value: Any) -> Any:
    return changing("$defs/AskParams/properties", name, value)


def renaming(old: str, new: str) -> Any:
    def edit(content: Node) -> None:
        members = content["$defs"]["AskParams"]["properties"]
        content["$defs"]["AskParams"]["properties"] = {
            new if name == old else name: node for name, node in members.items()
        }

    return edit


FILE = edited(toy(), renaming("b", "fileName"))
TEXT = {"type": "string"}
OF_FIELDS = [
    pytest.param(FILE, member("fileName", None), ["AskParams.file_name is gone"], id="gone"),
    pytest.param(
        FILE,
        renaming("fileName", "file"),
        ["AskParams.file_name is AskParams.file now"],
        id="renamed",
    ),
    pytest.param(FILE, renaming("fileName", "ttl"), ["AskParams.file_name is gone"], id="replaced"),
    pytest.param(FILE, renaming("fileName", "file_name"), [], id="renamed on the wire alone"),
    pytest.param(
        edited(FILE, member("file_name", {"type": "boolean"})),
        member("fileName", None),
        ["AskParams.file_name_1 is AskParams.file_name now"],
        id="the number goes with the other of two like names",
    ),
    pytest.param(FILE, member("more", TEXT), [], id="a new one"),
    pytest.param(
        FILE,
        lambda content: content["$defs"]["AskParams"].pop("properties"),
        ["AskParams.a is gone", "AskParams.c is gone", "AskParams.file_name is gone"],
        id="no class any more",
    ),
]


@each(("old", "edit", "expected"), OF_FIELDS)
def test_a_field_that_is_gone_stops_programs(old: Node, edit: Any, expected: list[str]) -> None:
    found = [what for rule, what in told(old, edited(old, edit)) if rule.startswith("field-")]
    assert sorted(found) == expected


def derived(content: Node) -> None:
    content["$defs"]["More"] = {
        "description": "More.",
        "allOf": [{"$ref": "#/$defs/AskParams"}, {"properties": {"d": TEXT}}],
    }
    content["methods"]["ask"]["params"] = "#/$defs/More"


def test_a_field_of_a_base_is_reported_where_it_stands() -> None:
    old = edited(toy(), derived)
    assert told(old, edited(old, member("b", None))) == [("field-removed", "AskParams.b is gone")]


def test_what_a_type_no_longer_extends_is_gone_from_it() -> None:
    old = edited(toy(), derived)
    new = edited(old, changing("$defs/More", "allOf", [{"properties": {"d": TEXT}}]))
    whats = [what for rule, what in told(old, new) if rule == "field-removed"]
    assert whats == ["More.a is gone", "More.b is gone", "More.c is gone"]


def test_fields_of_a_renamed_class_are_compared_with_those_it_had() -> None:
    def rename(content: Node) -> None:
        content["$defs"]["Asked"] = content["$defs"].pop("AskParams")
        del content["$defs"]["Asked"]["properties"]["b"]
        content["methods"]["ask"]["params"] = "#/$defs/Asked"

    assert set(told(toy(), edited(toy(), rename))) == {
        ("class-renamed", "AskParams is Asked now"),
        ("field-removed", "AskParams.b is gone"),
    }


def test_a_tool_that_is_gone_stops_programs() -> None:
    old = golden()["tiny"].content
    name = next(iter(old["tools"]))
    attribute = name.replace("/", "_")
    new = edited(old, changing("tools", name, None))
    whats = [what for rule, what in told(old, new) if rule == "name-removed"]
    upper = attribute.upper()
    assert len(whats) == 1
    assert f"ServerStub.{attribute}" in whats[0] or f"ServerStub.{attribute}_tool" in whats[0]
    assert upper in whats[0]


def test_an_augment_that_is_gone_stops_programs() -> None:
    both = compare(golden(), without_augments())
    whats = {one.what for one in both.changes if one.rule.name == "name-removed"}
    assert all(what.startswith("augments.") and what.endswith(" is gone") for what in whats)
    assert len(whats) == len(golden()["tiny"].augments)


def without_augments() -> Documents:
    contents = [document.content for document in golden()]
    return loaded(*({**content, "augments": []} for content in contents))


def test_an_error_whose_code_stands_for_another_is_gone() -> None:
    crowd = {"Crowd": {"code": 1, "message": "Crowd", "description": "Too many."}}
    new = edited(toy(), changing("", "errors", crowd))
    assert told(toy(), new) == [("class-removed", "FullError is gone")]


def test_the_module_of_a_protocol_that_is_gone_stops_programs() -> None:
    changes = compare(loaded(toy()), loaded()).of(Category.BINDINGS)
    assert [(one.rule.name, one.what) for one in changes] == [
        ("name-removed", "the module toy is gone")
    ]


def test_a_constant_that_moves_to_another_table_is_still_there() -> None:
    old = golden()["tiny"].content

    def move(content: Node) -> None:
        name, limit = next(iter(content["limits"].items()))
        del content["limits"][name]
        content["machines"][name] = limit

    assert "constant-removed" not in {rule for rule, _ in told(old, edited(old, move))}
    assert ("constant-removed", "tables.HTTP is gone") in told(
        old, edited(old, changing("", "http", None))
    )


@pytest.mark.parametrize("document", list(load_documents(None)), ids=lambda one: one.name)
def test_the_names_are_those_of_the_generated_package(document: Document) -> None:
    home = f"kinwire_protocols.{document.module}"
    package = import_module(home)
    methods = import_module(f"{home}.methods")
    rows = names_of_rows(document)
    for names in (one for _, found in rows.values() for one in found):
        module, name = names.split(".")
        holder = getattr(package, module) if module[0].isupper() else _module(home, module)
        assert hasattr(holder, name), names
    listed = {name for _, found in rows.values() for name in found}
    for end in ("Server", "Client"):
        stub = getattr(package, f"{end}Stub", None)
        assert {f"{end}Stub.{name}" for name in _functions(stub)} <= listed
    assert {row.attribute for row in methods.PROTOCOL.methods.values()} == {
        attribute for (table, _), (attribute, _) in rows.items() if table == "methods"
    }


def _module(home: str, name: str) -> Any:
    return import_module(f"{home}.{name}")


def _functions(kind: Any) -> list[str]:
    return [name for name, value in vars(kind or object).items() if iscoroutinefunction(value)]


@pytest.mark.parametrize("document", list(load_documents(None)), ids=lambda one: one.name)
def test_other_names_are_those_of_the_generated_package(document: Document) -> None:
    side = Side(load_documents(None))
    home = f"kinwire_protocols.{document.module}"
    for name in (*names_of_augments(document, side).values(), *constants_of(document)):
        module, constant = name.split(".")
        assert hasattr(_module(home, module), constant), name
    for name in document.definitions:
        kind: Any = getattr(_module(home, "models"), name)
        typed = side.definition(Reference(document.name, name))
        if isinstance(kind, type) and typed is not None:
            fields: Any = kind
            assert list(attributes_of(side, typed)) == list(fields.model_fields), name
