"""The arguments of a tool: their JSON schema, and the check of a call."""

from __future__ import annotations

__all__ = ("ToolArguments", "refused_arguments")

import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import ValidationError
from pydantic_core import to_json

from kinwire._parameters import Parameters
from kinwire.errors import ToolDefinitionError
from kinwire_protocols.base import JsonObject
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.problems import Problem, problems

_TOLD = 20  # problems in one answer; a long array may be wrong in every place

# Decoded JSON of these types is what the function takes; anything else is made from JSON text.
_PLAIN = frozenset({str, int, float, bool, type(None), Any, object, list, dict})


class ToolArguments:
    """What one function may be called with."""

    def __init__(self, function: Callable[..., Any], descriptions: dict[str, str]) -> None:
        """Read the signature of `function`; `descriptions` are those of its docstring.

        Raises:
            ToolDefinitionError: a parameter cannot be filled from a JSON object.
        """
        parameters = Parameters(function, descriptions, ToolDefinitionError)
        self.context_name = parameters.context_name
        """The parameter that takes the `Context`, if there is one."""
        self._adapter = parameters.adapter
        self._from_text = not all(map(_is_plain, parameters.hints.values()))
        self.names = tuple(parameters.hints)
        self.schema = parameters.schema

    def check(self, tool: str, arguments: JsonObject) -> dict[str, Any]:
        """Return what the function is to be called with.

        Raises:
            InvalidParamsError: the arguments break the schema; `data.problems` says where.
        """
        try:
            if self._from_text:
                return self._adapter.validate_json(to_json(arguments), strict=True)
            return self._adapter.validate_python(arguments, strict=True)
        except ValidationError as error:
            found = list(self._problems(error, arguments))
            raise refused_arguments(tool, found) from None

    def _problems(self, error: ValidationError, arguments: JsonObject) -> Iterator[Problem]:
        strangers = {f"/{name}" for name in arguments if name not in self.names}
        for problem in problems(error, arguments):
            expected = problem.expected
            if problem.pointer in strangers:
                near = get_close_matches(problem.pointer[1:], self.names, n=1)
                known = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(self.names)}"
                expected = f"no argument of this name ({known})"
            yield replace(problem, pointer="/arguments" + problem.pointer, expected=expected)


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
