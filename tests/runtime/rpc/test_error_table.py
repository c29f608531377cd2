"""Which class an error of the peer becomes, and what one of ours looks like."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kinwire.rpc.error_table import ErrorTable, error_from_json
from kinwire.rpc.errors import RpcError
from kinwire_protocols import mcp
from kinwire_protocols.base import error_to_wire
from kinwire_protocols.jsonrpc.errors import InvalidParamsError, MethodNotFoundError
from kinwire_protocols.mcp import methods
from tests.each import each


class OtherNotFoundError(RpcError):
    """Another protocol's meaning of the same code."""

    protocol = "other"
    name = "SubscriptionNotFound"
    default_code = -32002


BOTH = replace(methods.RESOURCES_READ, errors=(mcp.ResourceNotFoundError, OtherNotFoundError))
KNOWN = ErrorTable([methods.PROTOCOL])
NOT_FOUND = {"protocol": "mcp", "name": "ResourceNotFound"}


@each(
    ("code", "data", "method", "kind"),
    [
        pytest.param(1, NOT_FOUND, None, mcp.ResourceNotFoundError, id="named, raw call"),
        pytest.param(
            -32002,
            {"protocol": "other", "name": "SubscriptionNotFound"},
            BOTH,
            OtherNotFoundError,
            id="named, of the row",
        ),
        pytest.param(
            -32002, None, methods.RESOURCES_READ, mcp.ResourceNotFoundError, id="code of the row"
        ),
        pytest.param(-32002, None, BOTH, RpcError, id="two of the row"),
        pytest.param(-32002, None, methods.PING, RpcError, id="not of the row"),
        pytest.param(-32002, None, None, RpcError, id="raw call"),
        pytest.param(-32602, None, None, InvalidParamsError, id="a code of JSON-RPC"),
        pytest.param(-32601, None, methods.PING, MethodNotFoundError, id="that, not of the row"),
        pytest.param(
            -32002,
            {"protocol": "mcpx", "name": "ResourceNotFound"},
            methods.RESOURCES_READ,
            mcp.ResourceNotFoundError,
            id="an unknown name, and the code of the row",
        ),
        pytest.param(
            -32002,
            {"protocol": ["mcp"], "name": {}},
            methods.PING,
            RpcError,
            id="a name of no text",
        ),
        pytest.param(-32002, [1], methods.PING, RpcError, id="data that is not an object"),
    ],
)
def test_the_name_decides_then_the_row_then_the_reserved_codes(
    code: int, data: Any, method: Any, kind: type[RpcError]
) -> None:
    error = error_from_json({"code": code, "message": "m", "data": data}, method, KNOWN)
    assert type(error) is kind
    assert (error.code, error.message, error.data) == (code, "m", data)


def test_an_undecided_error_lists_what_it_could_be() -> None:
    error = error_from_json({"code": -32002, "message": "m"}, BOTH, KNOWN)
    assert error.__notes__ == [
        "Code -32002 could be any of: mcp ResourceNotFound, other SubscriptionNotFound."
    ]


@each(
    "error",
    [
        mcp.ResourceNotFoundError("gone", data={"uri": "x"}),
        mcp.ResourceNotFoundError("gone"),
        InvalidParamsError("bad", data={"problems": []}, code=-32602),
        RpcError("own", data=[1], code=5),
    ],
)
def test_an_error_comes_back_as_what_it_was(error: RpcError) -> None:
    back = error_from_json(error_to_wire(error), None, KNOWN)
    assert (type(back), back.code, back.message) == (type(error), error.code, error.message)


class ThirdNotFoundError(OtherNotFoundError):
    """A third protocol's."""

    protocol = "third"
    name = "PromiseNotFound"


@each(
    ("method", "added", "kind", "candidates"),
    [
        pytest.param(methods.PING, [OtherNotFoundError], OtherNotFoundError, 0, id="one claims it"),
        pytest.param(
            methods.PING, [OtherNotFoundError] * 2, OtherNotFoundError, 0, id="one claims it twice"
        ),
        pytest.param(
            methods.PING, [OtherNotFoundError, ThirdNotFoundError], RpcError, 2, id="two claim it"
        ),
        pytest.param(
            methods.RESOURCES_READ,
            [OtherNotFoundError],
            mcp.ResourceNotFoundError,
            0,
            id="the row goes first",
        ),
        pytest.param(BOTH, [ThirdNotFoundError], RpcError, 3, id="nor is the row sure"),
        pytest.param(methods.PING, [], RpcError, 0, id="none claims it"),
        pytest.param(None, [OtherNotFoundError], RpcError, 0, id="raw call"),
    ],
)
def test_what_the_row_leaves_open_is_decided_by_what_extensions_add(
    method: Any, added: list[Any], kind: type[RpcError], candidates: int
) -> None:
    known = ErrorTable([methods.PROTOCOL])
    for name in ("ping", "resources/read"):
        known.add(name, added)
    error = error_from_json({"code": -32002, "message": "m"}, method, known)
    assert type(error) is kind
    notes = getattr(error, "__notes__", [])
    assert sum(note.count(",") + 1 for note in notes) == candidates


def test_an_added_error_is_known_by_its_name_though_no_table_has_it() -> None:
    known = ErrorTable([])
    known.add("ping", [OtherNotFoundError])
    data = {"protocol": "other", "name": "SubscriptionNotFound"}
    error = error_from_json({"code": 1, "message": "m", "data": data}, methods.PING, known)
    assert type(error) is OtherNotFoundError
