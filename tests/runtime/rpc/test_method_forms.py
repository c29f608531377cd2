"""Methods with params by position, without params, and with results of any type, in a session."""

from __future__ import annotations

from typing import Any

import pytest
from typing_extensions import TypeAliasType

from kinwire.rpc.errors import RpcError, ShapeError
from kinwire.rpc.request import Request
from kinwire_protocols.base import Message
from kinwire_protocols.peer import Method, NoParams
from tests.runtime.rpc.fixtures_sessions import EVERY_DRIVER, connected, routes_of

pytestmark = EVERY_DRIVER


class Whose(Message):
    """The account, and the block at which it is looked at."""

    account: str
    block: int | None = None


Balance = TypeAliasType("Balance", str | None)
Numbers = TypeAliasType("Numbers", list[int])


def row(name: str, params: Any, result: Any, **more: Any) -> Method[Any, Any]:
    common: Any = {"protocol": "eth", "kind": "request", "sender": "client", "section": "1"}
    return Method(name=name, attribute=name, params=params, result=result, **common, **more)


BALANCE = row("balance", Whose, Balance, positions=("account", "block"))
NUMBERS = row("numbers", NoParams, Numbers)
DOUBLE = row("double", Numbers, Numbers)


async def balance(params: Whose, request: Request) -> str | None:
    return None if params.account == "nobody" else f"{params.account}@{params.block}"


async def numbers(params: NoParams, request: Request) -> list[int]:
    return [1, 2]


async def double(params: list[int], request: Request) -> list[int]:
    return [2 * one for one in params]


NODE = routes_of((BALANCE, balance), (NUMBERS, numbers), (DOUBLE, double))


async def test_a_session_sends_and_takes_every_form() -> None:
    async with connected(NODE) as peers:
        call = peers.client.call
        assert await call(BALANCE, Whose(account="a", block=7)) == "a@7"
        assert await call(BALANCE, Whose(account="nobody")) is None
        assert await call(NUMBERS, NoParams()) == [1, 2]
        assert await call(DOUBLE, [3]) == [6]
        sent = [message.get("params", "none") for end, message in peers.frames if end == 0]
        assert sent == [["a", 7], ["nobody"], "none", [3]]
        results = [message["result"] for end, message in peers.frames if end == 1]
        assert results == ["a@7", None, [1, 2], [6]]
        with pytest.raises(ValueError, match="balance: params by position take no meta"):
            await call(BALANCE, Whose(account="a"), meta={"trace": "1"})


async def test_other_forms_are_refused() -> None:
    async with connected(NODE) as peers:
        for params in ({"account": "a"}, {}):
            with pytest.raises(RpcError) as caught:
                await peers.client.raw("balance", params)
            assert caught.value.code == -32602
        assert await peers.client.raw("numbers", {"extra": 1}) == [1, 2]


async def test_a_result_of_another_type_is_an_error() -> None:
    async def wrong(params: Any, request: Request) -> Any:
        return ["x"]

    async with connected(routes_of((NUMBERS, wrong))) as peers:
        with pytest.raises(ShapeError, match="numbers#/0: expected a valid integer"):
            await peers.client.call(NUMBERS, NoParams())
