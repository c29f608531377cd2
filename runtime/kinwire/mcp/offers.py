"""What a server offers to models and people: tools, resources, prompts and completions (MCP).

`Server` inherits the decorators from here and adds the sessions that all of it is offered to.
"""

from __future__ import annotations

__all__ = ("OfferKind", "Offers", "Rows")

import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any, Literal, TypeVar, overload

from kinwire.mcp.completion import CompletionTable
from kinwire.mcp.handlers import takes_context
from kinwire.mcp.prompts import HandlerPrompt, Prompt, PromptTable, prompt_from_function
from kinwire.mcp.resources import (
    HandlerResource,
    Resource,
    ResourceTable,
    address_of,
    resource_from_function,
)
from kinwire.mcp.rules.json_schema import JsonSchema
from kinwire.mcp.rules.listing import Listing
from kinwire.mcp.tools import HandlerTool, Tool, ToolTable, tool_from_function
from kinwire.rpc.errors import ToolDefinitionError
from kinwire_protocols import mcp
from kinwire_protocols.base import to_wire
from kinwire_protocols.mcp import methods
from kinwire_protocols.peer import Method

F = TypeVar("F", bound=Callable[..., Any])
OfferKind = Literal["tools", "resources", "prompts"]
Rows = Mapping[Method[Any, Any], Callable[..., Any]]


