"""Arguments that arrive as text: those of a prompt, and the variables of a resource template."""

from __future__ import annotations

__all__ = ("TextArguments",)

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from kinwire._parameters import Parameters, place_of
from kinwire.errors import HandlerDefinitionError
from kinwire_protocols.base import JsonObject
from kinwire_protocols.problems import Problem, problems

_TEXTUAL = {"string", "integer", "number", "boolean", "null"}


class TextArguments:
    """What one function may be called with, made from text: `int` from "5", `bool` from "true"."""

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
        parameters = Parameters(function, descriptions, HandlerDefinitionError)
        self.context_name = parameters.context_name
        """The parameter that takes the `Context`, if there is one."""
        self._adapter = parameters.adapter
        self._schemas: dict[str, JsonObject] = parameters.schema.get("properties", {})
        self.required: frozenset[str] = frozenset(parameters.schema.get("required", ()))
        self.names = tuple(self._schemas)
        shared: JsonObject = parameters.schema.get("$defs", {})
        for name, schema in self._schemas.items():
            if not _is_made_of_text(schema, shared, is_list=name in lists):
                expected = "a list of types" if name in lists else "a type"
                raise HandlerDefinitionError(
                    f"{place_of(function)}#{name}: expected {expected} that can be made of text, "
                    f"got {parameters.hints[name]}. Take `str` and read it in the function."
                )

    def described(self) -> list[JsonObject]:
        """Return the arguments as `prompts/list` shows them."""
        return [
            {
                "name": name,
                **({"description": schema["description"]} if "description" in schema else {}),
                "required": name in self.required,
            }
            for name, schema in self._schemas.items()
        ]

    def check(self, given: Mapping[str, str | list[str]]) -> dict[str, Any]:
        """Return what the function is to be called with.

        Raises:
            pydantic.ValidationError: an argument is missing, unknown, or cannot be made of its
                text; `problems` says where.
        """
        return self._adapter.validate_python(given)

    def problems(self, error: ValidationError, given: Mapping[str, object]) -> Iterator[Problem]:
        """Yield what `error`, raised for `given`, says."""
        for problem in problems(error, given):
            name = problem.pointer[1:]
            if name in given and name not in self.names:
                near = get_close_matches(name, self.names, n=1)
                known = ", ".join(self.names) or "none"
                hint = f"did you mean {near[0]!r}?" if near else f"known: {known}"
                problem = replace(problem, expected=f"no argument of this name ({hint})")
            yield problem


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
