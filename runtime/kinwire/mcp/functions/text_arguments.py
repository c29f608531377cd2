"""Arguments that arrive as text: those of a prompt, and the variables of a resource template."""

from __future__ import annotations

__all__ = ("TextArguments",)

from collections.abc import Callable, Collection, Mapping
from typing import Any

from kinwire.mcp.functions.parameters import Parameters, place_of
from kinwire.rpc.errors import HandlerDefinitionError
from kinwire_protocols.base import JsonObject

_TEXTUAL = {"string", "integer", "number", "boolean", "null"}


class TextArguments(Parameters):
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
        """Return the arguments as `prompts/list` shows them."""
        return [
            {
                "name": name,
                **({"description": schema["description"]} if "description" in schema else {}),
                "required": name in self._required,
            }
            for name, schema in self._schemas.items()
        ]

    def check(self, given: Mapping[str, str | list[str]]) -> dict[str, Any]:
        """Return what the function is to be called with.

        Raises:
            pydantic.ValidationError: an argument is missing, unknown, or cannot be made of its
                text; `problems` says where.
        """
        return self.adapter.validate_python(given)


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
