"""`kinwire call` and `kinwire list` at raw servers of MCP-lite."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from kinwire_cli import main
from kinwire_cli.failure import UsageError
from kinwire_cli.lite.target import is_lite
from tests.each import each
from tests.runtime.mcplite.client.fixtures_raw import result_of

TOOLS = [
    {
        "name": "add",
        "@type": "math",
        "description": "Add.",
        "inputSchema": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "required": ["a", "b"],
        },
    }
]
TEXT = result_of("answer", content=[{"type": "text", "text": "3"}])


@contextmanager
def raw_service(
    *results: Any, path: str = "/mcp-lite/v1/", status: int = 200
) -> Iterator[tuple[str, list[Any]]]:
    """Serve in a thread; calls are answered by `results` in order, the last one for ever."""
    left, asked = list(results), list[Any]()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            if self.path == f"{path}listtools":
                answer: Any = {"tools": TOOLS}
            else:
                asked.append(body["params"])
                result = left.pop(0) if len(left) > 1 else left[0]
                answer = {"jsonrpc": "2.0", "id": body["id"], "result": result}
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}{path}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@each(
    ("word", "protocol", "expected"),
    [
        ("http://127.0.0.1:8000/mcp-lite/v1/", None, True),
        ("http://127.0.0.1:8000/mcp-lite/v1", None, True),
        ("https://example.com/a/mcp-lite/v1/?key=1", None, True),
        ("grpc://127.0.0.1:50051", None, True),
        ("GRPCS://example.com", None, True),
        ("http://127.0.0.1:8000/mcp", None, False),
        ("http://127.0.0.1:8000/mcp-lite/v1/x", None, False),
        ("ws://127.0.0.1/mcp-lite/v1/", None, False),
        ("http://127.0.0.1:8000/mcp-lite/v1/", "mcp", False),
        ("http://127.0.0.1:8000/any", "mcp-lite", True),
        ("notes.py", None, False),
        (None, None, False),
    ],
)
def test_a_url_says_whether_it_is_of_mcp_lite(
    word: str | None, protocol: str | None, expected: bool
) -> None:
    assert is_lite(word, Namespace(protocol=protocol)) is expected


@each("word", ["notes.py", None])
def test_the_protocol_is_that_of_a_url(word: str | None) -> None:
    with pytest.raises(UsageError, match="is for a URL"):
        is_lite(word, Namespace(protocol="mcp-lite"))


def test_a_tool_is_called_with_words_of_its_schema(capsys: pytest.CaptureFixture[str]) -> None:
    with raw_service(TEXT, path="/any/") as (url, asked):
        assert main(["call", "--protocol", "mcp-lite", "--text", url, "add", "a=1", "b=2"]) == 0
    assert capsys.readouterr().out == "3\n"
    assert asked == [{"name": "add", "arguments": {"a": 1, "b": 2}}]


def test_what_came_of_a_call_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    failure = result_of("failure", error={"code": "X", "message": "no"}, isError=True)
    asks = result_of("elicitation", elicitation={"text": "Which?"})
    objects = result_of("answer", content=[{"id": 1}])
    promise = result_of("promise", meta={"promise_token": "p", "retry_after_ms": 1})
    rows: list[tuple[list[Any], list[str], int, str, str]] = [
        ([failure], [], 5, '"failure"', ""),
        ([asks], [], 0, '"Which?"', "call it again, and add --answer ID=..."),
        ([asks, TEXT], ["--text", "--answer", "any=x"], 0, "3", ""),
        ([TEXT], ["--answer", "any=x"], 0, "3", "was not asked, so --answer did not matter: any"),
        ([objects], ["--text"], 0, '"id": 1', "this is JSON"),
        ([promise, TEXT], ["--text"], 0, "3", "works on it"),
        ([promise, TEXT], ["--raw"], 0, '"promise_token"', ""),
    ]
    for results, options, code, out, err in rows:
        with raw_service(*results) as (url, _):
            assert main(["call", *options, url, "add", "a=1", "b=2"]) == code
        printed = capsys.readouterr()
        assert out in printed.out
        assert err in printed.err


def asking(context: str, *questions: dict[str, Any]) -> dict[str, Any]:
    asked = {"text": "Tell me.", "questions": list(questions), "context": context}
    return result_of("elicitation", elicitation=asked)


STYLE = {"id": "style", "text": "Which?", "type": "single_select", "options": ["short", "long"]}
TAGS = {"id": "tags", "text": "What about?", "type": "multi_select", "options": ["a", "b", "c"]}
NAME = {"id": "a name", "text": "Whose?", "type": "text"}


def test_a_tool_that_asks_gets_the_answers_of_the_command_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    promise = result_of("promise", meta={"promise_token": "p", "retry_after_ms": 1})
    given = ["style=short", "tags=a", "tags=b", "a name=x=y"]
    options = [word for one in given for word in ("--answer", one)]
    rounds = (asking("c1", STYLE, TAGS), promise, asking("c2", NAME), TEXT)
    with raw_service(*rounds) as (url, asked):
        assert main(["call", "--text", *options, url, "add", "a=1", "b=2"]) == 0
    assert capsys.readouterr().out == "3\n"
    call = {"name": "add", "arguments": {"a": 1, "b": 2}}
    answers = {"style": "short", "tags": ["a", "b"]}
    assert [one.get("_meta") for one in asked if one["name"] == "add"] == [
        None,
        {"elicitation_answers": answers, "elicitation_context": "c1"},
    ]
    assert asked[0] == call
    last = {"elicitation_answers": {"a name": "x=y"}, "elicitation_context": "c2"}
    assert asked[-1]["_meta"] == last


def test_answers_that_are_missing_or_wrong_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    rows: list[tuple[list[str], int, str]] = [
        ([], 0, "add --answer style=... --answer 'a name'=..."),
        (["--answer", "stile=short"], 2, "Did you mean 'style'?"),
        (["--answer", "x=short"], 2, "It asks: style, a name."),
        (["--answer", "style=shirt"], 2, "expected one of short, long for 'style', got 'shirt'"),
        (["--answer", "style=short", "--answer", "style=long"], 2, "'style' takes one answer"),
        (["--answer", "style"], 2, "Write --answer ID=VALUE"),
        (["--answer", "=x"], 2, "has no ID"),
        (["--raw", "--answer", "style=short"], 2, "Leave out --answer or --raw"),
        (["--protocol", "mcp", "--answer", "style=short"], 2, "for servers of MCP-lite"),
    ]
    with raw_service(asking("c", STYLE, NAME)) as (url, asked):
        for options, code, text in rows:
            assert main(["call", *options, url, "add", "a:=1", "b:=2"]) == code
            assert text in capsys.readouterr().err
        assert all("_meta" not in one for one in asked)


def test_a_server_that_is_not_there_is_not_looked_for_by_the_doctor(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for words in (["call"], ["list"], ["serve", "lite"]):
        rest = ["add"] if words == ["call"] else []
        assert main([*words, "http://127.0.0.1:9/mcp-lite/v1/", *rest]) == 4
        assert "hint: Is it running there?" in capsys.readouterr().err
    for url in ("grpc://127.0.0.1:9", "http://127.0.0.1:9/mcp-lite/v1/"):
        assert main(["doctor", url]) == 2
        assert "kinwire list and kinwire call take it" in capsys.readouterr().err


def test_a_call_without_a_token_says_which_option_sends_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with raw_service(TEXT, status=401) as (url, _):
        assert main(["call", url, "add", "a=1", "b=2"]) == 3
        printed = capsys.readouterr().err
        assert "status 401. It has to know who calls.\nhint: --header" in printed
        assert main(["call", "--header", "Authorization: x", url, "add", "a=1", "b=2"]) == 3
        assert "does not accept the token" in capsys.readouterr().err


def test_where_mcp_is_not_served_the_other_protocol_is_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with raw_service(TEXT, path="/mcp/", status=404) as (url, _):
        assert main(["call", url, "add", "a=1"]) == 6
    said = capsys.readouterr().err
    assert "HTTP 404" in said
    assert "hint: For a server of MCP-lite, kinwire call and list take --protocol" in said


def test_slips_in_a_call_are_refused_before_it_is_sent(capsys: pytest.CaptureFixture[str]) -> None:
    with raw_service(TEXT) as (url, asked):
        for words, hint in (
            (["ad", "a=1"], "Did you mean 'add'?"),
            (["add", "a=1"], "missing: b"),
            (["add", "a=x", "b=1"], "a"),
            (["prompts/list"], "no method"),
            ([], "No method is named"),
            (["--mgp", "add", "a=1", "b=2"], "--mgp"),
        ):
            options = [word for word in words if word.startswith("--")]
            rest = [word for word in words if word not in options]
            assert main(["call", *options, url, *rest]) == 2
            assert hint in capsys.readouterr().err
        assert asked == []


def test_tools_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    with raw_service(TEXT) as (url, _):
        assert main(["list", url]) == 0
        assert capsys.readouterr().out == "add(a: integer, b: integer)  Add.\n"
        assert main(["list", "--format", "json", url]) == 0
        assert json.loads(capsys.readouterr().out) == TOOLS
        assert main(["call", url, "tools/list"]) == 0
        assert json.loads(capsys.readouterr().out) == {"tools": TOOLS}
