"""How much work one round trip is, counted in calls of the interpreter: no noise in that."""

from __future__ import annotations

import asyncio
import sys
from types import FrameType
from typing import Any

import pytest

from kinwire.request import Request
from kinwire.session import Session
from kinwire.transports.memory import memory_pair
from kinwire_protocols import mcp
from kinwire_protocols.mcp import methods
from tests.runtime.sessions import tool, tool_text

pytest.importorskip("orjson")

ROUNDS = 100
CEILING = 190


async def echo(params: mcp.CallToolRequestParams, request: Request) -> mcp.CallToolResult:
    return tool_text(str((params.arguments or {})["text"]))


async def calls_a_round_trip() -> float:
    counted = 0

    def count(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal counted
        counted += event in ("call", "c_call")

    first, second = memory_pair()
    async with Session(first, routes={}) as calling, Session(second, routes=tool(echo)):

        async def round_trips(number: int) -> None:
            params = mcp.CallToolRequestParams(name="echo", arguments={"text": "x" * 100})
            for _ in range(number):
                await calling.call(methods.TOOLS_CALL, params)

        await round_trips(10)
        sys.setprofile(count)
        try:
            await round_trips(ROUNDS)
        finally:
            sys.setprofile(None)
    return counted / ROUNDS


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="other versions count otherwise")
def test_a_round_trip_in_memory_stays_below_its_ceiling() -> None:
    assert asyncio.run(calls_a_round_trip()) <= CEILING
