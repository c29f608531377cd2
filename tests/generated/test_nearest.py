"""The name that a wrong one may stand for."""

from __future__ import annotations

import asyncio

import pytest

from kinwire_protocols.jsonrpc.errors import MethodNotFoundError
from kinwire_protocols.mcp import ServerHandlers
from kinwire_protocols.nearest import nearest
from tests.each import each


@each(
    ("name", "known", "found"),
    [
        ("tools/lst", ["ping", "tools/list"], "tools/list"),
        ("zzz", ["ping", "tools/list"], None),
        ("ping", [], None),
        ("ping", ["pings"] * 1000, "pings"),
        pytest.param("ping", ["pings"] * 1001, None, id="too many to look through"),
        pytest.param("p" * 101, ["p" * 100], None, id="no name that anybody types"),
    ],
)
def test_a_name_that_is_near_is_found(name: str, known: list[str], found: str | None) -> None:
    assert nearest(name, known) == found


def test_a_method_that_is_not_found_is_echoed_cut() -> None:
    with pytest.raises(MethodNotFoundError) as caught:
        asyncio.run(ServerHandlers().dispatch("x" * 1000))
    assert caught.value.message == f"Method not found: {'x' * 60}"
