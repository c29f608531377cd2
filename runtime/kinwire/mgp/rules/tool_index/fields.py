"""What each word of a tool says about it: the parts of a definition with their weights (MGP 16.4).

The weights and lengths are constants, not averages of the tools there are: so the words of a tool
count the same whatever other tools come and go.
"""

from __future__ import annotations

__all__ = ("TEXT_SIZE", "weights_of")

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from kinwire.mgp.rules.tool_index.entry import IndexedTool
from kinwire.mgp.rules.tool_index.words import stems_of
from kinwire.rpc.codec import is_object
from kinwire_protocols.base import JsonObject

TEXT_SIZE: Final = 4096
"""How many characters of a description are searched."""

_MOST_PARAMETERS: Final = 200
_LEAD_SIZE: Final = 300
_LEAD: Final = re.compile(r".{10,}?[.!?。！](?=\s|$|[\u3000-\u9fff])", re.DOTALL)  # noqa: RUF001
_HALF: Final = 1.2  # a word with this weight in all says half of what it can say
_LENGTH: Final = 0.75  # how much of a weight is divided by the length of the part


class _Part(NamedTuple):
    """A part of a definition."""

    weight: float
    length: float
    """Its usual length in words."""


_NAME: Final = _Part(3.0, 3)
_KEYWORDS: Final = _Part(2.0, 5)
_LEAD_PART: Final = _Part(1.0, 12)
_REST: Final = _Part(0.3, 60)
_SERVER: Final = _Part(1.0, 2)
_CATEGORIES: Final = _Part(0.5, 3)
_PARAMETERS: Final = _Part(0.5, 4)
_PARAMETER_TEXTS: Final = _Part(0.3, 25)

_STEPS: Final = 255
_WEIGHTS: Final = tuple(step / _STEPS for step in range(_STEPS + 1))  # shared by all tools


def weights_of(tool: IndexedTool) -> dict[str, float]:
    """Return the stems of a tool, each with what it says about the tool, from 0 to 1."""
    sums = dict[str, float]()
    known = sums.get
    for part, text in _texts(tool):
        if text:
            stems = stems_of(text)
            unit = part.weight / (1 - _LENGTH + _LENGTH * len(stems) / part.length)
            for stem in stems:
                sums[stem] = known(stem, 0.0) + unit
    return {stem: _WEIGHTS[round(_STEPS * s / (s + _HALF))] for stem, s in sums.items()}


def _texts(tool: IndexedTool) -> Iterator[tuple[_Part, str]]:
    yield _NAME, tool.name
    yield _SERVER, tool.server_id
    if tool.keyword_source != "derived":
        yield _KEYWORDS, " ".join(tool.keywords)
    if tool.category_source != "derived":
        yield _CATEGORIES, " ".join(tool.categories)
    lead, rest = _halves(tool.description[:TEXT_SIZE].strip())
    yield _LEAD_PART, lead
    yield _REST, rest
    names, texts = _parameters(tool.definition.get("inputSchema"))
    yield _PARAMETERS, names
    yield _PARAMETER_TEXTS, texts


def _halves(text: str) -> tuple[str, str]:
    """Return the first sentence, and the rest."""
    found = _LEAD.match(text, 0, _LEAD_SIZE)
    end = found.end() if found else _LEAD_SIZE
    return text[:end], text[end:]


def _parameters(schema: Any) -> tuple[str, str]:
    """Return the names of the parameters, and what is said about them."""
    properties: object = schema.get("properties") if is_object(schema) else None
    if not is_object(properties):
        return "", ""
    names = list(properties)[:_MOST_PARAMETERS]
    texts = " ".join(_description(properties[name]) for name in names)
    return " ".join(names), texts[:TEXT_SIZE]


def _description(parameter: JsonObject | object) -> str:
    text: object = parameter.get("description") if is_object(parameter) else None
    return text[:TEXT_SIZE] if isinstance(text, str) else ""
