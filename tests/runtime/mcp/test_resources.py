"""Resources of a server: where they are found, what functions take and return, and faults."""

from __future__ import annotations

import threading
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from kinwire.mcp.context import Context
from kinwire.mcp.server import Server
from kinwire.rpc.errors import HandlerDefinitionError
from kinwire.testing import pair
from kinwire_protocols import mcp
from kinwire_protocols.base import RpcError
from kinwire_protocols.mcp.errors import ResourceNotFoundError
from tests.each import each

pytestmark = pytest.mark.anyio


class Point(BaseModel):
    x: int


async def read(server: Server, uri: str) -> Any:
    async with pair(server) as client:
        return (await client.session.raw("resources/read", {"uri": uri}))["contents"]


# -- definition --


@pytest.mark.spec("mcp-resource-types-1", "mcp-resource-types-2")
async def test_lists_show_what_the_functions_say() -> None:
    server = Server("s", "1")

    @server.resource("notes://all", mime_type="text/plain")
    def everything() -> str:
        """All notes."""
        return ""

    @server.resource("notes://{id}", name="note", description="One.")
    def one(id: str) -> str:
        return id

    async with pair(server) as client:
        resources = await client.session.raw("resources/list")
        templates = await client.session.raw("resources/templates/list")
    assert resources == {
        "resources": [
            {
                "uri": "notes://all",
                "name": "everything",
                "description": "All notes.",
                "mimeType": "text/plain",
            }
        ]
    }
    assert templates == {
        "resourceTemplates": [
            {"uriTemplate": "notes://{id}", "name": "note", "description": "One."}
        ]
    }


def plain() -> str:
    return ""


def of_id(id: str) -> str:
    return id


def of_a_list(id: list[int]) -> str:
    return str(id)


def of_a_point(id: Point) -> str:
    return str(id)


def positional(id: str, /) -> str:
    return id


@each(
    ("uri", "function", "message"),
    [
        ("notes/all", plain, r"'notes/all': expected an absolute URI\. Begin with a scheme"),
        ("x:{a", plain, r"expected a closing brace"),
        ("x:{a:3}", plain, r"Leave the length out"),
        ("x:{id}", plain, r"expected the variables of 'x:\{id\}' as parameters, got \(\)\. Add a"),
        ("x:all", of_id, r"got \(id\)\. Write \{id\} into the template"),
        ("x:{id}", of_a_list, r"#id: expected a type that can be made of text.*Take `str`"),
        ("x:{id}", of_a_point, r"#id: expected a type that can be made of text"),
        ("x:{id*}", of_id, r"#id: expected a list of types that can be made of text"),
        ("x:{id}", positional, r"positional#id: expected .* by name"),
        ("x:{id}", len, r"expected a function or a method"),
    ],
)
def test_an_invalid_resource_is_refused_with_a_hint(uri: str, function: Any, message: str) -> None:
    with pytest.raises(HandlerDefinitionError, match=message):
        Server("s", "1").resource(uri)(function)


def test_an_address_is_used_once() -> None:
    server = Server("s", "1")
    server.resource("x:all")(plain)
    server.resource("x:{id}")(of_id)
    for uri, function in (("x:all", plain), ("x:{id}", of_id)):
        with pytest.raises(HandlerDefinitionError, match="expected an address that is free"):
            server.resource(uri)(function)


def test_a_method_belongs_to_the_decorator_or_to_a_handler_of_yours() -> None:
    server, other = Server("s", "1"), Server("s", "1")

    async def handler(params: Any) -> Any: ...

    server.resource("x:all")(plain)
    with pytest.raises(HandlerDefinitionError, match="resources/read: there is a handler already"):
        server.on.resources_read(handler)
    other.on.resources_templates_list(handler)
    with pytest.raises(HandlerDefinitionError, match="resources/templates/list: there is a handl"):
        other.resource("x:all")(plain)


# -- reading --

TEXT = mcp.TextResourceContents(uri="x:1", text="a")
BLOB = mcp.BlobResourceContents(uri="x:2", blob="AA==", mime_type="image/png")


