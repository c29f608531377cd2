"""The registry of what a server offers: tools, resources, prompts and completions (MCP).

`Server` inherits the decorators from here and adds the sessions.
"""

from __future__ import annotations

__all__ = ("Registry", "Rows")

import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any, TypeVar, overload

from kinwire.managers.listing import Listing
from kinwire.mcp.completion import CompletionTable
from kinwire.mcp.handlers import takes_context
from kinwire.mcp.prompts import HandlerPrompt, PromptTable, RegisteredPrompt, prompt_from_function
from kinwire.mcp.resources import (
    HandlerResource,
    RegisteredResource,
    ResourceTable,
    address_of,
    resource_from_function,
)
from kinwire.mcp.rules.json_schema import JsonSchema
from kinwire.mcp.rules.pagination import ListName
from kinwire.mcp.tools import HandlerTool, RegisteredTool, ToolTable, tool_from_function
from kinwire.rpc.errors import HandlerDefinitionError, ToolDefinitionError
from kinwire.support.arguments import (
    FUNCTION,
    SECONDS_OR_ZERO,
    TEXT,
    TEXTS,
    ArgumentCheck,
    instance_of,
)
from kinwire_protocols import mcp
from kinwire_protocols.base import to_wire
from kinwire_protocols.mcp import methods
from kinwire_protocols.peer import Method

F = TypeVar("F", bound=Callable[..., Any])
Rows = Mapping[Method[Any, Any], Callable[..., Any]]


_TOOL = ArgumentCheck(
    "Server.tool",
    "@server.tool()",
    {"function": FUNCTION},
    ToolDefinitionError,
    name=TEXT.or_none,
    description=TEXT.or_none,
    type=TEXT.or_none,
    promise_after=SECONDS_OR_ZERO.or_none,
)
_ADD_TOOL = ArgumentCheck(
    "Server.add_tool",
    'server.add_tool(mcp.Tool(name="...", input_schema=mcp.ToolInputSchema()), handler)',
    {"definition": instance_of(mcp.Tool, "mcp.Tool", "..."), "handler": FUNCTION},
    ToolDefinitionError,
    aliases=TEXTS,
    promise_after=SECONDS_OR_ZERO.or_none,
)
_REMOVE_TOOL = ArgumentCheck("Server.remove_tool", 'server.remove_tool("...")', {"name": TEXT})
_RESOURCE = ArgumentCheck(
    "Server.resource",
    '@server.resource("notes://all")',
    {"uri": TEXT},
    HandlerDefinitionError,
    name=TEXT.or_none,
    description=TEXT.or_none,
    mime_type=TEXT.or_none,
)
_ADD_RESOURCE = ArgumentCheck(
    "Server.add_resource",
    'server.add_resource(mcp.Resource(uri="notes://all", name="..."), handler)',
    {
        "definition": instance_of(
            (mcp.Resource, mcp.ResourceTemplate), "mcp.Resource or mcp.ResourceTemplate", "..."
        ),
        "handler": FUNCTION,
    },
    HandlerDefinitionError,
)
_REMOVE_RESOURCE = ArgumentCheck(
    "Server.remove_resource", 'server.remove_resource("notes://all")', {"uri": TEXT}
)
_PROMPT = ArgumentCheck(
    "Server.prompt",
    "@server.prompt()",
    {"function": FUNCTION},
    HandlerDefinitionError,
    name=TEXT.or_none,
    description=TEXT.or_none,
)
_ADD_PROMPT = ArgumentCheck(
    "Server.add_prompt",
    'server.add_prompt(mcp.Prompt(name="..."), handler)',
    {"definition": instance_of(mcp.Prompt, "mcp.Prompt", "..."), "handler": FUNCTION},
    HandlerDefinitionError,
)
_REMOVE_PROMPT = ArgumentCheck(
    "Server.remove_prompt", 'server.remove_prompt("...")', {"name": TEXT}
)
_COMPLETION = ArgumentCheck(
    "Server.completion",
    '@server.completion("PROMPT OR TEMPLATE", "ARGUMENT")',
    {"owner": TEXT, "argument": TEXT},
    HandlerDefinitionError,
)


