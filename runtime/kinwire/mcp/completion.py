"""Suggestions for prompt arguments and template variables (MCP, Completion)."""

from __future__ import annotations

__all__ = ("CompletionTable",)

import inspect
from collections.abc import Callable, Collection, Iterable
from typing import Any, cast

from kinwire.mcp.context import Context
from kinwire.mcp.functions.function import Function, function_of
from kinwire.mcp.functions.parameters import place_of
from kinwire.mcp.prompts import PromptTable
from kinwire.mcp.resources import ResourceTable
from kinwire.rpc.errors import HandlerDefinitionError
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject, UnknownVariant, to_wire
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.nearest import nearest

_MAX_VALUES = 100  # in one answer (MCP, Completion)


class CompletionTable:
    """The completers of one server, by prompt or template and argument."""

    def __init__(self, prompts: PromptTable, resources: ResourceTable) -> None:
        self._prompts = prompts
        self._resources = resources
        self._completers: dict[tuple[str, str], tuple[Function, bool]] = {}

    def add(self, owner: str, argument: str, completer: Callable[..., Any]) -> None:
        """Add the completer of an argument of a prompt, or of a variable of a template.

        Raises:
            HandlerDefinitionError: unknown prompt, template or argument, a second completer of
                the same argument, or a function with a wrong signature.
        """
        where = f"Completion of {owner!r}"
        names = self._names(owner)
        if names is None:
            raise HandlerDefinitionError(
                f"{where}: expected the name of a prompt, or a template, that was added before. "
                "Define it first."
            )
        if argument not in names:
            near = nearest(argument, names)
            hint = f"Write {near!r}." if near else f"Choose one of: {', '.join(names)}."
            raise HandlerDefinitionError(
                f"{where}: expected one of its arguments, got {argument!r}. {hint}"
            )
        if (owner, argument) in self._completers:
            raise HandlerDefinitionError(
                f"{where}: {argument!r} has a completer already. Remove this one."
            )
        function = function_of(completer, HandlerDefinitionError)
        self._completers[owner, argument] = (function, _takes_context(completer))

    def remove(self, owner: str) -> None:
        """Remove the completers of a prompt or template that was removed."""
        for key in [key for key in self._completers if key[0] == owner]:
            del self._completers[key]

    async def complete(self, params: mcp.CompleteRequestParams, context: Context) -> JsonObject:
        """Answer `completion/complete`; an argument without a completer has no suggestions.

        Raises:
            InvalidParamsError: unknown prompt, template, argument or variable.
        """
        ref, name = params.ref, params.argument.name
        if isinstance(ref, UnknownVariant):
            raise InvalidParamsError(
                "completion/complete#/ref/type: expected 'ref/prompt' or 'ref/resource'"
            )
        is_prompt = isinstance(ref, mcp.PromptReference)
        owner = ref.name if isinstance(ref, mcp.PromptReference) else ref.uri
        names = self._prompts.arguments(owner) if is_prompt else self._variables(owner)
        if names is None:
            kind = "prompt" if is_prompt else "resource template"
            raise InvalidParamsError(f"completion/complete#/ref: unknown {kind}: {owner!r:.200}")
        if name not in names:
            raise InvalidParamsError(
                f"completion/complete#/argument/name: expected one of "
                f"{', '.join(names) or 'none'}, got {name!r:.60}"
            )
        found = self._completers.get((owner, name))
        if found is None:
            return _result(())
        completer, takes_context = found
        first, *second = inspect.signature(completer.call).parameters
        given: dict[str, Any] = {first: params.argument.value}
        if takes_context:
            given[second[0]] = context
        return _result(await completer.run(given))

    def _names(self, owner: str) -> Collection[str] | None:
        if "{" in owner:
            return self._variables(owner)
        return self._prompts.arguments(owner)

    def _variables(self, uri: str) -> Collection[str] | None:
        template = self._resources.template(uri)
        if template is not None:
            return template.names
        return () if self._resources.has(uri) else None


def _takes_context(completer: Callable[..., Any]) -> bool:
    parameters = list(inspect.signature(completer).parameters.values())
    plain = [one for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
    if len(parameters) not in (1, 2) or plain != parameters:
        raise HandlerDefinitionError(
            f"{place_of(completer)}: expected parameters (value) or (value, context), got "
            f"{inspect.signature(completer)}. Write `def ...(value: str) -> list[str]`."
        )
    return len(parameters) == 2


def _result(suggested: object) -> JsonObject:
    if isinstance(suggested, mcp.Completion):
        return {"completion": to_wire(suggested)}
    values = _texts(suggested)
    return {
        "completion": {
            "values": values[:_MAX_VALUES],
            "total": len(values),
            "hasMore": len(values) > _MAX_VALUES,
        }
    }


def _texts(suggested: object) -> list[str]:
    if isinstance(suggested, str) or not isinstance(suggested, Iterable):
        raise _not_texts(suggested)  # iterating a string would suggest its letters
    values: list[str] = []
    for value in cast("Iterable[object]", suggested):
        if not isinstance(value, str):
            raise _not_texts(value)
        values.append(value)
    return values


def _not_texts(got: object) -> TypeError:
    return TypeError(
        f"a completer: expected a list of texts, got {type(got).__name__}. Return list[str]."
    )
