"""Which tools an agent gets that asks for capabilities."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire.mgp.rules.server_policy import ServerPolicy
from kinwire.mgp.rules.tool_index.definitions import LARGEST_DEFINITION, kept_of
from kinwire.mgp.rules.tool_index.entry import Hit, IndexedTool
from kinwire.mgp.rules.tool_index.labels import indexed_tool
from kinwire.mgp.rules.tool_needs import (
    ToolNeeds,
    chosen,
    ranked,
)
from kinwire.mgp.rules.tools import KnownTool, known_tool
from kinwire_protocols.base import from_wire
from kinwire_protocols.mgp.models import ToolsRequestParams
from tests.runtime.mgp.raw_peers import Json, tool


def known(definition: Json) -> KnownTool:
    found = known_tool(definition, ServerPolicy(), "standard")
    assert found is not None
    return found


def indexed(name: str, description: str = "", *parameters: str, **more: Any) -> IndexedTool:
    definition = {**tool(name, *parameters, **more), "description": description}
    return indexed_tool("s", definition, known(definition))


def needs(*capabilities: str, context: str = "", **more: Any) -> ToolNeeds:
    params: Json = {"requirements": {"capabilities": list(capabilities), **more}}
    return ToolNeeds.of(from_wire(ToolsRequestParams, {**params, "context": context}))


def order(wanted: ToolNeeds, *tools: IndexedTool, score: float = 0.5) -> list[str]:
    hits = [Hit(one, score) for one in tools]
    found = dict.fromkeys(wanted.capabilities, hits)
    return [one.tool.name for one in ranked(wanted, found, () if found else hits)]


def test_a_tool_has_a_capability_with_more_than_half_of_its_words() -> None:
    csv = indexed("analyze_csv", "Compute statistics on CSV data", "path")
    for capability, expected in (
        ("data_analysis", True),
        ("statistics", True),
        ("csv", True),
        ("data_storage", False),
        ("video", False),
        ("path", True),
        ("calculate statistics", True),  # a word of a like meaning
        ("work with the csv", False),
    ):
        found = ranked(needs(capability), {capability: [Hit(csv, 0.5)]}, ())
        assert bool(found) is expected, capability


def test_each_requirement_changes_the_order() -> None:
    text = indexed("a_text", "Plot from xml", "document")
    csv = indexed("b_csv", "Plot from csv", "document")
    chart = indexed("c_chart", "Plot", outputSchema={"properties": {"chart": {"type": "string"}}})
    safe = indexed("d_get_plot", "Plot")
    assert (text.risk, safe.risk) == ("moderate", "safe")
    tools = text, csv, chart, safe
    first = order(needs("plot"), *tools)[0]
    assert first == "a_text"  # in the order of names
    assert order(needs("plot", input_types=["csv"]), *tools)[0] == "b_csv"
    assert order(needs("plot", output_types=["chart"]), *tools)[0] == "c_chart"
    assert order(needs("plot", preferred_risk_level="safe"), *tools)[0] == "d_get_plot"
    assert order(needs("plot", preferred_risk_level="unknown"), *tools)[0] == "a_text"
    assert order(needs("csv", "plot"), *tools)[0] == "b_csv"
    assert order(needs("video"), *tools) == []
    assert order(needs(context="anything"), *tools) == ["a_text", "b_csv", "c_chart", "d_get_plot"]
    hits = [Hit(one, 0.5) for one in tools]
    by_task = ranked(needs("plot", context="task"), {"plot": hits}, [Hit(chart, 1.0)])
    assert by_task[0].tool is chart


def test_each_capability_gets_a_tool_before_a_second_choice_is_loaded() -> None:
    tools = [indexed(f"read_{number}", "read") for number in range(8)]
    mail = indexed("send_mail", "mail")
    wanted = needs("read", "mail")
    found = {"read": [Hit(one, 0.9) for one in tools], "mail": [Hit(mail, 0.1)]}
    rows = ranked(wanted, found, ())
    names = [one.tool.name for one in chosen(rows, wanted.capabilities, most=3)]
    assert names == ["read_0", "read_1", "send_mail"]
    assert len(chosen(rows, wanted.capabilities, most=1)) == 2  # what is needed comes anyway
    weak = [Hit(tools[0], 0.9), Hit(tools[1], 0.1)]
    rows = ranked(needs("read"), {"read": weak}, ())
    assert [one.tool.name for one in chosen(rows, ("read",), most=5)] == ["read_0"]
    assert chosen([], ("read",), most=5) == []


def test_what_cannot_be_asked_for() -> None:
    for capabilities, problem in (
        (["a"] * 3 + [f"b{number}" for number in range(20)], "at most 20"),
        (["read", "--"], "/requirements/capabilities/1"),
    ):
        with pytest.raises(ValueError, match=problem):
            needs(*capabilities)
    assert needs("a", "a").capabilities == ("a",)
    assert needs(context=" x ", input_types=["csv"]).text == "x  csv"


def test_an_index_keeps_definitions_of_a_limited_size() -> None:
    short = known(tool("a"))
    assert kept_of(short) is short
    long = known({**tool("a"), "description": "é" * 5000})
    kept = kept_of(long)
    assert kept is not None
    assert len(kept.description) == 4096
    assert kept.definition["description"] == kept.description
    assert kept.digest == long.digest
    assert kept_of(known({**tool("a"), "x": "y" * LARGEST_DEFINITION})) is None
