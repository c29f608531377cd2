"""The arguments of a tool: their JSON schema, and the check of a call."""

from __future__ import annotations

__all__ = ("ToolArguments", "refused_arguments")

import types
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import ValidationError
from pydantic_core import to_json

from kinwire.mcp.functions.parameters import Parameters
from kinwire.rpc.errors import ToolDefinitionError
from kinwire_protocols.base import JsonObject
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.problems import Problem

_TOLD = 20  # problems in one answer; a long array may be wrong in every place

# Decoded JSON of these types is what the function takes; anything else is made from JSON text.
_PLAIN = frozenset({str, int, float, bool, type(None), Any, object, list, dict})


class ToolArguments(Parameters):
    """What one function may be called with."""

    def __init__(self, function: Callable[..., Any], descriptions: dict[str, str]) -> None:
        """Read the signature of `function`; `descriptions` are those of its docstring.

        Raises:
            ToolDefinitionError: a parameter cannot be filled from a JSON object.
        """
        super().__init__(function, descriptions, ToolDefinitionError)
        self._from_text = not all(map(_is_plain, self.hints.values()))

    def check(self, tool: str, arguments: JsonObject) -> dict[str, Any]:
        """Return what the function is to be called with.

        Raises:
            InvalidParamsError: the arguments break the schema; `data.problems` says where.
        """
        try:
            if self._from_text:
                return self.adapter.validate_json(to_json(arguments), strict=True)
            # The adapter's own function passes a dozen options on.
            made: dict[str, Any] = self.adapter.validator.validate_python(arguments, strict=True)
            return made
        except ValidationError as error:
            found = [
                replace(problem, pointer="/arguments" + problem.pointer)
                for problem in self.problems(error, arguments)
            ]
            raise refused_arguments(tool, found) from None


def refused_arguments(tool: str, found: Sequence[Problem]) -> InvalidParamsError:
    """Return the error that says what is wrong with the arguments of a call."""
    return InvalidParamsError(
        f"Tool {tool!r}: {found[0]}",
        data={"tool": tool, "problems": [problem.to_json() for problem in found[:_TOLD]]},
    )


def _is_plain(hint: Any) -> bool:
    origin = get_origin(hint)
    if origin is None:
        return hint in _PLAIN
    if origin is Literal:
        return all(type(choice) in _PLAIN for choice in get_args(hint))
    if origin is Annotated:
        return _is_plain(get_args(hint)[0])
    return origin in (list, dict, Union, types.UnionType) and all(map(_is_plain, get_args(hint)))
