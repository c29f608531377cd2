"""Makes entries of the index: categories and keywords are declared, configured or derived."""

from __future__ import annotations

__all__ = ("indexed_tool",)

from collections.abc import Iterator
from typing import Any

from kinwire.mgp.rules.signs import words_of
from kinwire.mgp.rules.tool_index.entry import CategorySource, IndexedTool, Labels
from kinwire.mgp.rules.tools import KnownTool
from kinwire.rpc.codec import is_object
from kinwire_protocols.base import JsonObject

_UNCONFIGURED = Labels()


def indexed_tool(
    server_id: str, definition: JsonObject, known: KnownTool, configured: Labels = _UNCONFIGURED
) -> IndexedTool:
    """Return the entry of a tool, from its definition and what the kernel knows of it.

    Categories come from `configured`, else from `_mgp.categories` of the definition, else from the
    permissions, the side effects and the name of the tool.
    """
    declared = _declared(definition)
    categories, source = _categories(known, declared, configured)
    return IndexedTool(
        server_id=server_id,
        name=known.name,
        description=known.description,
        definition=definition,
        risk=known.risk,
        security=_security(known),
        categories=categories,
        keywords=configured.keywords or declared.keywords,
        category_source=source,
        digest=known.digest,
    )


def _categories(
    known: KnownTool, declared: Labels, configured: Labels
) -> tuple[tuple[str, ...], CategorySource]:
    if configured.categories:
        return configured.categories, "configured"
    if declared.categories:
        return declared.categories, "declared"
    return tuple(dict.fromkeys(_derived(known))), "derived"


def _declared(definition: JsonObject) -> Labels:
    extras = definition.get("_mgp")
    if not is_object(extras):
        return _UNCONFIGURED
    return Labels(_words(extras.get("categories")), _words(extras.get("keywords")))


def _words(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        return ()
    return tuple(word for word in value if isinstance(word, str) and word)


def _derived(known: KnownTool) -> Iterator[str]:
    for permission in known.permissions:
        yield permission.replace(".", "/")
    if known.security is not None:
        yield from known.security.side_effects or ()
    yield from sorted(words_of(known.name))


def _security(known: KnownTool) -> JsonObject:
    shown: JsonObject = {"risk_level": known.risk, "validator": known.validator}
    if known.permissions:
        shown["permissions_required"] = list(known.permissions)
    return shown
