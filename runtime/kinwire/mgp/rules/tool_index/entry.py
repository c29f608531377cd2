"""A tool as the index of a kernel holds it, and what a search returns (MGP 0.2.0 section 16.4)."""

from __future__ import annotations

__all__ = ("Found", "Hit", "IndexedTool", "LabelSource", "Labels")

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from kinwire_protocols.base import JsonObject
from kinwire_protocols.mgp.models import RiskLevel, SearchStrategy

LabelSource = Literal["declared", "configured", "derived"]
"""Where categories or keywords come from: the server, the configuration, or what else is known."""


@dataclass(frozen=True, slots=True)
class IndexedTool:
    """A tool of one server as the index holds it. Made by `indexed_tool()`."""

    server_id: str
    name: str
    description: str
    definition: JsonObject
    """As the server listed it, with its whole schema."""
    risk: RiskLevel
    """The effective risk, as the kernel computed it."""
    security: JsonObject
    """What a search shows of its security, in the form of MGP `ToolSecurity`."""
    categories: tuple[str, ...]
    """Each a path of words with `/` between them: `filesystem`, `filesystem/read`."""
    keywords: tuple[str, ...]
    """Words that it is found by and that its name may lack."""
    category_source: LabelSource
    digest: str
    """Of the whole definition: another digest is another tool."""
    keyword_source: LabelSource = "declared"

    @property
    def key(self) -> tuple[str, str]:
        """The server and the name, by which it is known in the kernel."""
        return self.server_id, self.name

    @property
    def tool_id(self) -> str:
        """The name of the tool in the index, unique over all servers."""
        return f"{self.server_id}.{self.name}"


class Labels(NamedTuple):
    """The categories and keywords that the configuration gives a tool."""

    categories: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()


class Hit(NamedTuple):
    """A tool that a search found."""

    tool: IndexedTool
    score: float
    """How well it fits, above 0 and at most 1."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found."""

    hits: tuple[Hit, ...]
    """The best first; equal scores in the order of server and name."""
    strategy: SearchStrategy
    """How was searched: `keyword` where `semantic` was wanted and there are no vectors."""
    count: Callable[[], int] = field(compare=False)
    """Counts the tools that fit, at the time of the call."""

    @property
    def total(self) -> int:
        """How many tools fit, whatever the limit; takes longer than the search."""
        return self.count()
