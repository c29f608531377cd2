"""Options of how a kernel finds tools for agents (MGP 0.2.0 section 16)."""

from __future__ import annotations

__all__ = ("EVERY_AGENT", "ToolDiscovery")

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Final, cast

from kinwire.mgp.rules.token_counts import TokenCounter, estimated_tokens
from kinwire.mgp.rules.tool_index.embedding import Embedder
from kinwire.support.arguments import (
    FLAG,
    PLAIN_FUNCTION,
    TEXT,
    TEXTS,
    ArgumentCheck,
    ValueKind,
    having,
    instance_of,
    is_pair,
    list_of,
    table_of,
)
from kinwire_protocols.mgp.models import ToolContextBudget

EVERY_AGENT: Final = "*"
"""In `ToolDiscovery.pinned`: what is pinned for all agents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDiscovery:
    """How a kernel finds tools for agents: `MgpKernel(discovery=ToolDiscovery(...))`.

    Raises:
        TypeError: an argument is not of its type.

    Source: MGP 0.2.0 section 16.
    """

    pinned: Mapping[str, Sequence[tuple[str, str]]] = field(
        default_factory=dict[str, Sequence[tuple[str, str]]]
    )
    """The tools that an agent always has in its context, each as `server_id` and name.

    The key is the agent; what stands under `"*"` is pinned for all agents.
    """
    budget: ToolContextBudget | None = None
    """How many tokens definitions of tools may take; None means 8,000, as section 16.8 shows."""
    count_tokens: TokenCounter = estimated_tokens
    """Counts the tokens of a text; without one they are estimated."""
    embedder: Embedder | None = None
    """Makes vectors of texts, for a search by meaning; without it words are searched."""
    categories: Mapping[str | tuple[str, str], Sequence[str]] = field(
        default_factory=dict[str | tuple[str, str], Sequence[str]]
    )
    """Categories of the tools of a server, or of one tool, in place of those that it declares.

    The key is the `server_id`, or that with the name of the tool.
    """
    keywords: Mapping[str | tuple[str, str], Sequence[str]] = field(
        default_factory=dict[str | tuple[str, str], Sequence[str]]
    )
    """Words by which tools are found, in place of those that they declare; keys are as above."""
    allow_creating: bool = False
    """Whether an agent may write a tool that is missing: `mgp/tools/request` answers `creating`."""

    def __post_init__(self) -> None:
        _TOOL_DISCOVERY.check(**{one.name: getattr(self, one.name) for one in fields(self)})


def _is_tool(value: object) -> bool:
    return is_pair(value) and all(map(TEXT.fits, cast("tuple[object, ...]", value)))


def _is_labels(value: object) -> bool:
    return isinstance(value, Mapping) and all(
        (TEXT.fits(key) or _is_tool(key)) and TEXTS.fits(names)
        for key, names in cast("Mapping[object, object]", value).items()
    )


def _labels(what: str, one: str) -> ValueKind:
    words = f"a dictionary from server_id, or server_id and tool, to {what}"
    return ValueKind(words, f'{{"files": ["{one}"]}}', _is_labels)


_TOOL = ValueKind("a server_id and the name of a tool", '("files", "read_file")', _is_tool)


_TOOL_DISCOVERY = ArgumentCheck(
    "ToolDiscovery",
    "ToolDiscovery()",
    {},
    pinned=table_of(
        list_of(_TOOL, "several pairs of server_id and tool"),
        "a dictionary from agent to tools",
        '"agent.helper"',
    ),
    budget=instance_of(
        ToolContextBudget, "a ToolContextBudget", "config.tool_context_budget"
    ).or_none,
    count_tokens=PLAIN_FUNCTION,
    embedder=having(("embed",), "an embedder", "embedder").or_none,
    categories=_labels("categories", "filesystem"),
    keywords=_labels("keywords", "folder"),
    allow_creating=FLAG,
)
