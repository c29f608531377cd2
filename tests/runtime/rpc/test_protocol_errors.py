"""One code, several protocols: the class follows the protocol that is meant, never the number."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire.rpc.error_table import ErrorTable, error_from_json
from kinwire.rpc.errors import RpcError
from kinwire_protocols import mcpe, mcpl, mgp
from kinwire_protocols.base import error_to_wire
from kinwire_protocols.mcp.methods import PING, TOOLS_CALL
from kinwire_protocols.mcpl.methods import PUSH_EVENT

TABLES = (mcpl.PROTOCOL, mgp.PROTOCOL, mcpe.PROTOCOL)
PAIRS = [
    pytest.param(
        -32001, mcpl.FeatureSetNotEnabledError, mcpe.SubscriptionNotFoundError, id="-32001"
    ),
    pytest.param(-32003, mcpl.UnknownFeatureSetError, mcpe.DeviceNotFoundError),
]


def known(*active: Any) -> ErrorTable:
    table = ErrorTable(TABLES)
    for protocol in active:
        for method, errors in protocol.added_errors.items():
            table.add(method, errors)
    return table


@pytest.mark.parametrize(("code", "ours", "theirs"), PAIRS)
def test_two_protocols_meanings_of_a_code_stay_apart(
    code: int, ours: type[RpcError], theirs: type[RpcError]
) -> None:
    assert ours.default_code == theirs.default_code == code
    for kind in (ours, theirs):
        back = error_from_json(error_to_wire(kind()), TOOLS_CALL, known(*TABLES))
        assert type(back) is kind


@pytest.mark.parametrize(("code", "ours", "theirs"), PAIRS)
def test_a_bare_code_is_the_error_of_the_methods_own_row(
    code: int, ours: type[RpcError], theirs: type[RpcError]
) -> None:
    body = {"code": code, "message": "x"}
    assert type(error_from_json(body, PUSH_EVENT, known(*TABLES))) is ours


@pytest.mark.parametrize(("code", "ours", "theirs"), PAIRS)
def test_a_bare_code_of_a_failed_tool_is_the_error_of_its_row(
    code: int, ours: type[RpcError], theirs: type[RpcError]
) -> None:
    body = {"content": [], "structuredContent": {"code": code, "message": "x"}, "isError": True}
    with pytest.raises(RpcError) as caught:
        mcpe.tools.EVENTS_PAUSE.decode_result(body)
    claimed = theirs in mcpe.tools.EVENTS_PAUSE.errors
    assert (type(caught.value) is theirs) is claimed
    assert not isinstance(caught.value, ours)


def test_a_code_that_an_active_protocol_adds_to_a_method_is_known_there() -> None:
    body = {"code": -32005, "message": "x"}
    found = error_from_json(body, TOOLS_CALL, known(mcpl.PROTOCOL))
    assert type(found) is mcpl.CheckpointNotFoundError
    assert type(error_from_json(body, TOOLS_CALL, known())) is RpcError
    assert type(error_from_json(body, PING, known(mcpl.PROTOCOL))) is RpcError


def test_a_code_of_two_active_protocols_stays_plain_and_names_both() -> None:
    table = known(mcpl.PROTOCOL)
    table.add(None, [mcpe.SubscriptionNotFoundError])  # as an augment of every message does
    found = error_from_json({"code": -32001, "message": "x"}, TOOLS_CALL, table)
    assert type(found) is RpcError
    names = "mcpl FeatureSetNotEnabled, mcpe SubscriptionNotFound"
    assert found.__notes__ == [f"Code -32001 could be any of: {names}."]
    elsewhere = error_from_json({"code": -32001, "message": "x"}, PING, table)
    assert type(elsewhere) is mcpe.SubscriptionNotFoundError
