"""Resources: what clients can read, at one address or at the addresses of a template (MCP)."""

from __future__ import annotations

__all__ = (
    "FunctionResource",
    "HandlerResource",
    "RegisteredResource",
    "ResourceTable",
    "address_of",
    "not_found",
    "resource_from_function",
)

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from pydantic import ValidationError

from kinwire.managers.entry_table import EntryKind, EntryTable
from kinwire.managers.listing import Listing
from kinwire.mcp.context import Context
from kinwire.mcp.functions.arguments import TextArguments
from kinwire.mcp.functions.docstring import split_docstring
from kinwire.mcp.functions.function import Function, function_of
from kinwire.mcp.functions.parameters import place_of
from kinwire.mcp.functions.results import resource_result
from kinwire.mcp.rules.uri_matching import Variables
from kinwire.mcp.rules.uri_template import UriTemplate
from kinwire.rpc.errors import HandlerDefinitionError
from kinwire.support.sanitize import enumerated
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject

_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


class RegisteredResource(Protocol):
    """An entry of the table: a resource, or a template of resources."""

    @property
    def address(self) -> str | UriTemplate: ...
    @property
    def definition(self) -> JsonObject: ...
    async def read(
        self, params: mcp.ReadResourceRequestParams, variables: Variables, context: Context
    ) -> JsonObject: ...


@dataclass(frozen=True, slots=True)
class FunctionResource:
    """A function as a resource; its parameters are the variables of the template."""

    address: str | UriTemplate
    definition: JsonObject
    arguments: TextArguments
    function: Function

    async def read(
        self, params: mcp.ReadResourceRequestParams, variables: Variables, context: Context
    ) -> JsonObject:
        """Run the function and return its result as JSON.

        Raises:
            ResourceNotFoundError: a variable of the URI does not fit its parameter.
        """
        try:
            given = self.arguments.check(variables)
        except ValidationError as error:
            found = list(self.arguments.problems(error, variables))
            raise not_found(params.uri, enumerated(found)) from None
        if self.arguments.context_name is not None:
            given[self.arguments.context_name] = self.arguments.context_kind.of(context)
        value = await self.function.run(given)
        return resource_result(value, params.uri, self.definition.get("mimeType"))


@dataclass(frozen=True, slots=True)
class HandlerResource:
    """A resource made from its definition and a handler of `resources/read` for it only."""

    address: str | UriTemplate
    definition: JsonObject
    handler: Callable[[mcp.ReadResourceRequestParams, Context], Any]

    async def read(
        self, params: mcp.ReadResourceRequestParams, variables: Variables, context: Context
    ) -> JsonObject:
        """Run the handler and return its result as JSON."""
        value = await self.handler(params, context)
        return resource_result(value, params.uri, self.definition.get("mimeType"))


def address_of(uri: str, *, may_be_template: bool = True) -> str | UriTemplate:
    """Return `uri`, or the template that it is if it has braces and `may_be_template`.

    Raises:
        HandlerDefinitionError: invalid URI or template; the message says why and how to fix it.
    """
    if not _ABSOLUTE.match(uri):
        raise HandlerDefinitionError(
            f"Resource {uri!r:.200}: expected an absolute URI. Begin with a scheme: notes://..."
        )
    if not may_be_template or not ("{" in uri or "}" in uri):
        return uri
    try:
        return UriTemplate(uri)
    except ValueError as error:
        raise HandlerDefinitionError(str(error)) from None


def resource_from_function(
    function: Callable[..., Any],
    uri: str,
    *,
    name: str | None = None,
    description: str | None = None,
    mime_type: str | None = None,
) -> FunctionResource:
    """Make the resource, or the template of resources, at `uri` from `function`.

    Raises:
        HandlerDefinitionError: the function or the URI cannot be used; the message says why and
            how to fix it.
    """
    address = address_of(uri)
    served = function_of(function, HandlerDefinitionError)
    text, descriptions = split_docstring(function.__doc__)
    variables = address.names if isinstance(address, UriTemplate) else {}
    lists = [variable for variable, is_list in variables.items() if is_list]
    arguments = TextArguments(function, descriptions, lists)
    _check_parameters(function, arguments, uri, variables)
    shown = text if description is None else description
    definition: JsonObject = {
        "uriTemplate" if isinstance(address, UriTemplate) else "uri": uri,
        "name": function.__name__ if name is None else name,
        **({"description": shown} if shown else {}),
        **({"mimeType": mime_type} if mime_type is not None else {}),
    }
    return FunctionResource(address, definition, arguments, served)