@each(
    ("returned", "contents"),
    [
        ("hi", [{"uri": "x:all", "text": "hi"}]),
        ("", [{"uri": "x:all", "text": ""}]),
        (b"\0\xff", [{"uri": "x:all", "blob": "AP8="}]),
        (bytearray(b"a"), [{"uri": "x:all", "blob": "YQ=="}]),
        (None, []),
        (TEXT, [{"uri": "x:1", "text": "a"}]),
        (
            [TEXT, BLOB, "c"],
            [
                {"uri": "x:1", "text": "a"},
                {"uri": "x:2", "mimeType": "image/png", "blob": "AA=="},
                {"uri": "x:all", "text": "c"},
            ],
        ),
        ({"é": [1]}, [{"uri": "x:all", "mimeType": "application/json", "text": '{"é":[1]}'}]),
        (["a"], [{"uri": "x:all", "mimeType": "application/json", "text": '["a"]'}]),
        (Point(x=1), [{"uri": "x:all", "mimeType": "application/json", "text": '{"x":1}'}]),
        (mcp.ReadResourceResult(contents=[BLOB]), [{"uri": "x:2", "mimeType": "image/png",
                                                    "blob": "AA=="}]),
    ],
)  # fmt: skip
@pytest.mark.spec(
    "mcp-resources-read-response-1",
    "mcp-resources-read-response-2",
    "mcp-resources-read-response-3",
)
async def test_what_a_resource_returns_goes_out_as_contents(returned: Any, contents: Any) -> None:
    server = Server("s", "1")

    @server.resource("x:all")
    async def everything() -> Any:
        return returned

    assert await read(server, "x:all") == contents


@pytest.mark.parametrize("returned", ["a", b"a", {"a": 1}])
async def test_a_declared_type_is_the_type_of_what_is_read(returned: Any) -> None:
    server = Server("s", "1")

    @server.resource("x:all", mime_type="text/x-mine")
    async def everything() -> Any:
        return returned

    ((part),) = await read(server, "x:all")
    assert part["mimeType"] == "text/x-mine"


async def test_variables_become_what_the_function_takes() -> None:
    server = Server("s", "1")

    @server.resource("log://{day}{/path*}{?level,lines}")
    async def log(
        day: int,
        path: list[str],
        level: Literal["info", "error"] = "info",
        lines: Annotated[int, Field(le=100)] = 10,
    ) -> str:
        return repr((day, path, level, lines))

    async with pair(server) as client:
        for uri, text in {
            "log://5/a/b%2Fc": "(5, ['a', 'b/c'], 'info', 10)",
            "log://5/a?lines=3&level=error": "(5, ['a'], 'error', 3)",
        }.items():
            result = await client.mcp.resources_read(uri=uri)
            assert result.contents == [mcp.TextResourceContents(uri=uri, text=text)]
        for uri, reason in {
            "log://five/a": "/day: expected a valid integer",
            "log://5": "/path: expected a value, got nothing",
            "log://five": "/day: expected a valid integer.*; /path: expected a value, got nothing",
            "log://5/a?lines=200": "/lines: expected less than or equal to 100",
            "log://5/a?level=loud": "/level: expected 'info' or 'error'",
            "log://5/a?size=1": "name those there are",
            "other://5": "name those there are",
        }.items():
            with pytest.raises(ResourceNotFoundError, match=reason) as caught:
                await client.mcp.resources_read(uri=uri)
            assert caught.value.code == -32002
            assert caught.value.data["uri"] == uri


async def test_a_resource_of_its_own_comes_before_templates_and_these_in_order() -> None:
    server = Server("s", "1")
    server.resource("x:{id}")(lambda_named("first", "id"))
    server.resource("x:{+id}")(lambda_named("second", "id"))
    server.resource("x:all")(lambda_named("own"))
    async with pair(server) as client:
        for uri, text in {"x:all": "own", "x:1": "first", "x:1/2": "second"}.items():
            result = await client.mcp.resources_read(uri=uri)
            assert result.contents == [mcp.TextResourceContents(uri=uri, text=text)]


def lambda_named(name: str, *parameters: str) -> Any:
    names: dict[str, Any] = {}
    taken = ", ".join(f"{parameter}: str" for parameter in parameters)
    exec(f"def {name}({taken}) -> str: return {name!r}", names)
    return names[name]