class Registry(ABC):
    """Register functions as tools, resources and prompts.

    They may be added and removed while sessions are open. Clients get one notification that a list
    has changed, however much changed at a time. Call these methods in the thread of the event loop,
    or in a worker thread of anyio, such as that of a plain function that is a tool.
    """

    def __init__(self, page_size: int) -> None:
        """Make an empty registry; a page of a list has `page_size` entries at most."""
        key = secrets.token_bytes(16)
        listing = partial(Listing, size=page_size, key=key)
        self._tools = ToolTable(
            listing("tools/list", "tools"),
            partial(self._announce, methods.NOTIFICATIONS_TOOLS_LIST_CHANGED),
        )
        self._prompts = PromptTable(
            listing("prompts/list", "prompts"),
            partial(self._announce, methods.NOTIFICATIONS_PROMPTS_LIST_CHANGED),
        )
        self._resources = ResourceTable(
            listing("resources/list", "resources"),
            listing("resources/templates/list", "resourceTemplates"),
            partial(self._announce, methods.NOTIFICATIONS_RESOURCES_LIST_CHANGED),
        )
        self._completions = CompletionTable(self._prompts, self._resources)

    @property
    def tool_table(self) -> ToolTable:
        """The tools, for other protocols that serve them, too."""
        return self._tools

    @overload
    def tool(self, function: F, /) -> F: ...
    @overload
    def tool(
        self,
        /,
        *,
        name: str | None = None,
        description: str | None = None,
        type: str | None = None,
        promise_after: float | None = None,
    ) -> Callable[[F], F]: ...
    def tool(
        self,
        function: F | None = None,
        /,
        *,
        name: str | None = None,
        description: str | None = None,
        type: str | None = None,
        promise_after: float | None = None,
    ) -> F | Callable[[F], F]:
        """Register a function as a tool; the decorated function is returned unchanged.

        Clients see its name, docstring and type hints; `name` and `description` replace the first
        two. A plain function runs in a worker thread. A parameter annotated `Context` gets the
        context of the request. Raise `ToolError` to report a failure to the caller's model.

        `type` is a category of your own, such as `query`: the lists of both MCP and MCP-lite show
        it as `@type`. A call that is not over after `promise_after` seconds is answered by a
        promise over MCP-lite, and its work goes on; 0 for always. Over MCP it is awaited. A tool
        that returns `Promised` needs it, too.

        Raises:
            ToolDefinitionError: the function cannot be a tool.
            HandlerDefinitionError: `tools/list` or `tools/call` has a handler of your own.
        """

        _check_decorator(_TOOL, function, name=name, description=description)
        _TOOL.check(type=type, promise_after=promise_after)

        def add(function: F) -> F:
            self._add_tool(
                tool_from_function(
                    function,
                    name=name,
                    description=description,
                    type=type,
                    promise_after=promise_after,
                )
            )
            return function

        return add if function is None else add(function)

    def add_tool(
        self,
        definition: mcp.Tool,
        handler: Callable[..., Any],
        *,
        aliases: Collection[str] = (),
        promise_after: float | None = None,
    ) -> None:
        """Register a tool with its own schema.

        `handler` is an `async` function of (params) or of (params, context), as for
        `server.on.tools_call`, and may return what a tool function may return. It is not called
        with arguments that break the schema. Clients can call the tool by each of `aliases`, too,
        which the list does not show; the name of another tool comes before an alias.
        `promise_after` is as for `tool`.

        Raises:
            ToolDefinitionError: the name is in use, or a keyword of the schema is not supported.
            HandlerDefinitionError: the handler has a wrong signature, or `tools/list` or
                `tools/call` has a handler of your own.
        """
        _ADD_TOOL.check(
            definition=definition, handler=handler, aliases=aliases, promise_after=promise_after
        )
        wire = to_wire(definition)
        try:
            schema = JsonSchema(wire["inputSchema"])
        except ValueError as error:
            raise ToolDefinitionError(f"Tool {definition.name!r}: {error}") from None
        serve = _with_context(methods.TOOLS_CALL, handler)
        tool = HandlerTool(wire, schema, serve, promise_after)
        self._add_tool(tool, aliases)

    def add_registered_tool(self, tool: RegisteredTool) -> None:
        """Register a tool that checks its arguments by itself: for tools of extensions.

        Raises:
            ToolDefinitionError: the name is in use.
            HandlerDefinitionError: `tools/list` or `tools/call` has a handler of your own.
        """
        self._add_tool(tool)

    def remove_tool(self, name: str) -> None:
        """Remove a tool, also from open sessions; calls in progress finish.

        Raises:
            KeyError: no tool has this name.
        """
        _REMOVE_TOOL.check(name=name)
        self._tools.remove(name)

    def resource(
        self,
        uri: str,
        /,
        *,
        name: str | None = None,
        description: str | None = None,
        mime_type: str | None = None,
    ) -> Callable[[F], F]:
        """Register a function as the resource at `uri`, or as the resources of a template.

        `notes://{id}` is a template (RFC 6570, levels 1 to 3, and lists `{/path*}`): the function
        has a parameter for each variable, made from its text, and a default where the variable may
        be absent. `name` and `description` replace the function's name and docstring. The function
        returns text, bytes, contents of `mcp`, lists of these, or what JSON can hold. A plain
        function runs in a worker thread; a parameter annotated `Context` gets the context of the
        request. A URI belongs to the resource with this address, else to the first template that
        matches.

        Raises:
            HandlerDefinitionError: the function or the template cannot be used, the address is in
                use, or a method of resources has a handler of your own.
        """

        _RESOURCE.check(uri=uri, name=name, description=description, mime_type=mime_type)

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
        """Register a resource, or a template of resources, with its own definition.

        `handler` is an `async` function of (params) or of (params, context), as for
        `server.on.resources_read`, and may return what a resource function may return.

        Raises:
            HandlerDefinitionError: the handler or the template cannot be used, the address is in
                use, or a method of resources has a handler of your own.
        """
        _ADD_RESOURCE.check(definition=definition, handler=handler)
        if isinstance(definition, mcp.Resource):
            address = address_of(definition.uri, may_be_template=False)
        else:
            address = address_of(definition.uri_template)
        serve = _with_context(methods.RESOURCES_READ, handler)
        self._add_resource(HandlerResource(address, to_wire(definition), serve))

    def remove_resource(self, uri: str) -> None:
        """Remove a resource or a template, also from open sessions; reads in progress finish.

        Raises:
            KeyError: no resource has this address.
        """
        _REMOVE_RESOURCE.check(uri=uri)
        self._resources.remove(uri)
        self._completions.remove(uri)

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
        """Register a function as a prompt; the decorated function is returned unchanged.

        Its parameters are the arguments of the prompt. They arrive as text and are converted to
        their type hints; those with a default may be left out. The function returns text or
        content, which become messages of the user, `mcp.PromptMessage`, or a list of these. The
        rest is as for `tool`.

        Raises:
            HandlerDefinitionError: the function cannot be a prompt, the name is in use, or
                `prompts/list` or `prompts/get` has a handler of your own.
        """

        _check_decorator(_PROMPT, function, name=name, description=description)

        def add(function: F) -> F:
            self._add_prompt(prompt_from_function(function, name=name, description=description))
            return function

        return add if function is None else add(function)

    def add_prompt(self, definition: mcp.Prompt, handler: Callable[..., Any]) -> None:
        """Register a prompt with its own definition.

        `handler` is an `async` function of (params) or of (params, context), as for
        `server.on.prompts_get`, and may return what a prompt function may return.

        Raises:
            HandlerDefinitionError: the handler has a wrong signature, the name is in use, or
                `prompts/list` or `prompts/get` has a handler of your own.
        """
        _ADD_PROMPT.check(definition=definition, handler=handler)
        serve = _with_context(methods.PROMPTS_GET, handler)
        self._add_prompt(HandlerPrompt(to_wire(definition), serve))

    def remove_prompt(self, name: str) -> None:
        """Remove a prompt, also from open sessions; requests in progress finish.

        Raises:
            KeyError: no prompt has this name.
        """
        _REMOVE_PROMPT.check(name=name)
        self._prompts.remove(name)
        self._completions.remove(name)

    def completion(self, owner: str, argument: str, /) -> Callable[[F], F]:
        """Register a completer of an argument of a prompt, or of a variable of a template.

        `owner` is the name of the prompt, or the text of the template. The function takes what has
        been typed so far, and the `Context` if it has a second parameter, and returns the
        suggestions, the likeliest first. Clients get the first 100, and their total number.
        `mcp.Completion` is sent unchanged.

        Raises:
            HandlerDefinitionError: unknown prompt, template or argument, a second completer of
                the same argument, a function that cannot be used, or `completion/complete` has a
                handler of your own.
        """

        _COMPLETION.check(owner=owner, argument=argument)

        def add(function: F) -> F:
            self._completions.add(owner, argument, function)
            self._serve_rows({methods.COMPLETION_COMPLETE: self._completions.complete})
            return function

        return add

    def _add_tool(self, tool: RegisteredTool, aliases: Collection[str] = ()) -> None:
        self._serve_tools()
        self._tools.add(tool, aliases)

    def _add_resource(self, resource: RegisteredResource) -> None:
        self._serve_resources()
        self._resources.add(resource)

    def _add_prompt(self, prompt: RegisteredPrompt) -> None:
        self._serve_prompts()
        self._prompts.add(prompt)

    def _serve_lists(self, names: Collection[ListName]) -> None:
        """Serve these lists although they are empty."""
        if "tools" in names:
            self._serve_tools()
        if "resources" in names:
            self._serve_resources()
        if "prompts" in names:
            self._serve_prompts()

    def _serve_tools(self) -> None:
        self._serve_rows(
            {methods.TOOLS_LIST: self._tools.list, methods.TOOLS_CALL: self._tools.call},
            methods.NOTIFICATIONS_TOOLS_LIST_CHANGED,
        )

    def _serve_prompts(self) -> None:
        self._serve_rows(
            {methods.PROMPTS_LIST: self._prompts.list, methods.PROMPTS_GET: self._prompts.get},
            methods.NOTIFICATIONS_PROMPTS_LIST_CHANGED,
        )

    def _serve_resources(self) -> None:
        self._serve_rows(
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
    def _serve_rows(self, rows: Rows, sent: Method[Any, Any] | None = None) -> None:
        """Serve `rows` from now on, unless they are served already; `sent` may be sent."""

    @abstractmethod
    def _announce(self, row: Method[Any, Any]) -> None:
        """Send a notification without params to all clients that have negotiated it."""

    @abstractmethod
    async def _subscribe(self, params: Any, context: Any) -> Any: ...

    @abstractmethod
    async def _unsubscribe(self, params: Any, context: Any) -> Any: ...


def _check_decorator(
    check: ArgumentCheck, function: object, *, name: object, description: object
) -> None:
    if isinstance(function, str):  # FastMCP takes the name there
        wrong = FUNCTION.refusal("function", function)
        raise check.error("function", wrong._replace(call=check.call_with("name", repr(function))))
    if function is not None:
        check.check(function=function)
    check.check(name=name, description=description)


def _with_context(row: Method[Any, Any], handler: Callable[..., Any]) -> Callable[..., Any]:
    if takes_context(row, handler):
        return handler

    async def with_context(params: Any, context: Any) -> Any:
        return await handler(params)

    return with_context
