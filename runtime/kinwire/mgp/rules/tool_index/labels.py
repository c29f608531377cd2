"""Makes entries of the index: categories and keywords are declared, configured or derived."""

from __future__ import annotations

__all__ = ("indexed_tool",)

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final, cast

from kinwire.mgp.rules.tool_index.categories import MOST_CATEGORIES, category_path
from kinwire.mgp.rules.tool_index.entry import IndexedTool, Labels, LabelSource
from kinwire.mgp.rules.tool_index.topics import ACTIONS, TOPICS
from kinwire.mgp.rules.tools import KnownTool
from kinwire.mgp.rules.validators.places import words_of_name
from kinwire.rpc.codec import is_object
from kinwire_protocols.base import JsonObject

_UNCONFIGURED = Labels()
_MOST_WORDS: Final = 64  # keywords of one tool


def indexed_tool(
    server_id: str, definition: JsonObject, known: KnownTool, configured: Labels = _UNCONFIGURED
) -> IndexedTool:
    """Return the entry of a tool, from its definition and what the kernel knows of it.

    Categories come from `configured`, else from `_mgp.categories` of the definition, else from the
    permissions, the side effects and the name of the tool.
    """
    declared = _declared(definition)
    categories, category_source = _categories(known, declared, configured)
    keywords, keyword_source = _keywords(known, declared, configured)
    return IndexedTool(
        server_id=server_id,
        name=known.name,
        description=known.description,
        definition=definition,
        risk=known.risk,
        security=_security(known),
        categories=categories,
        keywords=keywords,
        category_source=category_source,
        digest=known.digest,
        keyword_source=keyword_source,
    )


def _categories(
    known: KnownTool, declared: Labels, configured: Labels
) -> tuple[tuple[str, ...], LabelSource]:
    if configured.categories:
        return _paths(configured.categories), "configured"
    if declared.categories:
        return _paths(declared.categories), "declared"
    return _paths(_derived(known)), "derived"


def _paths(categories: Iterable[str]) -> tuple[str, ...]:
    paths = dict.fromkeys(map(category_path, categories))
    return tuple(islice((path for path in paths if path), MOST_CATEGORIES))


def _declared(definition: JsonObject) -> Labels:
    extras = definition.get("_mgp")
    if not is_object(extras):
        return _UNCONFIGURED
    return Labels(_strings(extras.get("categories")), _strings(extras.get("keywords")))


def _strings(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        return ()
    words = cast("list[object]", value)[:_MOST_WORDS]
    return tuple(word for word in words if isinstance(word, str) and word.strip())


def _derived(known: KnownTool) -> Iterator[str]:
    yield from known.permissions
    if known.security is not None:
        yield from known.security.side_effects or ()
    words = words_of_name(known.name)
    yield from (TOPICS[word] for word in words if word in TOPICS)
    yield next((ACTIONS[word] for word in words if word in ACTIONS), "other")


def _keywords(
    known: KnownTool, declared: Labels, configured: Labels
) -> tuple[tuple[str, ...], LabelSource]:
    if configured.keywords:
        return configured.keywords, "configured"
    if declared.keywords:
        return declared.keywords, "declared"
    return tuple(dict.fromkeys(words_of_name(known.name)))[:_MOST_WORDS], "derived"


def _security(known: KnownTool) -> JsonObject:
    shown: JsonObject = {"risk_level": known.risk, "validator": known.validator}
    if known.permissions:
        shown["permissions_required"] = list(known.permissions)
    return shown
