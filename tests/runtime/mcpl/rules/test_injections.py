"""Injections: one form, what may be used, and the order by position."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire.mcpl.rules.content import blocks_of, content_text
from kinwire.mcpl.rules.injections import (
    Injection,
    InjectionLimits,
    grouped,
    injection_problem,
)
from kinwire_protocols import mcp, mcpl
from tests.each import each

pytestmark = pytest.mark.spec("mcpl-13.4-1")


def injection(text: str = "x", position: Any = "system", name: str = "memory.a") -> Injection:
    return Injection("memory", name, "n", position, [mcp.TextContent(text=text)])


def test_plain_text_is_worth_one_block_of_it() -> None:
    assert blocks_of("Simple") == [mcp.TextContent(text="Simple")]
    blocks: list[mcpl.Block] = [mcp.TextContent(text="a"), mcpl.ResourceBlock(uri="m://1")]
    assert blocks_of(blocks) is blocks


def test_the_text_of_content_is_that_of_its_blocks() -> None:
    note = mcp.TextResourceContents(uri="m://2", text="c")
    blocks: list[mcpl.Block] = [
        mcp.TextContent(text="a"),
        mcpl.ImageBlock(data="aGk=", mime_type="image/png"),
        mcpl.ResourceBlock(uri="m://1"),
        mcp.TextContent(text="b"),
        mcpl.ResourceBlock(resource=note),
    ]
    assert content_text(blocks) == "a\nb\nc"
    assert content_text("Simple") == "Simple"
    with pytest.raises(TypeError, match=r"content\[0\]: expected a block, got a dictionary"):
        content_text([{"type": "text", "text": "a"}])  # type: ignore[list-item]


LIMITS = InjectionLimits(
    size=10,
    hook_size=15,
    positions={
        "memory.*": frozenset({"system", "afterUser"}),
        "memory.b": frozenset({"beforeUser"}),
        "m/own": frozenset({"system"}),
        "elsewhere/own": frozenset({"beforeUser"}),
    },
)
JUDGED = [
    pytest.param(injection("x" * 10), 0, None, id="just so large"),
    pytest.param(injection("x" * 11), 0, "more than 10", id="too large"),
    pytest.param(injection("x" * 10), 6, "the reply has more than 15", id="too much in a reply"),
    pytest.param(injection(position="afterUser"), 0, None, id="a place it may have"),
    pytest.param(injection(position="beforeUser"), 0, "may not inject at", id="another place"),
    pytest.param(injection(position="beforeUser", name="memory.b"), 0, None, id="two patterns"),
    pytest.param(injection(position="beforeUser", name="other"), 0, None, id="no pattern"),
    pytest.param(injection(position="beforeUser", name="own"), 0, "may not inject", id="a server"),
    pytest.param(Injection("m", "o", "n", "system", []), 0, "nothing of it", id="empty"),
]


@each(("one", "before", "fault"), JUDGED)
def test_what_may_be_used(one: Injection, before: int, fault: str | None) -> None:
    found = injection_problem(one, LIMITS, "m", before=before)
    assert found is None if fault is None else fault in str(found)


def test_what_has_one_position_keeps_its_order() -> None:
    positions = ["system", "afterUser", "system", "beforeUser"]
    listed = [injection(str(number), position) for number, position in enumerate(positions)]
    found = grouped(listed)
    assert found.system == [listed[0], listed[2]]
    assert found.after_user == [listed[1]]
    assert found.before_user == [listed[3]]


def test_a_place_with_an_invalid_pattern_is_refused() -> None:
    with pytest.raises(ValueError, match="expected a name"):
        InjectionLimits(positions={"mem*": frozenset({"system"})})
