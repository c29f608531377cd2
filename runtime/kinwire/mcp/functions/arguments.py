"""The arguments of a user's function: the check of a call, and what the function is called with.

Those of a tool arrive as JSON; those of a prompt, and the variables of a resource template, as
text.
"""

from __future__ import annotations

__all__ = ("MOST_PROBLEMS", "TextArguments", "ToolArguments", "invalid_arguments")

import types
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import ValidationError
from pydantic_core import to_json

from kinwire.mcp.context import Context
from kinwire.mcp.functions.parameters import Parameters, place_of
from kinwire.rpc.errors import HandlerDefinitionError, ToolDefinitionError
from kinwire.support.sanitize import enumerated
from kinwire_protocols.base import JsonObject
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.problems import Problem

MOST_PROBLEMS = 20
"""Problems in one answer; a long array may be wrong in every place."""

# The function takes decoded JSON of these types; values of any other type are made from JSON text.
_PLAIN = frozenset({str, int, float, bool, type(None), Any, object, list, dict})

_TEXTUAL = {"string", "integer", "number", "boolean", "null"}


class ToolArguments(Parameters):
    """Validate the JSON arguments of a tool."""

    def __init__(self, function: Callable[..., Any], descriptions: dict[str, str]) -> None:
        """Read the signature of `function`; `descriptions` come from its docstring.

        Raises:
            ToolDefinitionError: a parameter cannot be filled from a JSON object.
        """
        super().__init__(function, descriptions, ToolDefinitionError)
        self._from_text = not all(map(_is_plain, self.hints.values()))

    def check(
        self, tool: str, arguments: JsonObject, context: Context | None = None
    ) -> dict[str, Any]:
        """Return the keyword arguments for the function; lenient readings are logged.

        Raises:
            InvalidParamsError: the arguments break the schema; `data.problems` says where.
        """
        try:
            if self._from_text:
                return self._validated_as_text(arguments)
            # The adapter's own function passes a dozen options on.
            made: dict[str, Any] = self.adapter.validator.validate_python(arguments, strict=True)
            return made
        except ValidationError as error:
            refused = error
        from kinwire_protocols.lenient import IN_ARGUMENTS, read_again  # few calls need it

        noticed = None if context is None else context.session.counts.noticed
        strictly = partial(self.adapter.validator.validate_python, strict=True)
        validate = self._validated_as_text if self._from_text else strictly
        try:
            return read_again(refused, arguments, validate, noticed, IN_ARGUMENTS)
        except ValidationError as error:
            found = [
                replace(problem, pointer="/arguments" + problem.pointer)
                for problem in self.problems(error, arguments)
            ]
        raise invalid_arguments(tool, found)

    def _validated_as_text(self, arguments: JsonObject) -> dict[str, Any]:
        return self.adapter.validate_json(to_json(arguments), strict=True)


class TextArguments(Parameters):
    """Validate arguments that arrive as text: `int` is made from "5", `bool` from "true"."""

    def __init__(
        self,
        function: Callable[..., Any],
        descriptions: dict[str, str],
        lists: Collection[str] = (),
    ) -> None:
        """Read the signature of `function`; the parameters in `lists` are lists of text.

        Raises:
            HandlerDefinitionError: a parameter cannot be filled from text.
        """
        super().__init__(function, descriptions, HandlerDefinitionError)
        self._schemas: dict[str, JsonObject] = self.schema.get("properties", {})
        self._required: frozenset[str] = frozenset(self.schema.get("required", ()))
        shared: JsonObject = self.schema.get("$defs", {})
        for name, schema in self._schemas.items():
            if not _is_made_of_text(schema, shared, is_list=name in lists):
                expected = "a list of types" if name in lists else "a type"
                raise HandlerDefinitionError(
                    f"{place_of(function)}#{name}: expected {expected} that can be made of text, "
                    f"got {self.hints[name]}. Take `str` and read it in the function."
                )

    def described(self) -> list[JsonObject]:
        """Return the arguments in the form that `prompts/list` sends."""
        return [
            {
                "name": name,
                **({"description": schema["description"]} if "description" in schema else {}),
                "required": name in self._required,
            }
            for name, schema in self._schemas.items()
        ]

    def check(self, given: Mapping[str, str | list[str]]) -> dict[str, Any]:
        """Return the keyword arguments for the function.

        Raises:
            pydantic.ValidationError: an argument is missing, unknown, or cannot be made from its
                text; `problems` says where.
        """
        return self.adapter.validate_python(given)


def invalid_arguments(tool: str, found: Sequence[Problem]) -> InvalidParamsError:
    """Return the error for a call of `tool` whose arguments have the problems in `found`."""
    return InvalidParamsError(
        f"Tool {tool!r}: {enumerated(found)}",
        data={"tool": tool, "problems": [problem.to_json() for problem in found[:MOST_PROBLEMS]]},
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


def _is_made_of_text(schema: JsonObject, shared: JsonObject, *, is_list: bool) -> bool:
    if "$ref" in schema:
        schema = shared[schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        options: list[JsonObject] = schema["anyOf"]
        return all(_is_made_of_text(option, shared, is_list=is_list) for option in options)
    if is_list and schema.get("type") != "null":
        return schema.get("type") == "array" and _is_made_of_text(
            schema.get("items", {}), shared, is_list=False
        )
    return schema.get("type", "string") in _TEXTUAL
