"""Completion: whose values, how many, and what cannot be completed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from kinwire.mcp.context import Context
from kinwire.mcp.server import Server
from kinwire.rpc.errors import HandlerDefinitionError
from kinwire.testing import pair
from kinwire_protocols import mcp
from kinwire_protocols.base import RpcError
from kinwire_protocols.jsonrpc.errors import InternalError, InvalidParamsError
from tests.runtime.mcp.fake_client import raw_client

pytestmark = pytest.mark.anyio


@pytest.fixture
def server() -> Server:
    server = Server("s", "1")

    @server.prompt
    def review(code: str, language: str = "python") -> str:
        return code

    @server.resource("files://{+path}{?rev}")
    def file(path: str, rev: str = "") -> str:
        return path

    @server.resource("files://index")
    def index() -> str:
        return ""

    return server


async def complete(server: Server, ref: Any, argument: str, value: str = "") -> Any:
    async with pair(server) as client:
        params = {"ref": ref, "argument": {"name": argument, "value": value}}
        result = await client.session.raw("completion/complete", params)
    return result["completion"]


REVIEW = {"type": "ref/prompt", "name": "review"}
FILE = {"type": "ref/resource", "uri": "files://{+path}{?rev}"}


@pytest.mark.spec("mcp-completion-auto-complete-1")
async def test_an_argument_and_a_variable_are_completed_by_their_functions(server: Server) -> None:
    @server.completion("review", "language")
    async def languages(typed: str) -> list[str]:
        return [name for name in ("python", "perl", "ruby") if name.startswith(typed)]

    @server.completion("files://{+path}{?rev}", "path")
    def paths(typed: str, context: Context) -> tuple[str, ...]:
        in_thread = threading.current_thread() is not threading.main_thread()
        return (typed, str(in_thread), str(context.request_id is not None))

    assert await complete(server, REVIEW, "language", "p") == {
        "values": ["python", "perl"],
        "total": 2,
        "hasMore": False,
    }
    assert (await complete(server, FILE, "path", "a"))["values"] == ["a", "True", "True"]


@pytest.mark.parametrize("count", [0, 100, 101, 1000])
@pytest.mark.spec("mcp-completion-auto-complete-2")
async def test_at_most_a_hundred_values_go_out_and_the_rest_is_counted(
    server: Server, count: int
) -> None:
    @server.completion("review", "code")
    async def codes(typed: str) -> list[str]:
        return [str(number) for number in range(count)]

    found = await complete(server, REVIEW, "code")
    assert found["values"] == [str(number) for number in range(min(count, 100))]
    assert (found["total"], found["hasMore"]) == (count, count > 100)


async def test_a_completion_goes_out_as_it_is(server: Server) -> None:
    @server.completion("review", "code")
    async def codes(typed: str) -> mcp.Completion:
        return mcp.Completion(values=["a"], has_more=True)

    assert await complete(server, REVIEW, "code") == {"values": ["a"], "hasMore": True}


@pytest.mark.parametrize("suggested", ["python", [1], b"ab", 5, None])
async def test_a_completion_must_be_a_list_of_strings(
    server: Server, suggested: Any, caplog: pytest.LogCaptureFixture
) -> None:
    @server.completion("review", "code")
    async def codes(typed: str) -> Any:
        return suggested

    with pytest.raises(InternalError):
        await complete(server, REVIEW, "code")
    assert "a completer: expected a list of texts, got" in caplog.text


@pytest.mark.parametrize(
    ("ref", "argument"),
    [
        pytest.param(REVIEW, "language", id="no completer"),
        pytest.param(FILE, "rev", id="no completer of a variable"),
    ],
)
async def test_what_has_no_completer_has_no_suggestions(
    server: Server, ref: Any, argument: str
) -> None:
    server.completion("review", "code")(lambda_of_one)
    assert await complete(server, ref, argument) == {"values": [], "total": 0, "hasMore": False}


def lambda_of_one(typed: str) -> list[str]:
    return [typed]


@pytest.mark.parametrize(
    ("ref", "argument", "message"),
    [
        ({"type": "ref/prompt", "name": "x"}, "a", "unknown prompt: 'x'"),
        ({"type": "ref/resource", "uri": "x:{a}"}, "a", r"unknown resource template: 'x:\{a\}'"),
        (REVIEW, "cod", "#/argument/name: expected one of code, language, got 'cod'"),
        (FILE, "id", "expected one of path, rev, got 'id'"),
        ({"type": "ref/resource", "uri": "files://index"}, "a", "expected one of none, got 'a'"),
        ({"type": "ref/other"}, "a", "completion/complete#/ref/type"),
    ],
)
async def test_what_does_not_exist_cannot_be_completed(
    server: Server, ref: Any, argument: str, message: str
) -> None:
    server.completion("review", "code")(lambda_of_one)
    with pytest.raises(InvalidParamsError, match=message) as caught:
        await complete(server, ref, argument)
    assert caught.value.code == -32602


async def test_a_server_without_completers_does_not_know_the_method(server: Server) -> None:
    with pytest.raises(RpcError) as caught:
        await complete(server, REVIEW, "code")
    assert caught.value.code == -32601


def none() -> list[str]:
    return []


def three(a: str, b: Any, c: Any) -> list[str]:
    return []


def starred(*values: str) -> list[str]:
    return []


@pytest.mark.parametrize(
    ("owner", "argument", "function", "message"),
    [
        ("revew", "code", lambda_of_one, "'revew': expected the name of a prompt, or a template"),
        ("x:{a}", "a", lambda_of_one, "expected the name of a prompt, or a template, that was"),
        ("review", "cod", lambda_of_one, r"one of its arguments, got 'cod'\. Write 'code'"),
        ("review", "zz", lambda_of_one, r"got 'zz'\. Choose one of: code, language"),
        ("review", "code", none, r"expected parameters \(value\) or \(value, context\), got \(\)"),
        ("review", "code", three, r"expected parameters \(value\) or \(value, context\)"),
        ("review", "code", starred, r"expected parameters \(value\) or \(value, context\)"),
        ("review", "code", len, "expected a function or a method"),
    ],
)
def test_an_invalid_completer_is_refused_with_a_hint(
    server: Server, owner: str, argument: str, function: Callable[..., Any], message: str
) -> None:
    with pytest.raises(HandlerDefinitionError, match=message):
        server.completion(owner, argument)(function)


def test_an_argument_has_one_completer_and_the_method_one_handler(server: Server) -> None:
    async def handler(params: Any) -> Any: ...

    server.completion("review", "code")(lambda_of_one)
    with pytest.raises(HandlerDefinitionError, match="'code' has a completer already"):
        server.completion("review", "code")(lambda_of_one)
    with pytest.raises(HandlerDefinitionError, match="completion/complete: there is a handler"):
        server.on.completion_complete(handler)


async def test_completers_go_with_what_they_complete(server: Server) -> None:
    server.completion("review", "code")(lambda_of_one)
    server.completion("files://{+path}{?rev}", "rev")(lambda_of_one)
    server.remove_prompt("review")
    server.remove_resource("files://{+path}{?rev}")

    @server.prompt
    def review(code: str) -> str:
        return code

    server.completion("review", "code")(lambda_of_one)
    assert (await complete(server, REVIEW, "code", "a"))["values"] == ["a"]


async def test_an_empty_value_may_be_completed(server: Server) -> None:
    server.completion("review", "code")(lambda_of_one)
    async with raw_client(server) as client:
        await client.greet()
        params = {"ref": REVIEW, "argument": {"name": "code", "value": ""}}
        result = await client.session.raw("completion/complete", params)
    assert result["completion"]["values"] == [""]
