"""Prompts: messages that a server fills with the user's words (MCP, Prompts)."""

from __future__ import annotations

__all__ = ("HandlerPrompt", "Prompt", "PromptTable", "prompt_from_function")

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from pydantic import ValidationError

from kinwire.mcp.content import BLOCKS, items_of, text_block
from kinwire.mcp.context import Context
from kinwire.mcp.functions.docstring import split_docstring
from kinwire.mcp.functions.function import Function, function_of
from kinwire.mcp.functions.text_arguments import TextArguments
from kinwire.mcp.pages import page_of
from kinwire.mcp.rules.listing import Listing
from kinwire.rpc.errors import HandlerDefinitionError
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject, to_wire
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.nearest import nearest


class Prompt(Protocol):
    """What the table holds."""

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
            InvalidParamsError: an argument is missing, unknown or not what the function takes.
        """
        arguments = params.arguments or {}
        try:
            given = self.arguments.check(arguments)
        except ValidationError as error:
            found = list(self.arguments.problems(error, arguments))
            raise _refused(params.name, str(found[0])) from None
        if self.arguments.context_name is not None:
            given[self.arguments.context_name] = context
        return prompt_result(await self.function.run(given), self.definition)


@dataclass(frozen=True, slots=True)
class HandlerPrompt:
    """A prompt given by its definition, and a handler of `prompts/get` for it alone."""

    definition: JsonObject
    handler: Callable[[mcp.GetPromptRequestParams, Context], Any]

    async def fill(self, params: mcp.GetPromptRequestParams, context: Context) -> JsonObject:
        """Check that the required arguments are there, and run the handler.

        Raises:
            InvalidParamsError: one is missing.
        """
        given: Mapping[str, str] = params.arguments or {}
        for argument in self.definition.get("arguments", ()):
            if argument.get("required") and argument["name"] not in given:
                raise _refused(params.name, f"/{argument['name']}: expected a value, got nothing")
        return prompt_result(await self.handler(params, context), self.definition)


def prompt_from_function(
    function: Callable[..., Any], *, name: str | None = None, description: str | None = None
) -> FunctionPrompt:
    """Return `function` as a prompt.

    Raises:
        HandlerDefinitionError: it cannot be one; the message says why and the mend.
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


def prompt_result(value: object, definition: JsonObject) -> JsonObject:
    """Return the result that says `value`.

    Text and content blocks become messages of the user; messages, lists with any of them and
    whole results go out as they are.

    Raises:
        TypeError: the value is none of these.
    """
    if isinstance(value, mcp.GetPromptResult):
        return to_wire(value)
    messages = [_message(item) for item in items_of(value)]
    if "description" in definition:
        return {"description": definition["description"], "messages": messages}
    return {"messages": messages}


def _message(value: object) -> JsonObject:
    if isinstance(value, mcp.PromptMessage):
        return to_wire(value)
    if isinstance(value, str):
        return {"role": "user", "content": text_block(value)}
    if isinstance(value, BLOCKS):
        return {"role": "user", "content": to_wire(value)}
    raise TypeError(
        f"a prompt: expected text, messages or content, got {type(value).__name__}. "
        "Return mcp.PromptMessage for messages of other kinds."
    )


class PromptTable:
    """The prompts of one server; may change while sessions are open."""

    def __init__(self, listed: Listing) -> None:
        self._listed = listed
        self._prompts: dict[str, Prompt] = {}

    def add(self, prompt: Prompt) -> None:
        """Add a prompt.

        Raises:
            HandlerDefinitionError: there is a prompt of this name.
        """
        name: str = prompt.definition["name"]
        if name in self._prompts:
            raise HandlerDefinitionError(
                f"Prompt {name!r}: expected a name that is free, got one in use. "
                "Give name=..., or remove the other prompt first."
            )
        self._listed.add(name, prompt.definition)
        self._prompts[name] = prompt

    def remove(self, name: str) -> None:
        """Remove a prompt; requests that are under way finish.

        Raises:
            KeyError: there is no prompt of this name.
        """
        del self._prompts[name]
        self._listed.remove(name)

    def arguments(self, name: str) -> list[str] | None:
        """Return the names of a prompt's arguments, None if there is no such prompt."""
        prompt = self._prompts.get(name)
        if prompt is None:
            return None
        return [argument["name"] for argument in prompt.definition.get("arguments", ())]

    async def list(self, params: mcp.PaginatedRequestParams) -> JsonObject:
        """Answer `prompts/list`."""
        return page_of(self._listed, params)

    async def get(self, params: mcp.GetPromptRequestParams, context: Context) -> JsonObject:
        """Answer `prompts/get`."""
        prompt = self._prompts.get(params.name)
        if prompt is None:
            near = nearest(params.name, self._prompts)
            hint = f"Did you mean {near!r}?" if near else "prompts/list names those there are."
            raise InvalidParamsError(
                f"Unknown prompt: {params.name!r:.60}. {hint}", data={"prompt": params.name}
            )
        return await prompt.fill(params, context)


def _refused(prompt: str, why: str) -> InvalidParamsError:
    return InvalidParamsError(f"Prompt {prompt!r}: /arguments{why}", data={"prompt": prompt})
