"""Errors that travel: their classes, and what copies and pickles of them keep."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from kinwire_protocols import jsonrpc, mcp, mcpl
from kinwire_protocols.base import RpcError, error_to_wire
from kinwire_protocols.peer import Method
from tests.each import each

ERRORS = [*jsonrpc.PROTOCOL.errors.values(), *mcp.PROTOCOL.errors.values()]


@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.__name__)
def test_an_error_says_what_its_document_says(kind: type[RpcError]) -> None:
    table = mcp.PROTOCOL if kind.protocol == "mcp" else jsonrpc.PROTOCOL
    error = kind()
    assert table.errors[str(kind.name)] is kind
    assert (error.code, error.message, error.data) == (
        kind.default_code,
        kind.default_message,
        None,
    )


@pytest.mark.parametrize("kind", [RpcError, *ERRORS], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize(
    "again",
    [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))],
    ids=["copy", "deepcopy", "pickle"],
)
def test_a_copy_keeps_everything(kind: type[RpcError], again: Any) -> None:
    error = kind("gone", data={"uri": "file:///a", "more": [None]}, code=-32050)
    error.add_note("seen at noon")
    copied = again(error)
    assert type(copied) is kind
    assert (copied.message, copied.code, copied.data) == ("gone", -32050, error.data)
    assert (str(copied), copied.__notes__) == (str(error), ["seen at noon"])


def test_an_error_is_said_with_its_name_and_code() -> None:
    assert str(mcp.ResourceNotFoundError("no a")) == "no a (ResourceNotFound -32002)"
    assert str(RpcError("odd", code=-1)) == "odd (error -1)"


@each("empty", ["", 0, [], {}, False])
def test_what_is_empty_is_not_replaced_by_a_default(empty: Any) -> None:
    error = mcp.ResourceNotFoundError("", data=empty, code=0)
    assert (error.message, error.data, error.code) == ("", empty, 0)


def test_a_message_as_data_is_what_it_is_on_the_wire() -> None:
    error = mcpl.FeatureSetNotEnabledError(data=mcpl.FeatureSetErrorData(feature_set="mail"))
    assert error.data == {"featureSet": "mail"}
    named = {"featureSet": "mail", "protocol": "mcpl", "name": "FeatureSetNotEnabled"}
    assert error_to_wire(error)["data"] == named


@each("data", ["gone", 0, [1], None])
def test_only_data_that_is_an_object_or_absent_gets_the_name_of_the_error(data: Any) -> None:
    named = {"protocol": "mcp", "name": "ResourceNotFound"} if data is None else data
    assert error_to_wire(mcp.ResourceNotFoundError(data=data))["data"] == named
    assert error_to_wire(RpcError(data=data)).get("data") == data


@each(
    ("method", "code", "data", "kind"),
    [
        (mcpl.methods.PUSH_EVENT, -32001, None, mcpl.FeatureSetNotEnabledError),
        (mcpl.methods.PUSH_EVENT, -32001, {"featureSet": "mail"}, mcpl.FeatureSetNotEnabledError),
        (
            mcpl.methods.PUSH_EVENT,
            9,
            {"protocol": "mcpl", "name": "FeatureSetNotEnabled"},
            mcpl.FeatureSetNotEnabledError,
        ),
        (mcpl.methods.PUSH_EVENT, -32002, None, mcpl.CapabilityDeniedError),
        (mcp.methods.TOOLS_CALL, -32001, None, RpcError),
    ],
)
def test_a_row_decodes_its_own_errors_and_no_other(
    method: Method[Any, Any], code: int, data: Any, kind: type[RpcError]
) -> None:
    wire = {"code": code, "message": "why"} | ({} if data is None else {"data": data})
    error = method.decode_error(wire)
    assert (type(error), error.code, error.message, error.data) == (kind, code, "why", data)
