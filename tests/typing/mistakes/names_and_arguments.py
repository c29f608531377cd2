"""Names that there are not, and arguments that do not fit; `right_uses.py` does it right.

Below a line is the beginning of what each checker says of it.
"""

from __future__ import annotations

from kinwire import Connection, Context, Host, Limits, RpcError, Server, connect, stdio
from kinwire.mcpl import McplServer
from kinwire_protocols import mcp


def use(*values: object) -> None:
    """Take what would else be no use of a value."""


def making() -> None:
    use(Server("notes"))
    # mypy says: Missing positional argument "version" in call to "Server"  [call-arg]
    # pyright says: Argument missing for parameter "version" (reportCallIssue)
    use(Server("notes", 1.0))
    # mypy says: Argument 2 to "Server" has incompatible type "float"; expected "str"  [arg-type]
    # pyright says: Argument of type "float" cannot be assigned to parameter "version" of type "str" in function "__init__" (reportArgumentType)
    use(Server("notes", "1.0", log_level="loud"))
    # mypy says: Argument "log_level" to "Server" has incompatible type "Literal['loud']"; expected "Literal['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] | None"  [arg-type]
    # pyright says: Argument of type "Literal['loud']" cannot be assigned to parameter "log_level" of type "LoggingLevel | None" in function "__init__" (reportArgumentType)
    use(Server("notes", "1.0", offers=["tool"]))
    # mypy says: List item 0 has incompatible type "Literal['tool']"; expected "Literal['tools', 'resources', 'prompts']"  [list-item]
    # pyright says: Argument of type "list[str]" cannot be assigned to parameter "offers" of type "Collection[ListName]" in function "__init__" (reportArgumentType)
    use(Server("notes", "1.0", instruction="Be brief."))
    # mypy says: Unexpected keyword argument "instruction" for "Server"; did you mean "instructions"?  [call-arg]
    # pyright says: No parameter named "instruction" (reportCallIssue)
    use(Server("notes", "1.0", extensions=[object()]))
    # mypy says: List item 0 has incompatible type "object"; expected "Extension"  [list-item]
    # pyright says: Argument of type "list[object]" cannot be assigned to parameter "extensions" of type "Iterable[Extension]" in function "__init__" (reportArgumentType)
    use(Host("desk", "1.0", limits=Limits(timeout=5)))
    # mypy says: Unexpected keyword argument "timeout" for "Limits"  [call-arg]
    # pyright says: No parameter named "timeout" (reportCallIssue)
    use(Host("desk", "1.0", roots=[5]))
    # mypy says: List item 0 has incompatible type "int"; expected "Root | PathLike[str] | str"  [list-item]
    # pyright says: Argument of type "list[int]" cannot be assigned to parameter "roots" of type "Iterable[RootLike] | None" in function "__init__" (reportArgumentType)
    use(connect(["python", "notes.py"]))
    # mypy says: Argument 1 to "connect" has incompatible type "list[str]"; expected "Transport | Server | str"  [arg-type]
    # pyright says: Argument of type "list[str]" cannot be assigned to parameter "target" of type "Transport | Server | str" (reportArgumentType)
    use(stdio(["python", "notes.py"]))
    # mypy says: Argument 1 to "stdio" has incompatible type "list[str]"; expected "str | PathLike[str]"  [arg-type]
    # pyright says: Argument of type "list[str]" cannot be assigned to parameter "command" of type "str | PathLike[str]" in function "stdio" (reportArgumentType)
    use(stdio("python", ["notes.py"]))
    # mypy says: Argument 2 to "stdio" has incompatible type "list[str]"; expected "str | PathLike[str]"  [arg-type]
    # pyright says: Argument of type "list[str]" cannot be assigned to parameter "arguments" of type "str | PathLike[str]" in function "stdio" (reportArgumentType)
    use(stdio("python", stderr="quiet"))
    # mypy says: Argument "stderr" to "stdio" has incompatible type "Literal['quiet']"; expected "Literal['inherit', 'log', 'discard'] | Callable[[str], object]"  [arg-type]
    # pyright says: Argument of type "Literal['quiet']" cannot be assigned to parameter "stderr" of type "Stderr" in function "stdio" (reportArgumentType)
    Server("notes", "1.0").run(transport="http")
    # mypy says: Argument "transport" to "run" of "Server" has incompatible type "Literal['http']"; expected "Literal['stdio']"  [arg-type]
    # pyright says: Argument of type "Literal['http']" cannot be assigned to parameter "transport" of type "Literal['stdio']" in function "run" (reportArgumentType)
    Server("notes", "1.0").run(port=8000)
    # mypy says: Argument "port" to "run" of "Server" has incompatible type "int"; expected "Never"  [arg-type]
    # pyright says: Argument of type "Literal[8000]" cannot be assigned to parameter "port" of type "Never" in function "run" (reportArgumentType)
    use(Server("notes", "1.0").asgi(authenticate=5))
    # mypy says: Argument "authenticate" to "asgi" of "Server" has incompatible type "int"; expected "Callable[[str], object] | None"  [arg-type]
    # pyright says: Argument of type "Literal[5]" cannot be assigned to parameter "authenticate" of type "Authenticate | None" in function "asgi" (reportArgumentType)
    use(Server("notes", "1.0").http_app())
    # mypy says: "Server" has no attribute "http_app"  [attr-defined]
    # pyright says: Cannot access attribute "http_app" for class "Server" (reportAttributeAccessIssue)
    use(Server("notes", "1.0", extensions=[McplServer]))
    # mypy says: List item 0 has incompatible type "type[McplServer]"; expected "Extension"  [list-item]
    # pyright says: Argument of type "list[type[McplServer]]" cannot be assigned to parameter "extensions" of type "Iterable[Extension]" in function "__init__" (reportArgumentType)


