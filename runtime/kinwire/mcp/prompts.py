"""Prompts: messages that a server makes from the user's arguments (MCP, Prompts)."""

from __future__ import annotations

__all__ = ("HandlerPrompt", "PromptTable", "RegisteredPrompt", "prompt_from_function")

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from pydantic import ValidationError

from kinwire.managers.entry_table import EntryKind, EntryTable
from kinwire.managers.listing import Listing
from kinwire.mcp.context import Context
from kinwire.mcp.functions.arguments import MOST_PROBLEMS, TextArguments
from kinwire.mcp.functions.docstring import split_docstring
from kinwire.mcp.functions.function import Function, function_of
from kinwire.mcp.functions.results import prompt_result
from kinwire.rpc.errors import HandlerDefinitionError
from kinwire.support.json_values import pointer_below
from kinwire.support.sanitize import enumerated
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.problems import Problem


class RegisteredPrompt(Protocol):
    """An entry of the table: a function, or a handler with a definition."""

    @property
    def definition(self) -> JsonObject: ...
    async def fill(self, params: mcp.GetPromptRequestParams, context: Context) -> JsonObject: ...


@dataclass(frozen=True, slots=True)
class FunctionPrompt:
    """A function as a prompt."""

    definition: JsonObject
    arguments: TextArguments
    function: Function

    async def fill(self, params: mcp.GetPromptRequestParams, context: Context) -> JsonObject:
        """Check the arguments, run the function, and return its result as JSON.

        Raises:
            InvalidParamsError: an argument is missing, unknown or of a wrong type.
        """
        arguments = params.arguments or {}
        try:
            given = self.arguments.check(arguments)
        except ValidationError as error:
            found = list(self.arguments.problems(error, arguments))
            raise _invalid_arguments(params.name, found) from None
        if self.arguments.context_name is not None:
            given[self.arguments.context_name] = self.arguments.context_kind.of(context)
        return prompt_result(await self.function.run(given), self.definition)


@dataclass(frozen=True, slots=True)
class HandlerPrompt:
    """A prompt made from its definition and a handler of `prompts/get` for this prompt only."""

    definition: JsonObject
    handler: Callable[[mcp.GetPromptRequestParams, Context], Any]

    async def fill(self, params: mcp.GetPromptRequestParams, context: Context) -> JsonObject:
        """Check that the required arguments are there, and run the handler.

        Raises:
            InvalidParamsError: a required argument is missing.
        """
        given: Mapping[str, str] = params.arguments or {}
        missing = [
            Problem(pointer_below("", argument["name"]), "a value", "nothing")
            for argument in self.definition.get("arguments", ())
            if argument.get("required") and argument["name"] not in given
        ]
        if missing:
            raise _invalid_arguments(params.name, missing)
        return prompt_result(await self.handler(params, context), self.definition)


def prompt_from_function(
    function: Callable[..., Any], *, name: str | None = None, description: str | None = None
) -> FunctionPrompt:
    """Make a prompt from `function`.

    Raises:
        HandlerDefinitionError: the function cannot be a prompt; the message says why and how to
            fix it.
    """
    served = function_of(function, HandlerDefinitionError)
    text, descriptions = split_docstring(function.__doc__)
    arguments = TextArguments(function, descriptions)
    shown = text if description is None else description
    described = arguments.described()
    definition: JsonObject = {
        "name": function.__name__ if name is None else name,
        **({"description": shown} if shown else {}),
        **({"arguments": described} if described else {}),
    }
    return FunctionPrompt(definition, arguments, served)


_KIND = EntryKind(
    "Prompt",
    "a name",
    "Give name=..., or remove the other prompt first.",
    HandlerDefinitionError,
)


class PromptTable:
    """The prompts of one server; may change while sessions are open."""

    def __init__(self, listed: Listing, changed: Callable[[], None]) -> None:
        self._table = EntryTable[RegisteredPrompt](_KIND, listed, changed)

    def add(self, prompt: RegisteredPrompt) -> None:
        """Add a prompt.

        Raises:
            HandlerDefinitionError: the name is in use, or JSON cannot hold the definition.
        """
        self._table.add(prompt.definition["name"], prompt)

    def remove(self, name: str) -> None:
        """Remove a prompt; requests in progress finish.

        Raises:
            KeyError: no prompt has this name.
        """
        self._table.remove(name)

    def arguments(self, name: str) -> list[str] | None:
        """Return the names of a prompt's arguments, None if no prompt has this name."""
        prompt = self._table.entries.get(name)
        if prompt is None:
            return None
        return [argument["name"] for argument in prompt.definition.get("arguments", ())]

    async def list(self, params: mcp.PaginatedRequestParams) -> JsonObject:
        """Answer `prompts/list`."""
        return self._table.page(params.cursor)

    async def get(self, params: mcp.GetPromptRequestParams, context: Context) -> JsonObject:
        """Answer `prompts/get`."""
        prompt = self._table.entries.get(params.name)
        if prompt is None:
            raise InvalidParamsError(
                f"Unknown prompt: {params.name!r:.60}. {self._table.near(params.name)}",
                data={"prompt": params.name},
            )
        return await prompt.fill(params, context)


def _invalid_arguments(prompt: str, found: Sequence[Problem]) -> InvalidParamsError:
    placed = [replace(problem, pointer="/arguments" + problem.pointer) for problem in found]
    return InvalidParamsError(
        f"Prompt {prompt!r}: {enumerated(placed)}",
        data={
            "prompt": prompt,
            "problems": [problem.to_json() for problem in placed[:MOST_PROBLEMS]],
        },
    )
