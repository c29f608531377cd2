"""`kinwire inspect`: what a server declares, compared with what it does."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from kinwire_cli.inspection import probing
from kinwire_protocols import mcp
from kinwire_protocols.mcp.methods import PING, PROTOCOL
from tests.cli.fixtures_scripts import DEMO, Captured, greeting, ran, scripted, spoken

TOOL = {"name": "t", "description": "d", "inputSchema": {"type": "object"}}
UNKNOWN_TOOL = {"error": {"code": -32602, "message": "Unknown tool"}}


def inspected(capsys: Captured, *words: str) -> tuple[int, dict[str, Any]]:
    code, out, _ = ran(capsys, "inspect", "--format", "json", "--timeout", "60", *words)
    return code, json.loads(out)


def said(answer: dict[str, Any]) -> list[str]:
    return [
        f"{one['severity']}: {one['where']}: {one['text']} {one['hint']}".rstrip()
        for one in answer["findings"]
    ]


def test_a_server_without_fault_earns_no_finding(capsys: Captured) -> None:
    code, out, err = ran(capsys, "inspect", "--timeout", "60", *DEMO)
    assert (code, err) == (0, "")
    head, tools, methods = out.split("\n\n")
    assert head.splitlines()[:2] == [
        "server        kinwire-demo 1.0",
        'protocol      MCP 2024-11-05 offered, "2024-11-05" answered',
    ]
    assert tools.startswith("tools\n  add(a: integer, b: integer)  Add two whole numbers.\n")
    assert methods.splitlines()[:3] == [
        "✓  initialize                answered",
        "✓  ping                      answered",
        '-  resources/list            not advertised, "method not found"',
    ]
    assert "\n✓  tools/call                refuses an unknown name (-32602)\n" in methods


def test_json_has_what_was_asked_and_what_came(capsys: Captured) -> None:
    code, answer = inspected(capsys, *tools({"tools": [TOOL]}))
    assert (code, answer["findings"]) == (0, [])
    assert answer["protocolVersion"] == {"offered": "2024-11-05", "answered": "2024-11-05"}
    assert answer["tools"] == [TOOL]
    rows = {row["method"]: (row["advertised"], row["outcome"]) for row in answer["methods"]}
    assert rows["tools/list"] == (True, "answered")
    assert rows["tools/call"] == (True, "refused")
    assert rows["prompts/list"] == (False, "missing")
    assert rows["completion/complete"] == (None, "missing")


def test_what_only_a_document_has_is_not_asked_for(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    wipe = replace(PING, name="demo/wipe", attribute="wipe")
    monkeypatch.setattr(
        probing, "PROTOCOL", replace(PROTOCOL, methods={**PROTOCOL.methods, wipe.name: wipe})
    )
    code, out, _ = ran(capsys, "inspect", "--timeout", "60", *scripted(exits_at="demo/wipe"))
    assert code == 0
    assert "\n-  demo/wipe                 not asked: it may do something\n" in out + "\n"


def test_what_needs_more_than_is_known_is_not_asked_for(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    level = replace(PROTOCOL.methods["logging/setLevel"], params=mcp.CompleteRequestParams)
    methods = {**PROTOCOL.methods, level.name: level}
    monkeypatch.setattr(probing, "PROTOCOL", replace(PROTOCOL, methods=methods))
    refused = {"error": {"code": -32602, "message": "ref is missing"}}
    answers = {"initialize": greeting({"logging": {}}), level.name: refused}
    code, answer = inspected(capsys, *scripted(answers=answers))
    row = next(row for row in answer["methods"] if row["method"] == level.name)
    assert (code, row["outcome"], answer["findings"]) == (0, "skipped", [])
    assert row["text"] == "not asked: it needs params that are not known here"


MISSING = 'answers "method not found". Serve it, or leave the capability out.'
PROMISES = [
    ({"tools": {}}, f"error: tools/list: is advertised by capabilities.tools, but {MISSING}"),
    ({"prompts": {}}, f"error: prompts/get: is advertised by capabilities.prompts, but {MISSING}"),
    (
        {"resources": {"subscribe": True}},
        "error: resources/subscribe: is advertised by capabilities.resources.subscribe, "
        f"but {MISSING}",
    ),
    ({"logging": {}}, "error: logging/setLevel: is advertised by capabilities.logging, but"),
    ({"completions": {}}, f"error: completion/complete: is advertised, but {MISSING}"),
]


@pytest.mark.parametrize(("capabilities", "problem"), PROMISES)
def test_what_is_advertised_and_not_there_is_a_problem(
    capsys: Captured, capabilities: dict[str, Any], problem: str
) -> None:
    code, answer = inspected(capsys, *scripted(answers={"initialize": greeting(capabilities)}))
    assert code == 1
    assert any(line.startswith(problem) for line in said(answer))


def tools(*pages: object, call: object = UNKNOWN_TOOL, **script: Any) -> list[str]:
    """Return a server that has these pages of tools."""
    answers = {"initialize": greeting({"tools": {}}), "tools/list": list(pages), "tools/call": call}
    return scripted(answers=answers, **script)


FAULTS = [
    pytest.param(
        tools({"tools": [TOOL, {"name": 5, "inputSchema": {"type": "array"}}]}),
        "error: tools/list#/tools/1/inputSchema/type: expected 'object', got \"array\".",
        id="a tool breaks the schema",
    ),
    pytest.param(
        tools({"tools": [TOOL], "nextCursor": "2"}, {"tools": [TOOL]}),
        'error: tools/list: name "t" stands there 2 times.',
        id="a name is on two pages",
    ),
    pytest.param(
        tools({"tools": [TOOL], "nextCursor": "2"}, {"tools": [{}]}),
        "error: tools/list#/tools/0/name (page 2): expected a value, got nothing.",
        id="a later page breaks the schema",
    ),
    pytest.param(
        tools({"tools": [], "nextCursor": "1"}),
        "error: tools/list: #/nextCursor: expected a new cursor, got '1' again.",
        id="pages go round in a circle",
    ),
    pytest.param(
        tools({"error": {"code": -32603, "message": "no database"}}),
        "error: tools/list: answers an error: no database (-32603).",
        id="a list is refused",
    ),
    pytest.param(
        tools(5), "error: tools/list#: expected an object, got 5.", id="a result is not an object"
    ),
    pytest.param(
        tools({"tools": []}, exits_at="tools/call"),
        "error: tools/call: the connection ended. The server exited with code 3.",
        id="a request ends the server",
    ),
    pytest.param(
        tools({"tools": []}, greeting=["Loading\x1b[2J", "done"]),
        'error: stdout: 2 lines of output that is not JSON-RPC, such as "Loading\\u001b[2J".',
        id="it prints to stdout",
    ),
    pytest.param(
        scripted(answers={"initialize": greeting({}, protocolVersion="2025-06-18")}),
        "error: initialize#/protocolVersion: expected 2024-11-05, which was offered, "
        'got "2025-06-18".',
        id="another version",
    ),
    pytest.param(
        scripted(answers={"initialize": greeting({}, serverInfo={"name": "x"})}),
        "error: initialize#/serverInfo/version: expected a value, got nothing.",
        id="the greeting breaks the schema",
    ),
    pytest.param(
        scripted(answers={"ping": {"error": {"code": -32601, "message": "no"}}}),
        'error: ping: answers "method not found", but every side answers ping.',
        id="no ping",
    ),
    pytest.param(
        scripted(after=[{"jsonrpc": "2.0", "id": 1, "method": "roots/list"}]),
        "error: roots/list: was sent, but needs client:roots, and the client did not declare it.",
        id="it asks what was not offered",
    ),
    pytest.param(
        scripted(after=[{"jsonrpc": "2.0", "method": "notifications/message", "params": {}}]),
        "error: notifications/message#/params/level: expected a value, got nothing.",
        id="a notification breaks the schema",
    ),
]


@pytest.mark.parametrize(("server", "problem"), FAULTS)
def test_what_breaks_the_protocol_is_a_finding_and_ends_with_1(
    capsys: Captured, server: list[str], problem: str
) -> None:
    code, answer = inspected(capsys, *server)
    assert code == 1
    assert any(line.startswith(problem) for line in said(answer)), said(answer)


ODD = [
    pytest.param(
        scripted(answers={"logging/setLevel": {}}),
        "warning: logging/setLevel: is answered, but not advertised by capabilities.logging",
        id="answered and not advertised",
    ),
    pytest.param(
        tools({"tools": []}, call={"content": []}),
        "warning: tools/call: answers a tool that it does not have as if it had run.",
        id="any name is a tool",
    ),
    pytest.param(
        tools({"tools": []}, call={"error": {"code": -32603, "message": "KeyError"}}),
        "warning: tools/call: answers a name that it does not have with an internal error",
        id="an unknown name is an internal error",
    ),
    pytest.param(
        scripted(after=[{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}]),
        "warning: notifications/tools/list_changed: was sent, but needs server:tools.listChanged",
        id="news that was not announced",
    ),
    pytest.param(
        tools({"tools": [{**TOOL, "title": "T"}, {**TOOL, "name": "u", "title": "U"}]}),
        "info: tools/list#/tools/*/title: is unknown to MCP 2024-11-05, 2 times; it is kept.",
        id="a member of a later version",
    ),
    pytest.param(
        scripted(after=[{"jsonrpc": "2.0", "method": "vendor/news"}]),
        "info: vendor/news: was sent, and is unknown.",
        id="a message of nobody's protocol",
    ),
    pytest.param(
        scripted(answers={"initialize": greeting({"vendor": {}})}),
        "info: initialize#/capabilities/vendor: is unknown to MCP 2024-11-05; it is kept.",
        id="a capability of nobody's protocol",
    ),
]


@pytest.mark.parametrize("count", [200, 1000])
def test_of_a_long_list_the_first_pages_are_looked_at(capsys: Captured, count: int) -> None:
    pages = [{"tools": [], "nextCursor": str(number)} for number in range(1, count)]
    code, answer = inspected(capsys, *tools(*pages, {"tools": [TOOL]}))
    note = "info: tools/list: has more than 200 pages: what the rest holds was not looked at."
    assert code == 0
    assert answer["tools"] == ([TOOL] if count == 200 else [])
    assert [line.startswith(note) for line in said(answer)] == [True] * (count > 200)


@pytest.mark.parametrize(("server", "problem"), ODD)
def test_warnings_are_reported_and_end_with_0(
    capsys: Captured, server: list[str], problem: str
) -> None:
    code, answer = inspected(capsys, *server)
    assert code == 0
    assert any(line.startswith(problem) for line in said(answer)), said(answer)


def test_text_marks_methods_and_shows_findings_with_a_hint(capsys: Captured) -> None:
    server = tools({"tools": [TOOL, {"name": "a b", "inputSchema": {"type": "string"}}, 5]})
    code, out, err = ran(capsys, "inspect", "--timeout", "60", *server)
    assert (code, err) == (1, "")
    assert "\ntools\n  t()  d\n  a b  (it breaks the schema)\n  5  (it breaks the schema)\n" in out
    assert "\n✗  tools/list                /tools/1/inputSchema/type: expected 'object'" in out
    assert (
        "\nerror: tools/list#/tools/1/inputSchema/type: expected 'object', got \"string\".\n"
        "  Clients drop the whole answer because of it: fix the server.\n"
    ) in out


def test_lists_show_addresses_and_prompts_as_calls(capsys: Captured) -> None:
    prompt = {"name": "greet", "arguments": [{"name": "who", "required": True}, {"name": "how"}]}
    answers = {
        "initialize": greeting({"resources": {}, "prompts": {"listChanged": True}}),
        "resources/list": {"resources": [{"uri": "x:1", "name": "One", "description": "First."}]},
        "resources/templates/list": {"resourceTemplates": [{"uriTemplate": "x:{n}", "name": "N"}]},
        "prompts/list": {"prompts": [prompt]},
    }
    _, out, _ = ran(capsys, "inspect", "--timeout", "60", *scripted(answers=answers))
    assert "\ncapabilities  resources, prompts (listChanged)\n" in out
    assert "\n\nresources\n  x:1  One  First.\n" in out
    assert "\n\nresourceTemplates\n  x:{n}  N\n" in out
    assert "\n\nprompts\n  greet(who, how = ...)\n" in out


def test_a_server_that_stopped_answering_is_not_awaited_per_method(
    capsys: Captured,
) -> None:
    hello = json.dumps({"jsonrpc": "2.0", "id": 1, "result": greeting({})})
    mute = ["--", "sh", "-c", f"read line; echo '{hello}'; cat > /dev/null"]
    code, answer = inspected(capsys, "--timeout", "1", *mute)
    rows = [row["outcome"] for row in answer["methods"]]
    assert (code, rows[:3], set(rows[3:])) == (1, ["answered", "silent", "silent"], {"skipped"})


@pytest.mark.parametrize(
    ("server", "code", "message"),
    [
        (["--", "no-such-program"], 4, "error: Cannot start 'no-such-program'"),
        (scripted(exits_at="initialize"), 4, "error: The server exited with code 3.\nhint: kinw"),
        (scripted(text_ids=True), 6, 'error: initialize: the answer cannot be read: its id is "1"'),
        (
            scripted(answers={"initialize": {"error": {"code": -32000, "message": "Busy"}}}),
            5,
            "error: the peer answered: Busy",
        ),
        (["nowhere.py"], 2, "There is no Python file 'nowhere.py'."),
        ([], 2, "No server is named."),
    ],
)
def test_without_a_handshake_there_is_nothing_to_inspect(
    capsys: Captured, server: list[str], code: int, message: str
) -> None:
    waits = ["--timeout", "1" if "within 1 s" in message else "60"]
    got, out, err = ran(capsys, "inspect", *waits, *server)
    assert (got, out) == (code, "")
    assert message in err


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("Loading", 'error: stdout: 1 line of output that is not JSON-RPC, such as "Loading".\n'),
        (
            {"jsonrpc": "2.0", "id": "x", "result": greeting({})},
            'error: stdout: an answer has the id "x", for which no request waited.\n',
        ),
    ],
)
def test_output_before_a_failed_handshake_is_reported(
    capsys: Captured, line: object, problem: str
) -> None:
    code, out, err = ran(capsys, "inspect", "--timeout", "1", *spoken(line))
    assert (code, out) == (4, "")
    assert err.startswith(problem)
    assert "\nerror: initialize: no answer within 1 s." in err