def points(server: Server, host: Host) -> None:
    use(server.on.tools_lst)
    # mypy says: "ServerOn" has no attribute "tools_lst"; maybe "tools_list"?  [attr-defined]
    # pyright says: Cannot access attribute "tools_lst" for class "ServerOn" (reportAttributeAccessIssue)
    use(server.on.roots_list)
    # mypy says: "ServerOn" has no attribute "roots_list"; maybe "prompts_list" or "tools_list"?  [attr-defined]
    # pyright says: Cannot access attribute "roots_list" for class "ServerOn" (reportAttributeAccessIssue)
    use(host.on.tools_list)
    # mypy says: "ClientOn" has no attribute "tools_list"; maybe "roots_list"?  [attr-defined]
    # pyright says: Cannot access attribute "tools_list" for class "ClientOn" (reportAttributeAccessIssue)
    use(host.on.root_list)
    # mypy says: "ClientOn" has no attribute "root_list"; maybe "roots_list"?  [attr-defined]
    # pyright says: Cannot access attribute "root_list" for class "ClientOn" (reportAttributeAccessIssue)
    use(server.on("tools/list"))
    # mypy says: Argument 1 to "__call__" of "On" has incompatible type "str"; expected "Method[Never, Never]"  [arg-type]
    # pyright says: Argument of type "Literal['tools/list']" cannot be assigned to parameter "method" of type "Method[P@__call__, R@__call__]" in function "__call__" (reportArgumentType)


async def names(connection: Connection) -> None:
    await connection.mcp.tool_call(name="find")
    # mypy says: "ServerStub" has no attribute "tool_call"; maybe "tools_call"?  [attr-defined]
    # pyright says: Cannot access attribute "tool_call" for class "ServerStub" (reportAttributeAccessIssue)
    await connection.mcp.roots_list()
    # mypy says: "ServerStub" has no attribute "roots_list"; maybe "prompts_list" or "tools_list"?  [attr-defined]
    # pyright says: Cannot access attribute "roots_list" for class "ServerStub" (reportAttributeAccessIssue)
    await connection.tools_call(name="find")
    # mypy says: "Connection" has no attribute "tools_call"  [attr-defined]
    # pyright says: Cannot access attribute "tools_call" for class "Connection" (reportAttributeAccessIssue)
    await connection.aclos()
    # mypy says: "Connection" has no attribute "aclos"; maybe "aclose"?  [attr-defined]
    # pyright says: Cannot access attribute "aclos" for class "Connection" (reportAttributeAccessIssue)


