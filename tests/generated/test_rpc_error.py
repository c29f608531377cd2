"""Errors that travel: their classes, and what copies and pickles of them keep."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from kinwire_protocols import jsonrpc, mcp
from kinwire_protocols.base import RpcError

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


@pytest.mark.parametrize("empty", ["", 0, [], {}, False])
def test_what_is_empty_is_not_replaced_by_a_default(empty: Any) -> None:
    error = mcp.ResourceNotFoundError("", data=empty, code=0)
    assert (error.message, error.data, error.code) == ("", empty, 0)
