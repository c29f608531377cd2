"""Tools that yield: the pieces of a result, one after the other, and what they are together.

A client that asked for a stream, in a protocol that has one, gets each piece when it is made. For
every other client the pieces are joined into one result.
"""

from __future__ import annotations

__all__ = ("JoinedPieces", "PieceSink", "blocks_of", "values_of")

import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable
from types import GeneratorType
from typing import Any, Protocol, cast

import anyio.to_thread

from kinwire.mcp.functions.results import content_of
from kinwire.rpc.codec import encode
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject

_END = object()


class PieceSink(Protocol):
    """Where the pieces of one call go."""

    def put(self, block: JsonObject) -> Awaitable[None]:
        """Send a content block, when the client can take it."""
        ...

    def result(self) -> JsonObject:
        """Return the final result of the call, with all pieces in it."""
        ...

    def end(self) -> None:
        """Nothing more comes: the call has ended, in whatever way."""
        ...


class JoinedPieces:
    """Content blocks; texts that follow each other become one.

    Beyond `most` bytes of JSON nothing is added: a frame could not hold it.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._size = 0
        self._blocks: list[JsonObject] = []
        self._texts: list[str] = []
        self.cut = False
        """Whether there were more."""

    def add(self, block: JsonObject) -> None:
        """Add a block behind those that are there."""
        text = block.get("text") if _has_only_text(block) else None
        size = len(encode(text)) - len('""') if isinstance(text, str) else len(encode(block))
        if self.cut or self._size + size > self._most:
            self.cut = True
            return
        self._size += size
        if isinstance(text, str):
            self._texts.append(text)
        else:
            self._join()
            self._blocks.append(block)

    @property
    def content(self) -> list[JsonObject]:
        """The blocks so far."""
        self._join()
        return list(self._blocks)

    def _join(self) -> None:
        if self._texts:
            joined = "".join(self._texts)
            self._texts.clear()
            last = self._blocks[-1] if self._blocks else None
            if last is not None and _has_only_text(last):
                joined = self._blocks.pop()["text"] + joined
            self._blocks.append({"type": "text", "text": joined})


def _has_only_text(block: JsonObject) -> bool:
    return len(block) == 2 and "text" in block and "type" in block


def values_of(function: Callable[..., Any], given: dict[str, Any]) -> AsyncGenerator[object]:
    """Return the generator of a tool; a plain one runs in worker threads."""
    made = function(**given)
    if inspect.isasyncgenfunction(function):
        return cast("AsyncGenerator[object]", made)
    return _in_threads(cast("GeneratorType[object, None, None]", made))


def blocks_of(value: object, tool: str) -> list[JsonObject]:
    """Return the content blocks for a value that the generator of `tool` has yielded.

    Raises:
        TypeError: it is a whole result.
        ValueError: see `content_of`.
    """
    if type(value) is str:  # most values are text
        return [{"type": "text", "text": value}]
    if isinstance(value, mcp.CallToolResult):
        raise TypeError(f"Tool {tool!r}: expected pieces of a result, got a whole one. Return it.")
    return content_of(value, tool)


async def _in_threads(plain: GeneratorType[object, None, None]) -> AsyncGenerator[object]:
    try:
        while (value := await _next_in_thread(plain)) is not _END:
            yield value
    finally:
        if not plain.gi_running:  # else its thread was left behind, and nothing can stop it
            plain.close()


async def _next_in_thread(plain: GeneratorType[object, None, None]) -> object:
    return await anyio.to_thread.run_sync(next, plain, _END, abandon_on_cancel=True)