async def arguments(connection: Connection) -> None:
    await connection.mcp.tools_call()
    # mypy says: Missing named argument "name" for "tools_call" of "ServerStub"  [call-arg]
    # pyright says: Argument missing for parameter "name" (reportCallIssue)
    await connection.mcp.tools_call("find")
    # mypy says: Too many positional arguments for "tools_call" of "ServerStub"  [call-arg]
    # pyright says: Expected 0 positional arguments (reportCallIssue)
    await connection.mcp.tools_call(nme="find")
    # mypy says: Unexpected keyword argument "nme" for "tools_call" of "ServerStub"; did you mean "name"?  [call-arg]
    # pyright says: Argument missing for parameter "name" (reportCallIssue)
    # pyright says: No parameter named "nme" (reportCallIssue)
    await connection.mcp.tools_call(name=5)
    # mypy says: Argument "name" to "tools_call" of "ServerStub" has incompatible type "int"; expected "str"  [arg-type]
    # pyright says: Argument of type "Literal[5]" cannot be assigned to parameter "name" of type "str" in function "tools_call" (reportArgumentType)
    await connection.mcp.tools_call(name="find", arguments=["Emma"])
    # mypy says: Argument "arguments" to "tools_call" of "ServerStub" has incompatible type "list[str]"; expected "dict[str, Any] | None"  [arg-type]
    # pyright says: Argument of type "list[str]" cannot be assigned to parameter "arguments" of type "dict[str, Any] | None" in function "tools_call" (reportArgumentType)
    await connection.mcp.tools_call(name="find", timeout=5)
    # mypy says: Unexpected keyword argument "timeout" for "tools_call" of "ServerStub"  [call-arg]
    # pyright says: No parameter named "timeout" (reportCallIssue)
    await connection.mcp.logging_set_level(level="loud")
    # mypy says: Argument "level" to "logging_set_level" of "ServerStub" has incompatible type "Literal['loud']"; expected "Literal['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']"  [arg-type]
    # pyright says: Argument of type "Literal['loud']" cannot be assigned to parameter "level" of type "LoggingLevel" in function "logging_set_level" (reportArgumentType)
    await connection.mcp.completion_complete(ref="plan", argument=("tone", "f"))
    # mypy says: Argument "argument" to "completion_complete" of "ServerStub" has incompatible type "tuple[str, str]"; expected "CompletionArgument"  [arg-type]
    # mypy says: Argument "ref" to "completion_complete" of "ServerStub" has incompatible type "str"; expected "PromptReference | ResourceReference | UnknownVariant"  [arg-type]
    # pyright says: Argument of type "Literal['plan']" cannot be assigned to parameter "ref" of type "CompletionReference" in function "completion_complete" (reportArgumentType)
    # pyright says: Argument of type "tuple[Literal['tone'], Literal['f']]" cannot be assigned to parameter "argument" of type "CompletionArgument" in function "completion_complete" (reportArgumentType)
    use(connection.with_options(timeout="5"))
    # mypy says: Argument "timeout" to "with_options" of "Connection" has incompatible type "Literal['5']"; expected "float | Literal[Default.TIMEOUT] | None"  [arg-type]
    # pyright says: Argument of type "Literal['5']" cannot be assigned to parameter "timeout" of type "Timeout" in function "with_options" (reportArgumentType)
    use(connection.with_options(on_progres=print))
    # mypy says: Unexpected keyword argument "on_progres" for "with_options" of "Connection"; did you mean "on_progress"?  [call-arg]
    # pyright says: No parameter named "on_progres" (reportCallIssue)
    use(connection.with_options(on_progress=on_text))
    # mypy says: Argument "on_progress" to "with_options" of "Connection" has incompatible type "Callable[[str], None]"; expected "Callable[[ProgressNotificationParams], object] | None"  [arg-type]
    # pyright says: Argument of type "(report: str) -> None" cannot be assigned to parameter "on_progress" of type "ProgressCallback | None" in function "with_options" (reportArgumentType)
    use(connection.subscription(uri=5))
    # mypy says: Argument "uri" to "subscription" of "Connection" has incompatible type "int"; expected "str"  [arg-type]
    # pyright says: Argument of type "Literal[5]" cannot be assigned to parameter "uri" of type "str" in function "subscription" (reportArgumentType)


def on_text(report: str) -> None:
    use(report)