def _check_parameters(
    function: Callable[..., Any], arguments: TextArguments, uri: str, variables: Iterable[str]
) -> None:
    missing = [name for name in variables if name not in arguments.names]
    unknown = [name for name in arguments.names if name not in variables]
    if missing or unknown:
        hint = (
            f"Add a parameter {missing[0]}."
            if missing
            else f"Write {{{unknown[0]}}} into the template, or remove the parameter."
        )
        raise HandlerDefinitionError(
            f"{place_of(function)}: expected the variables of {uri!r} as parameters, "
            f"got ({', '.join(arguments.names)}). {hint}"
        )


_KIND = EntryKind(
    "Resource",
    "an address",
    "Remove the other resource first.",
    HandlerDefinitionError,
)


class ResourceTable:
    """The resources of one server; may change while sessions are open."""

    def __init__(self, resources: Listing, templates: Listing, changed: Callable[[], None]) -> None:
        self._resources = EntryTable[RegisteredResource](_KIND, resources, changed)
        self._templates = EntryTable[RegisteredResource](_KIND, templates, changed)
        self._matchers: dict[str, UriTemplate] = {}

    def add(self, resource: RegisteredResource) -> None:
        """Add a resource or a template.

        Raises:
            HandlerDefinitionError: the address is in use, or JSON cannot hold the definition.
        """
        address = resource.address
        if isinstance(address, str):
            self._add(self._resources, address, resource)
        else:
            self._add(self._templates, address.text, resource)
            self._matchers[address.text] = address

    def _add(
        self, table: EntryTable[RegisteredResource], uri: str, resource: RegisteredResource
    ) -> None:
        if uri in self._resources.entries or uri in self._templates.entries:
            raise table.taken(uri)
        table.add(uri, resource)

    def remove(self, uri: str) -> None:
        """Remove a resource or a template; reads in progress finish.

        Raises:
            KeyError: no resource has this address.
        """
        if self._matchers.pop(uri, None) is None:
            self._resources.remove(uri)
        else:
            self._templates.remove(uri)

    def template(self, text: str) -> UriTemplate | None:
        """Return the template with this text, None if the server has no such template."""
        return self._matchers.get(text)

    def has(self, uri: str) -> bool:
        """Return whether a resource has the address `uri`, or a template matches it."""
        return self._find(uri) is not None

    async def list(self, params: mcp.PaginatedRequestParams) -> JsonObject:
        """Answer `resources/list`."""
        return self._resources.page(params.cursor)

    async def list_templates(self, params: mcp.PaginatedRequestParams) -> JsonObject:
        """Answer `resources/templates/list`."""
        return self._templates.page(params.cursor)

    async def read(self, params: mcp.ReadResourceRequestParams, context: Context) -> JsonObject:
        """Answer `resources/read`."""
        found = self._find(params.uri)
        if found is None:
            raise not_found(params.uri)
        resource, variables = found
        try:
            return await resource.read(params, variables, context)
        except mcp.ResourceNotFoundError as error:
            if error.data is not None:
                raise
            # The function may leave the URI out, and may raise the same error object again.
            data = {"uri": params.uri}
            raise mcp.ResourceNotFoundError(error.message, data=data, code=error.code) from error

    def _find(self, uri: str) -> tuple[RegisteredResource, Variables] | None:
        resource = self._resources.entries.get(uri)
        if resource is not None:
            return resource, {}
        for text, template in self._matchers.items():
            variables = template.match(uri)
            if variables is not None:
                return self._templates.entries[text], variables
        return None


def not_found(
    uri: str, why: str = "resources/list and resources/templates/list name those there are"
) -> mcp.ResourceNotFoundError:
    """Return the error for `uri`, which cannot be read; `why` explains it."""
    return mcp.ResourceNotFoundError(f"Resource not found: {uri!r:.200} ({why})", data={"uri": uri})
