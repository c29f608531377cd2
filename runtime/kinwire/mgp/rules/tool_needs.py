"""Which tools an agent gets that asks for capabilities: what fits, in which order (MGP 16.6).

Searches find candidates; here the words of each decide which capabilities it has, and everything
that the agent says about the task decides the order.
"""

from __future__ import annotations

__all__ = ("MOST_CAPABILITIES", "RankedTool", "ToolNeeds", "chosen", "ranked")

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple, TypeAlias

from kinwire.mgp.rules.server_policy import RISKS
from kinwire.mgp.rules.tool_index.entry import Hit, IndexedTool
from kinwire.mgp.rules.tool_index.synonyms import SYNONYMS
from kinwire.mgp.rules.tool_index.words import STOP_STEMS, stems_of
from kinwire.rpc.codec import is_object
from kinwire_protocols.mgp.models import RiskLevel, ToolsRequestParams

MOST_CAPABILITIES: Final = 20
"""Of one request."""

_MOST_PROPERTIES: Final = 200  # of a schema that are looked at
_WORTH: Final = 0.5  # of the best score: tools below are not loaded unless a capability needs them
_TYPES: Final = 0.2
_CONTEXT: Final = 0.1
_RISK: Final = 0.2

_Scores: TypeAlias = Mapping[tuple[str, str], float]


class ToolNeeds(NamedTuple):
    """What an agent asks for."""

    capabilities: tuple[str, ...]
    context: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    preferred: RiskLevel | None
    """None prefers nothing."""

    @classmethod
    def of(cls, params: ToolsRequestParams) -> ToolNeeds:
        """Return what a request says.

        Raises:
            ValueError: it has too many capabilities, or one without letters and digits.
        """
        wanted = params.requirements
        capabilities = tuple(dict.fromkeys(wanted.capabilities or ()))
        if len(capabilities) > MOST_CAPABILITIES:
            raise ValueError(
                f"/requirements/capabilities: expected at most {MOST_CAPABILITIES}, "
                f"got {len(capabilities)}"
            )
        for at, capability in enumerate(capabilities):
            if not _words_in(capability):
                place = f"/requirements/capabilities/{at}"
                raise ValueError(f"{place}: expected words, got {capability!r:.60}")
        by_name: Mapping[str | None, RiskLevel] = {risk: risk for risk in RISKS}
        preferred = by_name.get(wanted.preferred_risk_level)
        inputs, outputs = tuple(wanted.input_types or ()), tuple(wanted.output_types or ())
        return cls(capabilities, params.context or "", inputs, outputs, preferred)

    @property
    def text(self) -> str:
        """What is searched if no capabilities are named."""
        return " ".join((self.context, *self.inputs, *self.outputs)).strip()


class RankedTool(NamedTuple):
    """A candidate."""

    tool: IndexedTool
    score: float
    covers: frozenset[str]
    """The capabilities of which it has more than half of the words, or others of a like meaning."""


def ranked(
    needs: ToolNeeds, found: Mapping[str, Sequence[Hit]], context: Sequence[Hit]
) -> list[RankedTool]:
    """Return the candidates that fit, the best first.

    `found` has what the search for each capability found, `context` what that for the task found.
    Without capabilities everything in `context` fits.
    """
    scores = {capability: _scores(found.get(capability, ())) for capability in needs.capabilities}
    by_context = _scores(context)
    pools = (*found.values(), context)
    tools = {hit.tool.key: hit.tool for pool in pools for hit in pool}
    candidates = [_ranked(needs, tool, scores, by_context) for tool in tools.values()]
    fitting = [one for one in candidates if one.covers or not needs.capabilities]
    return sorted(fitting, key=lambda one: (-one.score, *one.tool.key))


def chosen(
    candidates: Sequence[RankedTool], capabilities: Collection[str], *, most: int
) -> list[RankedTool]:
    """Return what is loaded, the best first: one for each capability, and the best of the others.

    `most` limits only those that no capability needs.
    """
    open_ones, needed = set(capabilities), list[RankedTool]()
    for one in candidates:
        if one.covers & open_ones:
            open_ones -= one.covers
            needed.append(one)
    best = candidates[0].score if candidates else 0.0
    others = (one for one in candidates if one not in needed and one.score >= _WORTH * best)
    taken = [*needed, *islice(others, max(0, most - len(needed)))]
    return [one for one in candidates if one in taken]


def _ranked(
    needs: ToolNeeds, tool: IndexedTool, scores: Mapping[str, _Scores], by_context: _Scores
) -> RankedTool:
    key = tool.key
    words = _all_words(tool)
    covers = frozenset(one for one in needs.capabilities if _are_named(one, words))
    score = by_context.get(key, 0.0)
    if needs.capabilities:
        found = sum(scores[one].get(key, 0.0) for one in covers)
        score = found / len(needs.capabilities) + _CONTEXT * score
    score += _TYPES * _share(needs.inputs, _input_words(tool))
    score += _TYPES * _share(needs.outputs, _output_words(tool))
    return RankedTool(tool, score + _RISK * _preference(needs.preferred, tool.risk), covers)


def _scores(hits: Iterable[Hit]) -> _Scores:
    return {hit.tool.key: hit.score for hit in hits}


def _preference(preferred: RiskLevel | None, risk: RiskLevel) -> int:
    """Return 1 for a risk that is not above the preferred one, and less for each level above."""
    if preferred is None:
        return 0
    return min(1, 1 - RISKS.index(risk) + RISKS.index(preferred))


def _share(types: Collection[str], words: frozenset[str]) -> float:
    """Return how many of some types the words name, from 0 to 1."""
    wanted = [_words_in(one) for one in types]
    return sum(2 * len(one & words) > len(one) for one in wanted) / len(types) if types else 0.0


def _are_named(text: str, words: frozenset[str]) -> bool:
    """Return whether more than half of the words of a text are there, or others for them."""
    wanted = _words_in(text)
    found = sum(one in words or not words.isdisjoint(SYNONYMS.get(one, ())) for one in wanted)
    return 2 * found > len(wanted)


def _words_in(text: str) -> frozenset[str]:
    """Return the stems of a text, without words that say little."""
    stems = frozenset(stems_of(text))
    return stems - STOP_STEMS or stems


def _input_words(tool: IndexedTool) -> frozenset[str]:
    about = (tool.name, tool.description, *tool.keywords)
    return _words_in(" ".join((*about, *_texts_of(tool.definition.get("inputSchema")))))


def _output_words(tool: IndexedTool) -> frozenset[str]:
    about = (tool.name, tool.description, *tool.keywords)
    return _words_in(" ".join((*about, *_texts_of(tool.definition.get("outputSchema")))))


def _all_words(tool: IndexedTool) -> frozenset[str]:
    about = (tool.server_id, *tool.categories)
    return _words_in(" ".join(about)) | _input_words(tool) | _output_words(tool)


def _texts_of(schema: Any) -> Iterator[str]:
    """Yield the names, descriptions and formats of the properties of a schema."""
    properties = schema.get("properties") if is_object(schema) else None
    if not is_object(properties):
        return
    for name, about in islice(properties.items(), _MOST_PROPERTIES):
        yield name
        if is_object(about):
            texts = (about.get(one) for one in ("type", "description", "format"))
            yield from (one for one in texts if isinstance(one, str))
