"""Operations that a protocol defines as tools: calls of them, and handlers.

They travel inside `tools/call`. A result stands in `structuredContent` and, as JSON, in the first
block of text; an error too, under `error`, with `isError`.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Literal, TypeVar, cast

from pydantic import ValidationError

from .base import JsonObject, Message, RpcError, error_to_wire, from_wire, to_wire
from .jsonrpc.errors import InvalidParamsError
from .lazy import LazyFields
from .peer import Method, Peer, RaisesShapeErrors, check_handlers, error_kind
from .problems import problems

__all__ = ("ToolFailedError", "ToolHandlers", "ToolMethod")

P = TypeVar("P", bound=Message)
R = TypeVar("R", bound=Message)


class ToolFailedError(RpcError):
    """A tool ran and failed, with an error that its row does not have.

    `result` is the whole result. `code` is -32603 if the tool gave none.
    """

    result: JsonObject

    def __init__(
        self,
        message: str | None = None,
        *,
        data: Any = None,
        code: int | None = None,
        result: JsonObject | None = None,
    ) -> None:
        super().__init__(message, data=data, code=code)
        self.result = result or {}


@dataclass(frozen=True, kw_only=True)
class ToolMethod(LazyFields, Generic[P, R]):
    """One row of a protocol's table of tools."""

    name: str
    """The tool's name on the wire."""
    protocol: str
    attribute: str
    """The name in Python, on stubs and handlers."""
    params: Any = field(compare=False)
    """The type `P`, or a `Lazy` of it."""
    result: Any = field(compare=False)
    """The type `R`, or a `Lazy` of it."""
    caller: Method[Any, Any]
    """The method `tools/call` that it goes through."""
    whole: bool = False
    """Whether the result is that of `tools/call` itself and not inside its content."""
    errors: tuple[type[RpcError], ...] = ()
    section: str
    aliases: tuple[str, ...] = ()
    """Other names of the same tool."""
    status: Literal["stable", "considered", "deprecated"] = "stable"
    definition: JsonObject
    """What stands in a list of tools."""

    async def call(self, peer: Peer, params: P) -> R:
        """Call the tool of `peer`.

        Raises:
            RpcError: the peer answered with an error, or the tool failed: an error of the row if it
                is known, else a `ToolFailedError`.
            pydantic.ValidationError: the result does not fit, and `peer` has no error for that (see
                `RaisesShapeErrors`).
        """
        request = self.caller.params(name=self.name, arguments=to_wire(params))
        said = self._said(await peer.call(self.caller, request))
        try:
            made: R = from_wire(self.result, said)
        except ValidationError as error:
            if not isinstance(peer, RaisesShapeErrors):
                raise
            failure = peer.shape_error(self.name, error, said)
        else:
            return made
        raise failure

    def decode_params(self, value: object) -> P:
        """Return arguments from the wire; absent ones (None) are an empty object.

        Raises:
            InvalidParamsError: they do not fit; `data` has the problems.
        """
        given: object = {} if value is None else value
        try:
            made: P = from_wire(self.params, given)
        except ValidationError as error:
            found = problems(error, given)
            raise InvalidParamsError(
                f"{self.name}#{found[0]}", data={"problems": [p.to_json() for p in found]}
            ) from None
        return made

    def decode_result(self, result: Message | JsonObject) -> R:
        """Return what a result of `tools/call` says; its text counts where it has no structure.

        Raises:
            RpcError: it says that the tool failed.
            pydantic.ValidationError: it does not fit.
        """
        made: R = from_wire(self.result, self._said(result))
        return made

    def result_to_wire(self, value: R) -> JsonObject:
        """Return the result of `tools/call` that says `value`."""
        made = to_wire(value)
        return made if self.whole else _result(made)

    def error_to_wire(self, error: RpcError) -> JsonObject:
        """Return the result of `tools/call` that says that the tool failed with `error`."""
        return {**_result({"error": error_to_wire(error)}), "isError": True}

    def _said(self, result: Message | JsonObject) -> JsonObject:
        body = result if isinstance(result, dict) else to_wire(result)
        if self.whole:  # its own type says how it failed
            return body
        if body.get("isError") is True:
            raise self._error_in(body)
        return _content(body)

    def _error_in(self, body: JsonObject) -> RpcError:
        said = _content(body)
        error = _object(said.get("error")) or said
        code, message, data = error.get("code"), error.get("message"), error.get("data")
        if type(code) is not int:
            return ToolFailedError(_text(body) or f"{self.name} failed", result=body)
        kind = error_kind(self.errors, code, data)
        if kind is not None:
            return kind(str(message), data=data, code=code)
        return ToolFailedError(str(message), data=data, code=code, result=body)


class ToolHandlers:
    """Base of the generated handler classes of tools: override the tools that you serve."""

    rows: ClassVar[Mapping[str, ToolMethod[Any, Any]]] = {}
    """The tools, by wire name."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        check_handlers(
            cls, {row.attribute for row in cls.rows.values()} | {"call", "dispatch"}, "tool"
        )

    def served(self) -> list[ToolMethod[Any, Any]]:
        """Return the rows of the tools that are overridden."""
        return [row for name, row in self.rows.items() if name == row.name and self._serves(row)]

    async def dispatch(self, name: str, arguments: object = None) -> JsonObject:
        """Run a tool and return the result of `tools/call`; errors are raised.

        Raises:
            RpcError: the tool is unknown, the arguments do not fit, or the handler raised it.
        """
        row = self._row(name)
        run = cast(Callable[[Message], Awaitable[Message]], getattr(self, row.attribute))
        return row.result_to_wire(await run(row.decode_params(arguments)))

    async def call(self, name: str, arguments: object = None) -> JsonObject:
        """Run a tool and return the result of `tools/call`; its errors are results too.

        Raises:
            InvalidParamsError: the tool is unknown.
        """
        row = self._row(name)
        try:
            return await self.dispatch(name, arguments)
        except RpcError as error:
            return row.error_to_wire(error)

    def _row(self, name: str) -> ToolMethod[Any, Any]:
        row = self.rows.get(name)
        if row is None or not self._serves(row):
            raise InvalidParamsError(f"Unknown tool: {name!r:.60}")
        return row

    def _serves(self, row: ToolMethod[Any, Any]) -> bool:
        own = type(self)
        base = next(kind for kind in own.__mro__ if "rows" in vars(kind))
        return getattr(own, row.attribute) is not getattr(base, row.attribute)


def _result(value: JsonObject) -> JsonObject:
    text = json.dumps(value, ensure_ascii=False)
    return {"content": [{"type": "text", "text": text}], "structuredContent": value}


def _content(body: JsonObject) -> JsonObject:
    """Return the object that a result says; an empty one if it says none."""
    structured = body.get("structuredContent")
    if structured is not None:
        return _object(structured)
    try:
        return _object(json.loads(_text(body)))
    except (ValueError, RecursionError):
        return {}


def _text(body: JsonObject) -> str:
    content: object = body.get("content")
    first = cast("list[object]", content)[0] if isinstance(content, list) and content else None
    text = _object(first).get("text")
    return text if isinstance(text, str) else ""


def _object(value: object) -> JsonObject:
    return cast(JsonObject, value) if isinstance(value, dict) else {}