async def test_the_context_is_given_and_plain_functions_run_in_threads() -> None:
    server = Server("s", "1")

    @server.resource("x:{id}")
    def in_thread(id: str, context: Context) -> bool:
        return threading.current_thread() is threading.main_thread() or context.cancelled

    @server.resource("y:all")
    async def on_loop(context: Context) -> bool:
        return threading.current_thread() is threading.main_thread() and not context.cancelled

    async with pair(server) as client:
        for uri, text in {"x:1": "false", "y:all": "true"}.items():
            (part,) = (await client.mcp.resources_read(uri=uri)).contents
            assert isinstance(part, mcp.TextResourceContents)
            assert part.text == text


async def test_a_failing_resource_reveals_no_reason(
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = Server("s", "1")

    @server.resource("x:broken")
    async def broken() -> str:
        raise RuntimeError("password is hunter2")

    @server.resource("x:odd")
    async def odd() -> object:
        return object()

    @server.resource("x:gone")
    async def gone() -> str:
        raise mcp.ResourceNotFoundError(data={"uri": "x:gone"})

    async with pair(server) as client:
        for uri, code in {"x:broken": -32603, "x:odd": -32603, "x:gone": -32002}.items():
            with pytest.raises(RpcError) as caught:
                await client.mcp.resources_read(uri=uri)
            assert caught.value.code == code
        assert not [frame for frame in client.frames if b"hunter2" in frame.data]
    assert "hunter2" in caplog.text


async def test_a_function_that_finds_nothing_need_not_say_what_was_asked() -> None:
    server = Server("s", "1")
    gone = mcp.ResourceNotFoundError("It is gone.")

    @server.resource("x:{id}")
    async def nothing(id: str) -> str:
        raise gone

    async with pair(server) as client:
        for uri in ("x:5", "x:6"):
            with pytest.raises(ResourceNotFoundError, match="It is gone") as caught:
                await client.mcp.resources_read(uri=uri)
            assert mcp.ResourceNotFoundData.model_validate(caught.value.data).uri == uri


# -- given by definition --


@pytest.mark.spec("mcp-resources-specification-1")
async def test_a_resource_and_a_template_are_given_by_definition_and_handler() -> None:
    server = Server("s", "1")
    annotations = mcp.Annotations(priority=1)

    async def handler(params: mcp.ReadResourceRequestParams) -> str:
        return params.uri

    async def with_context(params: mcp.ReadResourceRequestParams, context: Context) -> bytes:
        return str(context.request_id is None).encode()

    one = mcp.Resource(
        uri="x:all", name="all", size=3, annotations=annotations, mime_type="text/plain"
    )
    server.add_resource(one, handler)
    server.add_resource(mcp.ResourceTemplate(uri_template="x:{id}", name="one"), with_context)
    async with pair(server) as client:
        assert (await client.mcp.resources_list()).resources == [one]
        assert (await client.mcp.resources_read(uri="x:all")).contents == [
            mcp.TextResourceContents(uri="x:all", text="x:all", mime_type="text/plain")
        ]
        assert (await client.mcp.resources_read(uri="x:1")).contents == [
            mcp.BlobResourceContents(uri="x:1", blob="RmFsc2U=")
        ]


def test_a_handler_is_checked_when_it_is_given() -> None:
    def plain(params: Any) -> str:
        return ""

    with pytest.raises(HandlerDefinitionError, match=r"resources/read: .*plain: expected an async"):
        Server("s", "1").add_resource(mcp.Resource(uri="x:a", name="a"), plain)


async def test_resources_come_and_go_while_a_session_is_open() -> None:
    server = Server("s", "1", offers=["resources"])
    async with pair(server) as client:
        with pytest.raises(ResourceNotFoundError):
            await client.mcp.resources_read(uri="x:1")
        server.resource("x:1")(plain)
        server.resource("x:{id}")(of_id)
        await client.mcp.resources_read(uri="x:1")
        server.remove_resource("x:1")
        server.remove_resource("x:{id}")
        with pytest.raises(ResourceNotFoundError):
            await client.mcp.resources_read(uri="x:1")
        assert await client.session.raw("resources/list") == {"resources": []}
        assert await client.session.raw("resources/templates/list") == {"resourceTemplates": []}
    with pytest.raises(KeyError):
        server.remove_resource("x:1")