async def results(connection: Connection) -> None:
    use(connection.mcp.tools_call(name="find").content)
    # mypy says: "Coroutine[Any, Any, CallToolResult]" has no attribute "content"  [attr-defined]
    # pyright says: Cannot access attribute "content" for class "CoroutineType[Any, Any, CallToolResult]" (reportAttributeAccessIssue)
    result = await connection.mcp.tools_call(name="find")
    use(result.isError)
    # mypy says: "CallToolResult" has no attribute "isError"; maybe "is_error"?  [attr-defined]
    # pyright says: Cannot access attribute "isError" for class "CallToolResult" (reportAttributeAccessIssue)
    use(result.text)
    # mypy says: "CallToolResult" has no attribute "text"  [attr-defined]
    # pyright says: Cannot access attribute "text" for class "CallToolResult" (reportAttributeAccessIssue)
    use(result.content[0].text)
    # mypy says: Item "AudioContent" of "TextContent | ImageContent | AudioContent | EmbeddedResource | UnknownVariant" has no attribute "text"  [union-attr]
    # mypy says: Item "EmbeddedResource" of "TextContent | ImageContent | AudioContent | EmbeddedResource | UnknownVariant" has no attribute "text"  [union-attr]
    # mypy says: Item "ImageContent" of "TextContent | ImageContent | AudioContent | EmbeddedResource | UnknownVariant" has no attribute "text"  [union-attr]
    # pyright says: Cannot access attribute "text" for class "AudioContent" (reportAttributeAccessIssue)
    # pyright says: Cannot access attribute "text" for class "EmbeddedResource" (reportAttributeAccessIssue)
    # pyright says: Cannot access attribute "text" for class "ImageContent" (reportAttributeAccessIssue)
    for tool in connection.tools():
        # mypy says: "AsyncIterator[Tool]" has no attribute "__iter__"; maybe "__aiter__"? (not iterable)  [attr-defined]
        # pyright says: "AsyncIterator[Tool]" is not iterable (reportGeneralTypeIssues)
        use(tool)
    async for resource in connection.resources():
        use(resource.url)
        # mypy says: "Resource" has no attribute "url"  [attr-defined]
        # pyright says: Cannot access attribute "url" for class "Resource" (reportAttributeAccessIssue)
    async with connection.changes() as changes:
        # mypy says: "AbstractContextManager[AsyncIterator[Literal['tools', 'resources', 'prompts']], bool | None]" has no attribute "__aenter__"; maybe "__enter__"?  [attr-defined]
        # mypy says: "AbstractContextManager[AsyncIterator[Literal['tools', 'resources', 'prompts']], bool | None]" has no attribute "__aexit__"; maybe "__exit__"?  [attr-defined]
        # pyright says: Object of type "AbstractContextManager[AsyncIterator[ListName], bool | None]" cannot be used with "async with" because it does not correctly implement __aenter__ (reportGeneralTypeIssues)
        # pyright says: Object of type "AbstractContextManager[AsyncIterator[ListName], bool | None]" cannot be used with "with" because it does not correctly implement __aexit__ (reportGeneralTypeIssues)
        use(changes)
    with connection.subscription("note://1") as updates:
        # mypy says: "AbstractAsyncContextManager[AsyncIterator[str], bool | None]" has no attribute "__enter__"; maybe "__aenter__"?  [attr-defined]
        # mypy says: "AbstractAsyncContextManager[AsyncIterator[str], bool | None]" has no attribute "__exit__"; maybe "__aexit__"?  [attr-defined]
        # pyright says: Object of type "AbstractAsyncContextManager[AsyncIterator[str], bool | None]" cannot be used with "with" because it does not correctly implement __enter__ (reportGeneralTypeIssues)
        # pyright says: Object of type "AbstractAsyncContextManager[AsyncIterator[str], bool | None]" cannot be used with "with" because it does not correctly implement __exit__ (reportGeneralTypeIssues)
        use(updates)


