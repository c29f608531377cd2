"""Prompts of a server: their arguments, what functions return, and faults."""

from __future__ import annotations

import datetime
import threading
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from kinwire.mcp.context import Context
from kinwire.mcp.server import Server
from kinwire.rpc.errors import HandlerDefinitionError
from kinwire.testing import pair
from kinwire_protocols import mcp
from kinwire_protocols.base import RpcError
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from tests.each import each

pytestmark = pytest.mark.anyio


@pytest.mark.spec("mcp-prompt-definition-1", "mcp-prompt-definition-2")
async def test_the_list_shows_arguments_from_hints_and_docstring() -> None:
    server = Server("s", "1")

    @server.prompt
    def review(
        code: str, focus: Annotated[str, Field(description="annotated")] = "all", days: int = 1
    ) -> str:
        """Review code.

        Args:
            code: what to review
            focus: docstring
        """
        return code

    @server.prompt(name="hello", description="")
    async def greet(context: Context) -> str:
        """Greet."""
        return "Hi"

    async with pair(server) as client:
        listed = await client.session.raw("prompts/list")
    assert listed == {
        "prompts": [
            {
                "name": "review",
                "description": "Review code.",
                "arguments": [
                    {"name": "code", "description": "what to review", "required": True},
                    {"name": "focus", "description": "annotated", "required": False},
                    {"name": "days", "required": False},
                ],
            },
            {"name": "hello"},
        ]
    }


TEXT = mcp.TextContent(text="a")
ANSWER = mcp.PromptMessage(role="assistant", content=TEXT)


def said(text: str, role: str = "user") -> dict[str, Any]:
    return {"role": role, "content": {"type": "text", "text": text}}


@pytest.mark.parametrize(
    ("returned", "messages"),
    [
        ("hi", [said("hi")]),
        (ANSWER, [said("a", "assistant")]),
        (TEXT, [said("a")]),
        (["hi", ANSWER, TEXT], [said("hi"), said("a", "assistant"), said("a")]),
        ([], []),
        (mcp.GetPromptResult(messages=[ANSWER]), [said("a", "assistant")]),
    ],
)
@pytest.mark.spec("mcp-prompts-get-response-1")
async def test_what_a_prompt_returns_goes_out_as_messages(
    returned: Any, messages: list[dict[str, Any]]
) -> None:
    server = Server("s", "1")

    @server.prompt
    async def ask() -> Any:
        return returned

    async with pair(server) as client:
        result = await client.session.raw("prompts/get", {"name": "ask"})
    assert result == {"messages": messages}


@pytest.mark.spec("mcp-prompts-get-response-1")
async def test_the_description_goes_out_with_the_messages() -> None:
    server = Server("s", "1")

    @server.prompt
    async def ask() -> str:
        """Ask."""
        return "?"

    async with pair(server) as client:
        assert (await client.mcp.prompts_get(name="ask")).description == "Ask."


async def test_arguments_are_made_from_their_text() -> None:
    server = Server("s", "1")

    @server.prompt
    async def ask(
        text: str,
        day: datetime.date,
        count: int = 0,
        flag: bool = False,
        tone: Literal["dry", "kind"] | None = None,
    ) -> str:
        return repr((text, day.isoformat(), count, flag, tone))

    async with pair(server) as client:
        given = {"text": "5", "day": "2024-11-05", "count": "5", "flag": "true", "tone": "dry"}
        result = await client.mcp.prompts_get(name="ask", arguments=given)
        assert result.messages == [
            mcp.PromptMessage(
                role="user", content=mcp.TextContent(text="('5', '2024-11-05', 5, True, 'dry')")
            )
        ]


