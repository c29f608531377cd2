"""The TypeScript interfaces of the specifications are the definitions that they became."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire_codegen.load.document import Documents, Reference, members_of, resolve
from kinwire_codegen.load.loading import load_documents
from tests.spec.fenced import blocks_of, rows_of
from tests.spec.interfaces import Interface, Member, differences, interface_in
from tests.spec.texts import text_of

PROTOCOL = "mcpe"  # the others show no interfaces
ROWS = [row for row in rows_of(PROTOCOL) if row["is"] == "definition"]


@pytest.fixture(scope="module")
def documents() -> Documents:
    return load_documents(None)


@pytest.fixture(scope="module")
def interfaces() -> dict[int, Interface]:
    """Every interface of the text by the number of its block."""
    found = blocks_of(text_of(PROTOCOL))
    return {one.number: interface_in(one.text) for one in found if one.language == "typescript"}


def check(documents: Documents, reference: Reference, interface: Interface) -> set[str]:
    """Check the members of an interface and its parts; return the further ones of the type."""
    members, required = members_of(documents, reference)
    for name, part in interface.parts.items():
        owner, node = members[name]
        assert (name not in required) == part.optional
        assert check(documents, resolve(node["$ref"], owner.protocol), part) == set()
    assert differences(documents, reference, interface.members) == []
    return members.keys() - interface.members.keys() - interface.parts.keys()


@pytest.mark.parametrize("row", ROWS, ids=[row["of"] for row in ROWS])
def test_a_type_has_the_members_of_its_interface(
    row: dict[str, Any], documents: Documents, interfaces: dict[int, Interface]
) -> None:
    interface = interfaces[row["block"]]
    assert interface.name == row["of"]
    beside = check(documents, Reference(PROTOCOL, row["of"]), interface)
    assert beside == set(row.get("adds", ()))


def test_every_interface_of_the_text_is_compared(interfaces: dict[int, Interface]) -> None:
    assert {row["block"] for row in ROWS} == set(interfaces)
    assert len(interfaces) == 11


def test_an_interface_is_read_with_its_parts_and_defaults() -> None:
    text = """
interface Thing {
  name: 'a' | 'b';
  parts?: {
    count: number; // Default: 7
  };
  more?: Record<string, Other[]>; // any
  others: Other[];
}
"""
    found = interface_in(text)
    assert (found.name, found.members) == (
        "Thing",
        {
            "name": Member(optional=False, kind="string"),
            "more": Member(optional=True, kind="object"),
            "others": Member(optional=False, kind="array"),
        },
    )
    expected = {"count": Member(optional=False, kind="number", default="7")}
    assert found.parts == {"parts": Interface("parts", True, expected)}


@pytest.mark.parametrize(
    ("name", "member"),
    [
        ("url", Member(optional=True, kind="string")),
        ("url", Member(optional=False, kind="number")),
        ("url", Member(optional=False, kind="string", default="x")),
        ("headers", Member(optional=False, kind="object")),
        ("address", Member(optional=False, kind="string")),
    ],
)
def test_a_member_that_is_otherwise_is_a_difference(
    name: str, member: Member, documents: Documents
) -> None:
    reference = Reference(PROTOCOL, "WebhookEventHandler")
    assert differences(documents, reference, {name: member}) == [name]


def test_a_line_that_is_not_of_an_interface_is_refused() -> None:
    with pytest.raises(ValueError, match="type A = B"):
        interface_in("type A = B\n")