async def of_a_request(context: Context) -> None:
    await context.progres(1)
    # mypy says: "Context" has no attribute "progres"; maybe "progress"?  [attr-defined]
    # pyright says: Cannot access attribute "progres" for class "Context" (reportAttributeAccessIssue)
    await context.progress("half")
    # mypy says: Argument 1 to "progress" of "Context" has incompatible type "str"; expected "float"  [arg-type]
    # pyright says: Argument of type "Literal['half']" cannot be assigned to parameter "progress" of type "float" in function "progress" (reportArgumentType)
    await context.log("loud", "Hi.")
    # mypy says: Argument 1 to "log" of "Context" has incompatible type "Literal['loud']"; expected "Literal['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']"  [arg-type]
    # pyright says: Argument of type "Literal['loud']" cannot be assigned to parameter "level" of type "LoggingLevel" in function "log" (reportArgumentType)
    await context.sample("Hi.")
    # mypy says: Missing named argument "max_tokens" for "sample" of "Context"  [call-arg]
    # pyright says: Argument missing for parameter "max_tokens" (reportCallIssue)
    await context.sample(5, max_tokens=10)
    # mypy says: Argument 1 to "sample" of "Context" has incompatible type "int"; expected "str | Sequence[SamplingMessage]"  [arg-type]
    # pyright says: Argument of type "Literal[5]" cannot be assigned to parameter "messages" of type "str | Sequence[SamplingMessage]" in function "sample" (reportArgumentType)
    await context.sample("Hi.", max_tokens=10, include_context="everything")
    # mypy says: Argument "include_context" to "sample" of "Context" has incompatible type "Literal['everything']"; expected "Literal['none', 'thisServer', 'allServers'] | None"  [arg-type]
    # pyright says: Argument of type "Literal['everything']" cannot be assigned to parameter "include_context" of type "IncludeContext | None" in function "sample" (reportArgumentType)
    use((await context.roots()).roots)
    # mypy says: "list[Root]" has no attribute "roots"  [attr-defined]
    # pyright says: Cannot access attribute "roots" for class "list[Root]" (reportAttributeAccessIssue)


def messages() -> None:
    use(mcp.Tool(name="find"))
    # mypy says: Missing named argument "input_schema" for "Tool"  [call-arg]
    # pyright says: Argument missing for parameter "input_schema" (reportCallIssue)
    use(mcp.Tool(name="find", inputSchema=mcp.ToolInputSchema()))
    # mypy says: Unexpected keyword argument "inputSchema" for "Tool"; did you mean "input_schema"?  [call-arg]
    # pyright says: Argument missing for parameter "input_schema" (reportCallIssue)
    # pyright says: No parameter named "inputSchema" (reportCallIssue)
    use(mcp.Tool(name="find", input_schema={"type": "object"}))
    # mypy says: Argument "input_schema" to "Tool" has incompatible type "dict[str, str]"; expected "ToolInputSchema"  [arg-type]
    # pyright says: Argument of type "dict[str, str]" cannot be assigned to parameter "input_schema" of type "ToolInputSchema" in function "__init__" (reportArgumentType)
    use(mcp.TextContent(text=5))
    # mypy says: Argument "text" to "TextContent" has incompatible type "int"; expected "str"  [arg-type]
    # pyright says: Argument of type "Literal[5]" cannot be assigned to parameter "text" of type "str" in function "__init__" (reportArgumentType)
    use(mcp.SamplingMessage(role="system", content=mcp.TextContent(text="Hi.")))
    # mypy says: Argument "role" to "SamplingMessage" has incompatible type "Literal['system']"; expected "Literal['user', 'assistant']"  [arg-type]
    # pyright says: Argument of type "Literal['system']" cannot be assigned to parameter "role" of type "Role" in function "__init__" (reportArgumentType)
    use(mcp.Prompts(name="greet"))
    # mypy says: Module has no attribute "Prompts"; maybe "Prompt"?  [attr-defined]
    # pyright says: "Prompts" is not a known attribute of module "kinwire_protocols.mcp" (reportAttributeAccessIssue)


def errors(error: RpcError) -> None:
    use(error.kode)
    # mypy says: "RpcError" has no attribute "kode"  [attr-defined]
    # pyright says: Cannot access attribute "kode" for class "RpcError" (reportAttributeAccessIssue)
    use(mcp.ResourceNotFoundEror)
    # mypy says: Module has no attribute "ResourceNotFoundEror"; maybe "ResourceNotFoundError" or "ResourceNotFoundData"?  [attr-defined]
    # pyright says: "ResourceNotFoundEror" is not a known attribute of module "kinwire_protocols.mcp" (reportAttributeAccessIssue)
