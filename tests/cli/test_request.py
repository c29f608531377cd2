"""A request as it is typed: what reaches the server, what comes back, and whose fault a slip is."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from pydantic import BaseModel

from kinwire import Server
from kinwire.mcp.host import Host
from kinwire.rpc.limits import Limits
from kinwire.testing import pair
from kinwire_cli import running
from kinwire_cli.demos import mcp as demo
from kinwire_cli.failure import failure_of
from kinwire_cli.request import TypedRequest
from kinwire_protocols import mcp
from kinwire_protocols.base import RpcError
from tests.each import each

Captured = pytest.CaptureFixture[str]

server = Server("trips", "1.0", log_level=None)


class Passenger(BaseModel):
    name: str


@server.tool
def book(passenger: Passenger, steps: int = 1, quick: bool = False) -> str:
    return passenger.name


@server.tool
async def hang() -> None:
    await anyio.sleep_forever()


greeter = Server("greeter", "1.0", log_level=None)


@greeter.on.prompts_list
async def prompts(params: mcp.PaginatedRequestParams) -> mcp.ListPromptsResult:
    return mcp.ListPromptsResult(prompts=[mcp.Prompt(name="greet")])


def asked(
    asked: Server,
    *words: str,
    given: dict[str, Any] | None = None,
    raw: bool = False,
    limits: Limits = Limits(),
) -> Any:
    """Return what `kinwire call` prints for these words."""
    host = Host("test", "1.0", limits=limits)

    async def ask() -> object:
        async with pair(asked, host) as connection:
            request = TypedRequest(connection, words[0], list(words[1:]), given or {})
            return await (request.raw_answer() if raw else request.answer())

    return anyio.run(ask)


def failed(*arguments: Any, **options: Any) -> tuple[int, str]:
    """Return exit code and text of a request that fails."""
    with pytest.raises(Exception) as caught:  # noqa: PT011 - what is expected says `failure_of`
        asked(*arguments, **options)
    failure = failure_of(caught.value)
    return failure.exit_code, failure.text


def text(value: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": value}]}


@each(
    ("words", "result"),
    [
        (["add", "a=1", "b=2"], text("3")),
        (["tools/call", "name=add", "arguments.a=1", "arguments.b=2"], text("3")),
        (["tools/call", "name=add", 'arguments:={"a": 1, "b": 2}'], text("3")),
        (["echo", "message=5"], text("5")),
        (["divide", "a=1", "b=0"], {**text("Nothing can be divided by zero."), "isError": True}),
        (["ping"], {}),
        (["ping", "_meta.progressToken=7"], {}),
        (["notifications/initialized"], None),
    ],
)
def test_words_make_the_request_that_their_schema_asks_for(
    words: list[str], result: object
) -> None:
    assert asked(demo.server, *words) == result


@each(
    ("words", "result"),
    [
        (["tools/call", "name=echo", 'arguments:={"message": "5"}'], text("5")),
        (["ping", "vendor=x"], {}),
        (["notifications/roots/list_changed"], None),
    ],
)
def test_a_raw_request_goes_out_as_it_is(words: list[str], result: object) -> None:
    assert asked(demo.server, *words, raw=True) == result


def test_progress_is_shown_on_stderr(capsys: Captured) -> None:
    asked(demo.server, "countdown", "start=2", "pause=0")
    assert capsys.readouterr().err.splitlines() == ["progress 1/2  2 ...", "progress 2/2  1 ..."]


@pytest.mark.parametrize(
    "words",
    [["book", "passenger.name=Ann"], ["book", 'passenger:={"name": "Ann"}', "quick=true"]],
)
def test_an_object_is_given_by_member_or_raw(words: list[str]) -> None:
    assert asked(server, *words) == text("Ann")


@each(
    ("given", "words"),
    [
        ({"passenger": {"name": "Ann"}, "steps": 2}, ["book"]),
        ({"passenger": {"name": "Ann"}}, ["book", "steps=2"]),
        ({"steps": 2}, ["book", "passenger.name=Ann"]),
        ({"name": "book", "arguments": {"passenger": {"name": "Ann"}}}, ["tools/call"]),
        ({"arguments": {"passenger": {"name": "Ann"}}}, ["tools/call", "name=book"]),
    ],
)
def test_words_add_to_the_members_that_are_given(given: dict[str, Any], words: list[str]) -> None:
    assert asked(server, *words, given=given) == text("Ann")


@each(
    ("words", "message"),
    [
        (
            ["book", "pasenger.name=Ann"],
            "error: pasenger.name=Ann: unknown parameter 'pasenger'; "
            "book: missing: passenger.name=...\nhint: Did you mean 'passenger'? Add what is ",
        ),
        (
            ["book", "passenger.nme=Ann"],
            "unknown parameter 'nme'; book: missing: passenger.name=...\n"
            "hint: Did you mean 'name'? Add what is missing; ",
        ),
        (
            ["book", "stesp=2", "quik=true", "passenger.name=Ann"],
            "error: stesp=2: unknown parameter 'stesp'; quik=true: unknown parameter 'quik'.\n"
            "hint: Did you mean 'steps'? Did you mean 'quick'?",
        ),
        (
            ["book", "passenger=Ann"],
            "passenger=Ann: expected object.\n"
            "hint: Write passenger.name=... for its fields, or passenger:=JSON.",
        ),
        (["book", "quick=yes", "passenger.name=Ann"], "quick=yes: expected true or false."),
        (
            ["book", "quick=yes"],
            "quick=yes: expected true or false; book: missing: passenger.name=...",
        ),
        (["book", "Ann"], "hint: It has: passenger, steps, quick."),
        (["book"], "error: book: missing: passenger.name=...\n"),
        (["book", "steps.days=1"], "steps.days=1: 'steps' has no fields: expected integer; "),
        (["tools/call", "nme=book"], "unknown parameter 'nme'.\nhint: Did you mean 'name'?"),
        (["tools/list", "cursr=2"], "unknown parameter 'cursr'.\nhint: Did you mean 'cursor'?"),
        (
            ["tools/call", "name=book", "arguments.nme=1"],
            "unknown parameter 'nme'; book: missing: passenger.name=...\n",
        ),
        (["tools/call"], "tools/call#/name: expected a value, got nothing"),
        (["tools/call", "name=book", "arguments:={}", "arguments.a=1"], "given twice"),
    ],
)
def test_a_wrong_member_is_reported_with_a_hint(words: list[str], message: str) -> None:
    code, said = failed(server, *words)
    assert code == 2
    assert message in said


@each(
    ("words", "code", "message"),
    [
        (["divid", "a=1"], 2, "The server has no tool 'divid'.\nhint: Did you mean 'divide'?"),
        (["pong"], 2, "Did you mean 'ping'?"),
        (["zzz"], 2, "hint: It has: add, echo, countdown, divide."),
        (["add", "a=one", "b=1"], 2, "error: a=one: expected integer."),
        (["add", "a=one"], 2, "error: a=one: expected integer; add: missing: b=...\n"),
        (
            ["add", "a=1"],
            2,
            "error: add: missing: b=...\nhint: Add what is missing; "
            "kinwire call --raw tools/call name=add ... sends it anyway.",
        ),
        (["add"], 2, "add: missing: a=..., b=..."),
        (["tools/call", "name=add"], 2, "add: missing: a=..., b=..."),
        (["tools/call", "name=add", "arguments.b=1"], 2, "add: missing: a=..."),
        (["tools/call", "name=add", 'arguments:={"a": 1}'], 2, "add: missing: b=..."),
        (["add", "a:=[]", "b=1"], 5, "the peer answered: Tool 'add': /arguments/a: expected"),
        (["add", "a:=[]", "b:=[]"], 5, "; /arguments/b: expected a valid integer, got an array"),
        (
            ["prompts/list"],
            2,
            "prompts/list: needs server:prompts, but the server did not declare it. "
            "The server declared: logging, tools.\nhint: --raw sends it anyway; ",
        ),
        (["mgp/health/ping"], 2, "but this side has no extension for mgp."),
        (["mgp/health/ping", "srvr=x"], 2, "unknown parameter 'srvr'."),
        (["roots/list"], 2, "roots/list is sent by the server, not by the client."),
        (["list"], 2, "hint: Did you mean 'resources/list'"),
        (["tools/call", "name:=[]"], 2, "tools/call#/name: expected a valid string, got an array"),
        (
            [
                "initialize", "protocolVersion=2024-11-05", "capabilities.roots.listChanged=true",
                "clientInfo.name=a", "clientInfo.version=1",
            ],
            5,
            "the session is open already",
        ),
    ],
)  # fmt: skip
def test_a_request_that_fails_says_whose_fault_it_is(
    words: list[str], code: int, message: str
) -> None:
    got, said = failed(demo.server, *words)
    assert got == code
    assert message in said


def test_a_tool_that_a_gateway_may_not_list_is_called_by_its_tool_for_that() -> None:
    gateway = Server("gateway", "1.0", log_level=None)

    @gateway.tool
    def mgp_tools_call(name: str) -> str:
        return name

    code, said = failed(gateway, "files__read", "path=a")
    assert code == 2
    assert "has no tool 'files__read'.\nhint: A gateway does not list all its tools." in said
    assert "kinwire call mgp_tools_call name=files__read arguments.NAME=VALUE" in said


@each(
    ("words", "message"),
    [
        (["prompts/list"], "the peer answered: Method not found: prompts/list"),
        (["add", "a=1"], "the peer answered: Method not found: add"),
        (
            ["tools/call", "name=add"],
            "the peer answered: Tool 'add': /arguments/a: expected a value",
        ),
    ],
)
def test_a_raw_request_asks_for_no_gate(words: list[str], message: str) -> None:
    code, said = failed(demo.server, *words, raw=True)
    assert code == 5
    assert message in said


@pytest.mark.parametrize(
    ("method", "meant"), [("tools/lst", "tools/list"), ("mgp/health/png", "mgp/health/ping")]
)
def test_a_method_of_no_table_goes_out_with_a_note(
    capsys: Captured, method: str, meant: str
) -> None:
    assert failed(demo.server, method)[0] == 5
    note = (
        f"note: '{method}' is not a known method and is sent unchecked. Did you mean '{meant}'?\n"
    )
    assert capsys.readouterr().err == note


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("get", "Did you mean 'prompts/get'?"),
        ("zzz", "Methods have a slash, as in prompts/list."),
    ],
)
def test_a_word_that_is_not_a_tool_may_be_a_method(name: str, hint: str) -> None:
    text = f"error: The server offers no tools, so none is called '{name}'.\nhint: {hint}"
    assert failed(greeter, name) == (2, text)


trips = Server("trips", "1.0", log_level=None)


@trips.prompt
def suggest(city: str, days: str = "1") -> str:
    return f"Plan {days} days in {city}."


@trips.resource("trips://all", name="all trips")
def every() -> str:
    return "none"


@trips.resource("trips://{city}/{day}", name="trip")
def one(city: str, day: str) -> str:
    return f"{city}, {day}"


@trips.resource("urn:trips", name="list of trips")
def listed() -> str:
    return "none"


@trips.resource("urn:trip:{number}", name="numbered")
def numbered(number: str) -> str:
    return number


@each(
    ("words", "kind", "written"),
    [
        (
            ["suggest", "city=Bad Ems"],
            "a prompt",
            "prompts/get name=suggest 'arguments.city=Bad Ems'",
        ),
        (["all trips"], "a resource", "resources/read uri=trips://all"),
        (["trip", "city=Bad Ems"], "a resource", "resources/read 'uri=trips://Bad%20Ems/{day}'"),
        (["urn:trips"], "a resource", "resources/read uri=urn:trips"),
        (["urn:trip:5"], "a resource", "resources/read uri=urn:trip:5"),
    ],
)
def test_a_word_that_is_not_a_tool_may_be_something_else(
    words: list[str], kind: str, written: str
) -> None:
    text = f"error: {words[0]!r} is {kind} of the server, not a tool."
    assert failed(trips, *words) == (2, f"{text}\nhint: Write kinwire call {written}")


@pytest.mark.parametrize("uri", ["trips://all", "trips://Ulm/2"])
def test_a_uri_of_the_server_is_not_a_method(uri: str) -> None:
    text = f"error: {uri!r} is a resource of the server, not a method."
    hint = f"hint: Write kinwire call resources/read uri={uri}"
    assert failed(trips, uri) == (2, f"{text}\n{hint}")


def test_a_uri_that_no_resource_has_goes_out_as_a_method() -> None:
    code, said = failed(trips, "other://Ulm")
    assert (code, "Method not found: other://Ulm" in said) == (5, True)


def test_a_template_that_cannot_be_matched_claims_no_uri() -> None:
    odd = Server("odd", "1.0", log_level=None)
    template = mcp.ResourceTemplate(name="odd", uri_template="notes://{key:3}")

    @odd.on.resources_templates_list
    async def listed(params: mcp.PaginatedRequestParams) -> mcp.ListResourceTemplatesResult:
        return mcp.ListResourceTemplatesResult(resource_templates=[template])

    code, said = failed(odd, "notes://12")
    assert (code, "Method not found: notes://12" in said) == (5, True)


def test_a_server_that_lists_nothing_has_nothing_of_that_name() -> None:
    broken = Server("broken", "1.0", log_level=None)

    @broken.on.prompts_list
    async def refuse(params: mcp.PaginatedRequestParams) -> mcp.ListPromptsResult:
        raise RpcError("Not now.", code=-32000)

    assert "so none is called 'zzz'." in failed(broken, "zzz")[1]


def test_a_tool_that_does_not_answer_is_waited_for_aloud(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "SILENCE", 0.0)
    code, said = failed(server, "hang", limits=Limits(request_timeout=0.5))
    assert (code, said) == (
        4,
        "error: tools/call: no answer within 0.5 s.\nhint: --timeout SECONDS waits longer.",
    )
    assert capsys.readouterr().err.endswith("waiting for the server to answer tools/call ...\n")