class Offers(ABC):
    """Functions as tools, resources and prompts. They may come and go while sessions are open:
    clients are told that a list has changed, once however much changed at a time.

    Call these where the event loop runs, or in a worker thread of anyio, such as that of a plain
    function that is a tool.
    """

    def __init__(self, page_size: int) -> None:
        """Begin with nothing; a page of a list has `page_size` entries at most.

        Raises:
            ValueError: `page_size` is below 1.
        """
        if page_size < 1:
            raise ValueError(f"page_size: expected 1 or more, got {page_size}")
        key = secrets.token_bytes(16)
        listing = partial(Listing, size=page_size, key=key)
        self._tools = ToolTable(listing("tools/list", "tools"))
        self._prompts = PromptTable(listing("prompts/list", "prompts"))
        self._resources = ResourceTable(
            listing("resources/list", "resources"),
            listing("resources/templates/list", "resourceTemplates"),
        )
        self._completions = CompletionTable(self._prompts, self._resources)

    @overload
    def tool(self, function: F, /) -> F: ...
    @overload
    def tool(
        self, /, *, name: str | None = None, description: str | None = None
    ) -> Callable[[F], F]: ...
    def tool(
        self,
        function: F | None = None,
        /,
        *,
        name: str | None = None,
        description: str | None = None,
    ) -> F | Callable[[F], F]:
        """Offer a function as a tool; the decorated function stays as it is.

        Its name, docstring and type hints are what clients see; `name` and `description` replace
        the first two. A plain function runs in a worker thread. A parameter annotated `Context`
        gets the request's. Raise `ToolError` to tell the caller's model what went wrong.

        Raises:
            ToolDefinitionError: the function cannot be a tool.
            HandlerDefinitionError: `tools/list` or `tools/call` has a handler of your own.
        """

        def add(function: F) -> F:
            self._add_tool(tool_from_function(function, name=name, description=description))
            return function

        return add if function is None else add(function)

    def add_tool(self, definition: mcp.Tool, handler: Callable[..., Any]) -> None:
        """Offer a tool whose schema you give.

        `handler` is an `async` function of (params) or of (params, context), as for
        `server.on.tools_call`, and may return whatever a tool may. Arguments that break the schema
        do not reach it.

        Raises:
            ToolDefinitionError: the name is in use, or the schema has what cannot be checked.
            HandlerDefinitionError: the handler cannot be one, or `tools/list` or `tools/call` has
                a handler of your own.
        """
        wire = to_wire(definition)
        try:
            schema = JsonSchema(wire["inputSchema"])
        except ValueError as error:
            raise ToolDefinitionError(f"Tool {definition.name!r}: {error}") from None
        self._add_tool(HandlerTool(wire, schema, _with_context(methods.TOOLS_CALL, handler)))

    def remove_tool(self, name: str) -> None:
        """Withdraw a tool, also from open sessions; calls under way finish.

        Raises:
            KeyError: there is no tool of this name.
        """
        self._tools.remove(name)
        self._announce(methods.NOTIFICATIONS_TOOLS_LIST_CHANGED)

    def resource(
        self,
        uri: str,
        /,
        *,
        name: str | None = None,
        description: str | None = None,
        mime_type: str | None = None,
    ) -> Callable[[F], F]:
        """Offer what a function returns as the resource at `uri`, or as those of a template.

        `notes://{id}` is a template (RFC 6570, levels 1 to 3, and lists `{/path*}`): the function
        has a parameter for each variable, made from its text, and a default where it may be
        absent. `name` and `description` replace the function's name and docstring. Text, bytes,
        contents of `mcp`, lists of these, and what JSON can hold may be returned. A plain function
        runs in a worker thread; a parameter annotated `Context` gets the request's. A URI belongs
        to the resource that has it, else to the first template that fits.

        Raises:
            HandlerDefinitionError: the function or the template cannot be used, the address is in
                use, or a method of resources has a handler of your own.
        """

        def add(function: F) -> F:
            self._add_resource(
                resource_from_function(
                    function, uri, name=name, description=description, mime_type=mime_type
                )
            )
            return function

        return add

    def add_resource(
        self, definition: mcp.Resource | mcp.ResourceTemplate, handler: Callable[..., Any]
    ) -> None:
        """Offer a resource, or a template of resources, by its definition.

        `handler` is an `async` function of (params) or of (params, context), as for
        `server.on.resources_read`, and may return whatever a resource may.

        Raises:
            HandlerDefinitionError: the handler or the template cannot be used, the address is in
                use, or a method of resources has a handler of your own.
        """
        if isinstance(definition, mcp.Resource):
            address = address_of(definition.uri, may_be_template=False)
        else:
            address = address_of(definition.uri_template)
        serve = _with_context(methods.RESOURCES_READ, handler)
        self._add_resource(HandlerResource(address, to_wire(definition), serve))

    def remove_resource(self, uri: str) -> None:
        """Withdraw a resource or a template, also from open sessions; reads under way finish.

        Raises:
            KeyError: there is none at this address.
        """
        self._resources.remove(uri)
        self._completions.forget(uri)
        self._announce(methods.NOTIFICATIONS_RESOURCES_LIST_CHANGED)

    @overload
    def prompt(self, function: F, /) -> F: ...
    @overload
    def prompt(
        self, /, *, name: str | None = None, description: str | None = None
    ) -> Callable[[F], F]: ...
    def prompt(
        self,
        function: F | None = None,
        /,
        *,
        name: str | None = None,
        description: str | None = None,
    ) -> F | Callable[[F], F]:
        """Offer a function as a prompt; the decorated function stays as it is.

        Its parameters are the arguments, which arrive as text and become what the type hints say;
        those with a default may be left out. It returns text or content, which become messages of
        the user, `mcp.PromptMessage`, or a list of these. All else is as for `tool`.

        Raises:
            HandlerDefinitionError: the function cannot be a prompt, the name is in use, or
                `prompts/list` or `prompts/get` has a handler of your own.
        """

        def add(function: F) -> F:
            self._add_prompt(prompt_from_function(function, name=name, description=description))
            return function

        return add if function is None else add(function)

    def add_prompt(self, definition: mcp.Prompt, handler: Callable[..., Any]) -> None:
        """Offer a prompt by its definition.

        `handler` is an `async` function of (params) or of (params, context), as for
        `server.on.prompts_get`, and may return whatever a prompt may.

        Raises:
            HandlerDefinitionError: the handler cannot be one, the name is in use, or
                `prompts/list` or `prompts/get` has a handler of your own.
        """
        serve = _with_context(methods.PROMPTS_GET, handler)
        self._add_prompt(HandlerPrompt(to_wire(definition), serve))

    def remove_prompt(self, name: str) -> None:
        """Withdraw a prompt, also from open sessions; requests under way finish.

        Raises:
            KeyError: there is no prompt of this name.
        """
        self._prompts.remove(name)
        self._completions.forget(name)
        self._announce(methods.NOTIFICATIONS_PROMPTS_LIST_CHANGED)

    def completion(self, owner: str, argument: str, /) -> Callable[[F], F]:
        """Suggest values for an argument of the prompt `owner`, or a variable of that template.

        The function takes what has been typed so far, and the `Context` if it has a second
        parameter, and returns the suggestions, the likeliest first; clients get the first 100 and
        are told how many there are. `mcp.Completion` goes out as it is.

        Raises:
            HandlerDefinitionError: there is no such prompt, template or argument, it has
                suggestions already, the function cannot be used, or `completion/complete` has a
                handler of your own.
        """

        def add(function: F) -> F:
            self._completions.add(owner, argument, function)
            self._begin({methods.COMPLETION_COMPLETE: self._completions.complete})
            return function

        return add

    def _add_tool(self, tool: Tool) -> None:
        self._serve_tools()
        self._tools.add(tool)
        self._announce(methods.NOTIFICATIONS_TOOLS_LIST_CHANGED)

    def _add_resource(self, resource: Resource) -> None:
        self._serve_resources()
        self._resources.add(resource)
        self._announce(methods.NOTIFICATIONS_RESOURCES_LIST_CHANGED)

    def _add_prompt(self, prompt: Prompt) -> None:
        self._serve_prompts()
        self._prompts.add(prompt)
        self._announce(methods.NOTIFICATIONS_PROMPTS_LIST_CHANGED)

    def _promise(self, kinds: Collection[OfferKind]) -> None:
        """Serve the lists of these kinds already, though they are empty."""
        if "tools" in kinds:
            self._serve_tools()
        if "resources" in kinds:
            self._serve_resources()
        if "prompts" in kinds:
            self._serve_prompts()

    def _serve_tools(self) -> None:
        self._begin(
            {methods.TOOLS_LIST: self._tools.list, methods.TOOLS_CALL: self._tools.call},
            methods.NOTIFICATIONS_TOOLS_LIST_CHANGED,
        )

    def _serve_prompts(self) -> None:
        self._begin(
            {methods.PROMPTS_LIST: self._prompts.list, methods.PROMPTS_GET: self._prompts.get},
            methods.NOTIFICATIONS_PROMPTS_LIST_CHANGED,
        )

    def _serve_resources(self) -> None:
        self._begin(
            {
                methods.RESOURCES_LIST: self._resources.list,
                methods.RESOURCES_TEMPLATES_LIST: self._resources.list_templates,
                methods.RESOURCES_READ: self._resources.read,
                methods.RESOURCES_SUBSCRIBE: self._subscribe,
                methods.RESOURCES_UNSUBSCRIBE: self._unsubscribe,
            },
            methods.NOTIFICATIONS_RESOURCES_LIST_CHANGED,
        )

    @abstractmethod
    def _begin(self, rows: Rows, sent: Method[Any, Any] | None = None) -> None:
        """Serve `rows` from now on, if they are not served so already; `sent` will be sent."""

    @abstractmethod
    def _announce(self, row: Method[Any, Any]) -> None:
        """Send a notification without params to all clients that it was promised to."""

    @abstractmethod
    async def _subscribe(self, params: Any, context: Any) -> Any: ...

    @abstractmethod
    async def _unsubscribe(self, params: Any, context: Any) -> Any: ...


def _with_context(row: Method[Any, Any], handler: Callable[..., Any]) -> Callable[..., Any]:
    if takes_context(row, handler):
        return handler

    async def with_context(params: Any, context: Any) -> Any:
        return await handler(params)

    return with_context