@each(
    ("name", "arguments", "message"),
    [
        ("ask", None, r"Prompt 'ask': /arguments/text: expected a value, got nothing"),
        ("ask", {"text": "a", "count": "x"}, r"/arguments/count: expected a valid integer"),
        ("ask", {"text": "a", "cont": "1"}, r"/arguments/cont: .* \(did you mean 'count'\?\)"),
        ("ask", {"text": "a", "zzz": "1"}, r"/arguments/zzz: .* \(known: text, count\)"),
        ("ask", {"text": 1}, r"prompts/get#/arguments/text: expected a valid string"),
        ("akc", None, r"Unknown prompt: 'akc'\. Did you mean 'ask'\?"),
        ("other", None, r"Unknown prompt: 'other'\. prompts/list names"),
        ("raw", {}, r"Prompt 'raw': /arguments/topic: expected a value, got nothing"),
        (
            "ask",
            {"txet": "a"},
            r"/arguments/text: expected a value, got nothing; "
            r"/arguments/txet: expected .* \(did you mean 'text'\?\)",
        ),
        ("ask", {"text": 1, "name": 2}, r"#/arguments/text: .*; /arguments/name: expected a valid"),
        ("raw", {"a": "b"}, r"/topic: expected a value, got nothing; /arguments/tone: expected a"),
    ],
)
async def test_what_a_prompt_cannot_be_filled_with_is_refused_by_name(
    name: str, arguments: dict[str, Any] | None, message: str
) -> None:
    server, calls = Server("s", "1"), list[str]()

    @server.prompt
    async def ask(text: str, count: int = 0) -> str:
        calls.append(text)
        return text

    async def raw(params: mcp.GetPromptRequestParams) -> str:
        calls.append(params.name)
        return ""

    needed = [mcp.PromptArgument(name=name, required=True) for name in ("topic", "tone")]
    server.add_prompt(mcp.Prompt(name="raw", arguments=needed), raw)
    params = {"name": name, **({} if arguments is None else {"arguments": arguments})}
    async with pair(server) as client:
        with pytest.raises(InvalidParamsError, match=message) as caught:
            await client.session.raw("prompts/get", params)
    assert caught.value.code == -32602
    assert calls == []


def of_a_list(names: list[str]) -> str:
    return str(names)


def untyped(name) -> str:  # type: ignore[no-untyped-def]  # the fault under test
    return str(name)


@each(
    ("function", "message"),
    [
        (of_a_list, r"of_a_list#names: expected a type that can be made of text, got list\[str\]"),
        (untyped, r"untyped#name: expected a type annotation, got none"),
        (len, r"expected a function or a method"),
    ],
)
def test_an_invalid_prompt_is_refused_with_a_hint(function: Any, message: str) -> None:
    with pytest.raises(HandlerDefinitionError, match=message):
        Server("s", "1").prompt(function)


def test_a_name_is_used_once_and_a_method_has_one_handler() -> None:
    server, other = Server("s", "1"), Server("s", "1")
    server.prompt(name="a")(plain)
    with pytest.raises(HandlerDefinitionError, match="Prompt 'a': expected a name that is free"):
        server.prompt(name="a")(plain)

    async def handler(params: Any) -> Any: ...

    other.on.prompts_get(handler)
    with pytest.raises(HandlerDefinitionError, match="prompts/get: there is a handler already"):
        other.prompt(plain)


def plain() -> str:
    return str(threading.current_thread() is threading.main_thread())


async def test_a_plain_function_runs_in_a_thread() -> None:
    server = Server("s", "1")
    server.prompt(plain)
    async with pair(server) as client:
        (message,) = (await client.mcp.prompts_get(name="plain")).messages
        assert message.content == mcp.TextContent(text="False")


@pytest.mark.spec("mcp-prompts-specification-1")
async def test_a_prompt_is_given_by_definition_and_handler() -> None:
    server = Server("s", "1")
    definition = mcp.Prompt(name="raw", arguments=[mcp.PromptArgument(name="topic")])

    async def raw(params: mcp.GetPromptRequestParams, context: Context) -> str:
        return f"{params.arguments} {context.meta}"

    server.add_prompt(definition, raw)
    async with pair(server) as client:
        assert (await client.mcp.prompts_list()).prompts == [definition]
        (message,) = (await client.mcp.prompts_get(name="raw")).messages
        assert message.content == mcp.TextContent(text="None None")


async def test_a_prompt_that_returns_something_else_is_a_fault_of_the_server(
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = Server("s", "1")

    @server.prompt
    async def odd() -> Any:
        return 5

    async with pair(server) as client:
        with pytest.raises(RpcError) as caught:
            await client.mcp.prompts_get(name="odd")
    assert caught.value.code == -32603
    assert "expected text, messages or content, got int" in caplog.text


async def test_prompts_come_and_go_while_a_session_is_open() -> None:
    server = Server("s", "1", offers=["prompts"])
    async with pair(server) as client:
        server.prompt(name="a")(plain)
        server.prompt(name="b")(plain)
        server.remove_prompt("a")
        assert [prompt.name for prompt in (await client.mcp.prompts_list()).prompts] == ["b"]
        with pytest.raises(InvalidParamsError, match="Unknown prompt: 'a'"):
            await client.mcp.prompts_get(name="a")
    with pytest.raises(KeyError):
        server.remove_prompt("a")
