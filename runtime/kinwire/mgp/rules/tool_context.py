"""What a model is shown of the tools of all servers, at each context level (MGP 0.2.0, 16.3).

- L0: all tools, as plain MCP has it
- L1: meta-tools that name the categories of tools there are
- L2: meta-tools alone; what a search finds is in its result
- L3: meta-tools, pinned tools, and the tools of the session's cache

A model calls what it found with the meta-tool `mgp_tools_call`, or under the name of the tool: many
clients do not read `tools/list` again while a model works.
"""

from __future__ import annotations

__all__ = (
    "CALL_TOOL",
    "LEVELS",
    "META_TOOLS",
    "ContextLevelName",
    "category_counts",
    "context_tools",
    "renamed",
)

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

from kinwire.mgp.rules.tool_index.categories import paths_of
from kinwire.mgp.rules.tool_index.entry import IndexedTool
from kinwire.mgp.rules.tool_names import public_name
from kinwire_protocols.base import JsonObject

ContextLevelName = Literal["L0", "L1", "L2", "L3"]
"""A row of the table `CONTEXT_LEVELS`: what of all tools is in the context of a model."""
LEVELS: Final[tuple[ContextLevelName, ...]] = ("L0", "L1", "L2", "L3")

CALL_TOOL: Final = "mgp_tools_call"
"""The meta-tool that calls another one by its name; MGP has no such tool."""
_MOST_SHOWN: Final = 16_000  # bytes of categories, about 4,600 tokens: L1 has about 5,000
_STEP: Final = r"(?=[\w-]{1,24}(?:/|$))[^\W_]+(?:[_-][^\W_]+){0,2}"
_WORDS: Final = re.compile(f"{_STEP}(?:/{_STEP}){{0,2}}")
"""Paths of at most three steps of at most three words: none has room for a sentence."""

_TEXT: Final[JsonObject] = {"type": "string"}
_TEXTS: Final[JsonObject] = {"type": "array", "items": _TEXT}


def _tool(name: str, description: str, required: str, /, **properties: JsonObject) -> JsonObject:
    schema: JsonObject = {"type": "object", "properties": properties}
    if required:
        schema["required"] = [required]
    return {"name": name, "description": description, "inputSchema": schema}


def _fields(**properties: Any) -> JsonObject:
    return {"type": "object", "properties": properties}


_RISK: Final[JsonObject] = {"enum": ["safe", "moderate", "dangerous"]}
_DISCOVER: Final = _tool(
    "mgp_tools_discover",
    "Search all tools. Most are not in your list: search before you say that there is no tool. "
    f"Returns names and schemas; call a tool with {CALL_TOOL}.",
    "query",
    query={**_TEXT, "description": "What the tool must do, in a few words"},
    strategy={
        "enum": ["keyword", "semantic", "category"],
        "description": "category: the query names one",
    },
    max_results={"type": "integer"},
    filter=_fields(categories=_TEXTS, risk_level_max=_RISK),
)
META_TOOLS: Final[tuple[JsonObject, ...]] = (
    _DISCOVER,
    _tool(
        "mgp_tools_request",
        "Find and load tools for several needs of a task. Returns their schemas.",
        "requirements",
        context={**_TEXT, "description": "The task"},
        requirements=_fields(
            capabilities={**_TEXTS, "description": "Each says what a tool must do"},
            input_types=_TEXTS,
            output_types=_TEXTS,
            preferred_risk_level=_RISK,
        ),
        task_trace_id={**_TEXT, "description": "The same if you ask again"},
    ),
    _tool(
        CALL_TOOL,
        "Call a tool that was found, also if it is not in your list.",
        "name",
        name={**_TEXT, "description": "The name that the search returned"},
        arguments={**_fields(), "description": "As the inputSchema of that tool says"},
    ),
    _tool("mgp_tools_session", "List the loaded tools, and the tokens that they take.", ""),
    _tool(
        "mgp_tools_session_evict",
        "Unload tools that you no longer need.",
        "tools",
        tools=_TEXTS,
        reason=_TEXT,
    ),
)
"""The meta-tools, with definitions as short as a model can work with."""


def renamed(tool: IndexedTool, name: str | None = None) -> JsonObject:
    """Return the definition of a tool under a name for models, without what is of its server."""
    public = name or public_name(tool.server_id, tool.name)
    return {**tool.definition, "name": public}


def context_tools(
    level: ContextLevelName,
    *,
    every: Iterable[IndexedTool] = (),
    pinned: Iterable[IndexedTool] = (),
    cached: Iterable[IndexedTool] = (),
    categories: Mapping[str, int] | None = None,
) -> list[JsonObject]:
    """Return what `tools/list` has for a model at a level.

    `every` counts at L0 alone, `categories` with the number of tools in each at L1 alone, `pinned`
    and `cached` at L3 alone. All are what the agent may see.
    """
    if level == "L0":
        return [renamed(tool) for tool in every]
    if level == "L1":
        return [_with_categories(categories or {}), *META_TOOLS[1:]]
    if level == "L2":
        return [*META_TOOLS]
    return [*META_TOOLS, *map(renamed, pinned), *map(renamed, cached)]


def category_counts(tools: Iterable[IndexedTool]) -> Mapping[str, int]:
    """Return how many tools each category has, those of its subcategories included."""
    return Counter(path for tool in tools for path in paths_of(tool.categories))


def _with_categories(categories: Mapping[str, int]) -> JsonObject:
    """Return the tool that searches, with the categories in its description, as many as fit.

    Those with the most tools come first; of two with the same number the one that is first in the
    alphabet. Servers may declare any text, so only what is a short path of words is shown to a
    model.
    """
    shown, left = list[str](), _MOST_SHOWN
    named = [row for row in categories.items() if _WORDS.fullmatch(row[0])]
    for name, count in sorted(named, key=lambda row: (-row[1], row[0])):
        one = f"{name} ({count})"
        left -= len(one.encode("utf-8", "surrogatepass")) + 2
        if left < 0:
            break
        shown.append(one)
    if not shown:
        return _DISCOVER
    more = " and others" * (len(shown) < len(categories))
    text = f"{_DISCOVER['description']} Categories: {', '.join(shown)}{more}."
    return {**_DISCOVER, "description": text}
