"""Which text of a tool is made a vector, and what makes it (MGP 0.2.0 section 16.4)."""

from __future__ import annotations

__all__ = ("Embedder", "embedded_query", "embedded_text")

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Protocol

from kinwire.mgp.rules.tool_index.entry import IndexedTool
from kinwire.mgp.rules.validators.places import words_of_name
from kinwire.rpc.codec import is_object
from kinwire_protocols.base import JsonObject

_MOST_CHARACTERS = 2_000  # models of this kind read less
_MOST_PARAMETERS = 50


class Embedder(Protocol):
    """Makes vectors of texts: `ToolDiscovery(embedder=...)`."""

    def embed(self, texts: Sequence[str]) -> Iterable[Iterable[float]]:
        """Return a vector for each text, in order. Texts of similar meaning get similar directions.

        It runs in a worker thread, one call at a time, with at most 17 texts, so it may take long
        and may raise. All vectors have one length. Only their direction counts; a tool whose
        vector is zero, or has a number that is not finite, is found by its words alone.
        """
        ...


def embedded_text(tool: IndexedTool) -> str:
    """Return what a vector is made of: name, description and parameters, at most 2,000 characters.

    It depends only on what `tool.digest` is made of.
    """
    name = " ".join(words_of_name(tool.name))
    description = tool.description[:_MOST_CHARACTERS]
    text = " ".join((f"{name}: {description}", *_parameters(tool.definition)))
    return _readable(text[:_MOST_CHARACTERS])


def embedded_query(query: str) -> str:
    """Return what the vector of a query is made of: its first 2,000 characters."""
    return _readable(query[:_MOST_CHARACTERS])


def _readable(text: str) -> str:
    """Return a text that can be encoded: JSON may hold half a surrogate pair."""
    return text.encode("utf-8", "replace").decode()


def _parameters(definition: JsonObject) -> Iterator[str]:
    schema = definition.get("inputSchema")
    properties = schema.get("properties") if is_object(schema) else None
    if not is_object(properties):
        return
    for name, about in islice(properties.items(), _MOST_PARAMETERS):
        yield " ".join(words_of_name(name))
        description = about.get("description") if is_object(about) else None
        if isinstance(description, str):
            yield description[:_MOST_CHARACTERS]
