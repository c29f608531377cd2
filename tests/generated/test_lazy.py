"""Rows, tables and augments hold the places of their types until somebody asks for them."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import pytest

from kinwire_protocols import lazy, mcp
from kinwire_protocols.mcp.models.completion import CompleteRequestParams
from kinwire_protocols.mcpl.augments import TOOLS_CALL_PARAMS_SCOPE
from kinwire_protocols.mcpl.methods import PROTOCOL
from kinwire_protocols.mgp.tools import MGP_ACCESS_QUERY_TOOL
from kinwire_protocols.peer import Method
from tests.each import each

NOWHERE = "kinwire_protocols.nothing.Missing"


def row(**members: Any) -> Method[Any, Any]:
    """Return a row that nobody has used yet."""
    places: dict[str, Any] = {
        "params": lazy.Lazy("kinwire_protocols.mcp.models.CompleteRequestParams"),
        "result": None,
    }
    common: dict[str, Any] = {"protocol": "toy", "attribute": "a", "section": "1"}
    return Method(name="a", kind="request", sender="client", **common | places | members)


COPIES = [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))]


@each("copied", COPIES)
def test_a_copy_of_a_row_is_equal_and_has_its_types(copied: Any) -> None:
    for used in (False, True):
        one = row()
        if used:
            assert one.params is CompleteRequestParams
        other = copied(one)
        assert other == one
        assert hash(other) == hash(one)
        assert other.params is CompleteRequestParams


def test_a_row_with_another_name_keeps_its_types() -> None:
    one = dataclasses.replace(row(), name="b")
    assert (one.name, one.params, one.result) == ("b", CompleteRequestParams, None)


@each("held", [row(), MGP_ACCESS_QUERY_TOOL, TOOLS_CALL_PARAMS_SCOPE, PROTOCOL])
def test_another_attribute_is_an_attribute_error(held: Any) -> None:
    with pytest.raises(AttributeError, match="has no attribute 'parms'"):
        held.parms  # noqa: B018


def test_a_type_that_is_not_there_is_named_when_it_is_asked_for() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"kinwire_protocols\.nothing"):
        row(result=lazy.Lazy(NOWHERE)).result  # noqa: B018


def test_looking_for_a_name_among_types_loads_none() -> None:
    types = lazy.LazyTypes({"server": NOWHERE})
    assert "server" in types
    assert "client" not in types
    assert [*types] == ["server"]
    with pytest.raises(ModuleNotFoundError):
        types["server"]


def test_what_a_package_has_not_is_an_attribute_error_with_a_near_name() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Tol'") as caught:
        mcp.models.Tol  # type: ignore[attr-defined]  # noqa: B018
    assert (caught.value.name, caught.value.obj) == ("Tol", mcp.models)
