"""Arguments are checked by the schema of the server before a call leaves: error 4000."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from kinwire.mgp import MgpKernel, ServerPolicy
from kinwire_protocols.mgp.errors import InvalidToolArgsError
from tests.runtime.mgp.fixtures_kernel import audited, guarded, outcome
from tests.runtime.mgp.raw_peers import Json, RawServer, tool

pytestmark = pytest.mark.anyio

SCHEMA: Json = {
    "type": "object",
    "properties": {"id": {"type": "integer"}, "tags": {"items": {"pattern": "^(a+)+$"}}},
    "required": ["id"],
    "additionalProperties": False,
}


def served(schema: Any) -> RawServer:
    return RawServer({**tool("think"), "inputSchema": schema})


def kernel() -> MgpKernel:
    return MgpKernel(servers={"s": ServerPolicy(confirm=[])})


@pytest.mark.spec("mgp-14.3-14")
async def test_arguments_that_do_not_fit_never_reach_the_server() -> None:
    raw = served(SCHEMA)
    with audited() as events:
        async with guarded(raw, kernel()) as connection:
            with pytest.raises(InvalidToolArgsError) as caught:
                await connection.mcp.tools_call(name="think", arguments={"id": "5", "tgas": []})
            assert await outcome(connection.mcp.tools_call(name="think")) == 4000
            slow = {"id": 5, "tags": ["a" * 50_000 + "!"]}
            assert await outcome(connection.mcp.tools_call(name="think", arguments=slow)) == 4000
            await connection.mcp.tools_call(name="think", arguments={"id": 5, "tags": ["aa"]})
    assert caught.value.message == 'think: /arguments/id: expected integer, got "5" (and 1 more)'
    assert caught.value.data is not None
    assert caught.value.data["_mgp"]["details"]["problems"] == [
        {"pointer": "/arguments/id", "expected": "integer", "got": '"5"'},
        {
            "pointer": "/arguments/tgas",
            "expected": "no property of this name (did you mean 'tags'?)",
            "got": "an array",
        },
    ]
    assert [one["arguments"] for one in raw.calls] == [{"id": 5, "tags": ["aa"]}]
    blocked = events.of("TOOL_BLOCKED")
    assert [one["details"]["reason"] for one in blocked] == ["arguments"] * 3


async def test_a_schema_that_leads_elsewhere_refuses_calls_of_its_tool(
    caplog: pytest.LogCaptureFixture,
) -> None:
    raw = served({"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:1/x.json"}}})
    with caplog.at_level(logging.WARNING, "kinwire.mgp"):
        async with guarded(raw, kernel()) as connection:
            for _ in range(2):
                assert await outcome(connection.mcp.tools_call(name="think")) == 4000
    assert raw.calls == []
    said = [one.message for one in caplog.records if "Nothing is fetched" in one.message]
    assert len(said) == 1


async def test_keywords_that_cannot_be_checked_are_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    raw = served({"type": "object", "unevaluatedProperties": False, "pattern": 5})
    with caplog.at_level(logging.WARNING, "kinwire.mgp"):
        async with guarded(raw, kernel()) as connection:
            for _ in range(2):
                await connection.mcp.tools_call(name="think", arguments={"a": 1})
    said = [one.message for one in caplog.records if "inputSchema" in one.message]
    assert said == [
        "s: think: inputSchema#/unevaluatedProperties: it cannot be checked here",
        "s: think: inputSchema#/pattern: its argument is not valid",
    ]
    assert len(raw.calls) == 2
