"""Methods with any result and any params: none, by position, unions, lists, maps (raw JSON)."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pydantic import ValidationError

from kinwire_codegen.emit.signatures import TAKEN
from kinwire_codegen.lint import lint
from tests.codegen.documents import documents, load_package, protocol

Node = dict[str, Any]

pytestmark = pytest.mark.anyio


def row(**members: Any) -> Node:
    return {"kind": "request", "from": "client", "section": "1", "summary": "Do."} | members


def named(**types: Node) -> Node:
    return {name: {"description": "A type."} | node for name, node in types.items()}


BLOCK = {
    "type": "object",
    "properties": {"number": {"type": "integer"}, "hash": {"type": "string"}},
    "required": ["number"],
}
WORDS = (*sorted(TAKEN), "self_")
TYPES = named(
    Block=BLOCK,
    Balance={"type": ["string", "null"]},
    Height={"type": "integer", "minimum": 0},
    Nothing={"type": "null"},
    Blocks={"type": "array", "items": {"$ref": "#/$defs/Block"}},
    BlockMap={"type": "object", "additionalProperties": {"$ref": "#/$defs/Block"}},
    BlockOrHash={"anyOf": [{"$ref": "#/$defs/Block"}, {"type": "string"}]},
    BalanceParams={
        "type": "object",
        "properties": {
            "address": {"type": "string"},
            "block": {"$ref": "#/$defs/Height"},
            "list": {"type": "array", "items": {"type": "string"}, "default": ["a"]},
        },
        "required": ["address"],
    },
    Query={"anyOf": [{"$ref": "#/$defs/Block"}, {"$ref": "#/$defs/BalanceParams"}]},
    Other={"$ref": "#/$defs/BalanceParams"},
    Words={
        "type": "object",
        "properties": {name: {"type": "string", "default": "x"} for name in WORDS},
    },
)
METHODS = {
    "height": row(result="#/$defs/Height"),
    "balance": row(params="#/$defs/BalanceParams", paramsBy="position", result="#/$defs/Balance"),
    "balance_named": row(params="#/$defs/Other", result="#/$defs/Balance"),
    "blocks": row(params="#/$defs/Blocks", result="#/$defs/Blocks"),
    "map": row(params="#/$defs/BlockMap", result="#/$defs/BlockMap"),
    "query": row(params="#/$defs/Query", result="#/$defs/BlockOrHash"),
    "say": row(params="#/$defs/Words", result="#/$defs/Height"),
    "forget": row(params="#/$defs/Block", result="#/$defs/Nothing"),
    "tick": row(kind="notification"),
}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    folder = tmp_path_factory.mktemp("forms")
    (folder / "schema").mkdir()
    found = documents(folder / "schema", protocol(types=TYPES, methods=METHODS))
    with load_package(found, folder / "out", "forms_bindings") as package:
        yield importlib.import_module(f"{package.__name__}.toy")


async def test_arguments_may_have_the_names_that_stubs_use_themselves(toy: ModuleType) -> None:
    peer = RawPeer(1)
    given = {f"{name}_": name.upper() for name in WORDS} | {"self_": "SELF_", "self__": "SELF"}
    await toy.ServerStub(peer).say(**given)
    await toy.ServerStub(peer).say()
    assert peer.sent == [("say", {name: name.upper() for name in WORDS}), ("say", {})]


class RawPeer:
    """The other end as raw JSON: what goes out, and one answer."""

    def __init__(self, result: Any) -> None:
        self.sent: list[Any] = []
        self.result = result

    async def call(self, method: Any, params: Any, /) -> Any:
        self.sent.append((method.name, method.params_to_wire(params)))
        return method.decode_result(self.result)

    async def notify(self, method: Any, params: Any, /) -> None:
        self.sent.append((method.name, method.params_to_wire(params)))


async def test_a_stub_sends_the_form_that_the_document_says(toy: ModuleType) -> None:
    peer = RawPeer("0x1")
    stub = toy.ServerStub(peer)
    assert await stub.balance(address="0xa") == "0x1"
    assert await stub.balance(address="0xa", block=7) == "0x1"
    assert await stub.balance(address="0xa", block=7, list_=["b"]) == "0x1"
    assert await stub.balance_named(address="0xa") == "0x1"
    await stub.tick()
    assert peer.sent == [
        ("balance", ["0xa"]),
        ("balance", ["0xa", 7]),
        ("balance", ["0xa", 7, ["b"]]),
        ("balance_named", {"address": "0xa"}),  # a default is for the other end to apply
        ("tick", None),
    ]
    with pytest.raises(ValueError, match="'list' goes by position, and 'block' before it"):
        await stub.balance(address="0xa", list_=["b"])


async def test_a_stub_returns_the_value(toy: ModuleType) -> None:
    block = {"number": 1, "x-more": None}
    made = toy.Block(number=2)
    cases: list[tuple[str, Any, Any, Any, Any]] = [
        ("height", (), 5, 5, None),
        ("blocks", ([made],), [block], [block], [{"number": 2}]),
        ("map", ({"a": made},), {"b": block}, {"b": block}, {"a": {"number": 2}}),
        ("query", (made,), block, block, {"number": 2}),
        ("query", (toy.BalanceParams(address="a"),), "0x", "0x", {"address": "a"}),
    ]
    base = importlib.import_module(f"{toy.__name__.partition('.')[0]}.base")
    for name, arguments, raw, expected, sent in cases:
        peer = RawPeer(raw)
        found = await getattr(toy.ServerStub(peer), name)(*arguments)
        assert base.to_wire(found) == expected
        assert peer.sent == [(name, sent)]
    peer = RawPeer(None)
    assert await toy.ServerStub(peer).forget(number=1) is None
    with pytest.raises(ValidationError):
        await toy.ServerStub(RawPeer(-1)).height()
    with pytest.raises(ValidationError):
        await toy.ServerStub(RawPeer(None)).height()


async def test_a_handler_takes_and_returns_the_value(toy: ModuleType) -> None:
    class Chain(toy.ServerHandlers):  # type: ignore[misc, name-defined]
        async def height(self, params: Any) -> int:
            return 5

        async def balance(self, params: Any) -> str | None:
            return f"{params.address}@{params.block}"

        async def blocks(self, params: Any) -> Any:
            return [*params, toy.Block(number=3)]

        async def forget(self, params: Any) -> None:
            return None

    node = Chain()
    home = importlib.import_module(f"{toy.__name__.partition('.')[0]}.jsonrpc.errors")
    wrong_params = home.InvalidParamsError
    assert await node.dispatch("height") == 5
    assert await node.dispatch("height", []) == 5
    assert await node.dispatch("balance", ["a", 1]) == "a@1"
    assert await node.dispatch("blocks", [{"number": 1}]) == [{"number": 1}, {"number": 3}]
    assert await node.dispatch("forget", {"number": 1}) is None
    for wrong in (["a", -1], ["a", 1, [], 4], {"address": "a"}, [], "a", [1]):
        with pytest.raises(wrong_params):
            await node.dispatch("balance", wrong)


def test_lint_refuses_params_that_json_rpc_has_not(tmp_path: Path) -> None:
    bad = {
        "a": row(params="#/$defs/Height", result="#/$defs/Height"),
        "b": row(params="#/$defs/BlockOrHash", result="#/$defs/Height"),
        "c": row(paramsBy="position", result="#/$defs/Height"),
        "d": row(params="#/$defs/Blocks", paramsBy="position", result="#/$defs/Height"),
        "e": row(params="#/$defs/Late", paramsBy="position", result="#/$defs/Height"),
    }
    late = {"type": "object", "properties": {"a": {}, "b": {}}, "required": ["b"]}
    types = TYPES | named(Late=late)
    found = lint(documents(tmp_path, protocol(types=types, methods=bad)))
    assert [one.what for one in found if one.pointer.startswith("/methods")] == [
        "#/$defs/Height may be something else than an object or an array",
        "#/$defs/BlockOrHash may be something else than an object or an array",
        "there are no params",
        "params by position are not an object with properties",
        "'a' may be absent and stands before 'b', which may not",
    ]
