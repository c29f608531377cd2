"""Which calls a policy file forbids, and which names in it are reported as wrong."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire.mgp.rules.policy import Policy
from kinwire.mgp.rules.policy_file import policy_from
from kinwire.mgp.rules.server_policy import ServerPolicy
from kinwire.mgp.rules.tools import KnownTool, known_tool
from kinwire_protocols.base import JsonObject


def tool(name: str, schema: JsonObject | None = None, *arguments: str) -> KnownTool:
    properties: JsonObject = {one: {} for one in arguments}
    schema = schema or {"type": "object", "properties": properties}
    made = known_tool({"name": name, "inputSchema": schema}, ServerPolicy(), "standard")
    assert made is not None
    return made


def policy(text: str) -> Policy:
    return policy_from(text, "p.toml")


def allowed(rules: Policy, name: str, server: str = "s") -> bool:
    return rules.problem(server, tool(name)) is None


def test_tools_are_denied_and_allowed_by_name_or_pattern() -> None:
    rules = policy(
        '[servers.s]\nallowed_tools = ["read_*", "a/b", "w?"]\ndenied_tools = ["read_secret", "*x"]'
    )
    names = ["read_a", "read_secret", "read_x", "write", "a/b", "w1", "w12", "Read_a", "read_a/b"]
    assert [name for name in names if allowed(rules, name)] == ["read_a", "a/b", "w1", "read_a/b"]
    assert not allowed(policy('[servers.s]\ndenied_tools = ["*"]'), "a/b/c")
    assert not allowed(policy("[servers.s]\nallowed_tools = []"), "a")
    found = policy('[servers.s]\ntrust = "trusted"\nallowed_tools = ["b"]').problem("s", tool("a"))
    assert str(found) == "p.toml:3:1: the tool 'a' is not in allowed_tools"
    assert allowed(policy("[servers.s]"), "a")
    # A name with signs of patterns is that tool too.
    odd = policy('[servers.s]\ndenied_tools = ["run[all]"]')
    assert not allowed(odd, "run[all]")


def test_servers_without_a_section_are_denied_unless_the_file_allows_them() -> None:
    rules = policy("[servers.fiels]")
    problem = rules.problem("files", tool("a"))
    assert str(problem) == (
        "p.toml:1:10: there is no section for the server 'files'. Did you mean 'files' by 'fiels'?"
    )
    assert [str(one.place) for one in rules.mistakes("files", {})] == ["p.toml:1:10"]
    lone = policy("[servers.mail]").problem("files", tool("a"))
    assert str(lone).endswith("for the server 'files'. Name it in the file.")
    open_rules = policy('other_servers = "allow"\n[servers.fiels]')
    assert allowed(open_rules, "a", "files")
    assert len(open_rules.mistakes("files", {})) == 1
    assert open_rules.mistakes("mail", {}) == []


# the rule; values that it takes; values that it refuses
CONDITIONS: list[tuple[str, list[Any], list[Any]]] = [
    ("equals = 1", [1, 1.0], [True, "1", 2, [1], None]),
    ("equals = true", [True], [1, "true", False]),
    ("equals = {a = [1]}", [{"a": [1]}], [{"a": [1], "b": 2}, {"a": 1}]),
    ("one_of = ['a', 2]", ["a", 2, 2.0, ["a", 2], []], ["b", "A", None, ["a", "b"], {"a": 1}]),
    ("minimum = 0", [0, 1e300, [1, 2]], [-0.1, True, "1", None, [1, -1], {}]),
    ("maximum = 5.5", [5.5, -1], [5.6, 6, "1", False]),
    ("minimum = 1\nmaximum = 2", [1, 1.5, 2], [0, 3, float("nan")]),
    ("prefix = 'ab'", ["ab", "abc", "ab/c", ["ab"]], ["a", "Ab", 5, None, ["ab", "b"], [["b"]]]),
    (
        "prefix = '/srv/data'",
        [
            "/srv/data",
            "/srv/data/",
            "/srv/data/a",
            "/srv/data/a..b",
            "/srv/data/...",
            "/srv/data/ä",
            "/srv/data/a%20b",
            "/srv/data/%2520",
        ],
        [
            *("/srv/database", "/srv", "srv/data", "/srv/data/..", "/srv/data/../x", " /srv/data"),
            *("/srv/data\\..\\x", "/srv/data/a\\..\\..\\x", "/srv/data/%2e%2e/x", "/srv/data/.%2E"),
            *("/srv/data/%252e%252e/x", "/srv/data/%25252e./x", "/srv/data/a\0", "/srv/data/a\nb"),
            *("/srv/data/..;/x", "/srv/data/ ../x", "/srv/data/．．/x", "/srv/data/‥/x"),  # noqa: RUF001
            *("/srv/data/%c0%ae%c0%ae/x", "/srv/data/a%2f..%2fx", "/srv/data/%00"),
            ["/srv/data/a", "/etc"],
        ],
    ),
    ("prefix = '/srv/data/'", ["/srv/data/", "/srv/data/a"], ["/srv/data", "/srv/data/../a"]),
    (
        "prefix = 'https://api.example.com'",
        ["https://api.example.com", "https://api.example.com/v1?q=100%"],
        [
            *("https://api.example.com.evil.org/", "https://api.example.com@evil.org/"),
            *("https://api.example.com:8080/", "https://api.example.com\\@evil.org"),
            *(
                "http://api.example.com/",
                "https://api.example.com?x",
                "https://api.example.com/../",
            ),
        ],
    ),
    ("glob = '*.txt'", ["a.txt", ["a.txt"]], ["a/b.txt", "a.txt.exe", "a", 5]),
    ("glob = '/srv/**'", ["/srv/a/b"], ["/srv/../etc", "/srv/a/..\\b", "/etc", "/srv/%2e%2e/a"]),
    ("glob = '/srv/*/x'", ["/srv/a/x"], ["/srv/../x", "/srv/a/b/x"]),
    ("prefix = 'a'\nglob = '*z'", ["az"], ["a", "z", "bz"]),
]


def test_conditions_on_arguments() -> None:
    known = tool("t", None, "p")
    for rule, takes, refuses in CONDITIONS:
        rules = policy(f"[servers.s.tools.t.arguments.p]\n{rule}")
        for value in takes:
            assert rules.problem("s", known, {"p": value}) is None, (rule, value)
        for value in refuses:
            problem = rules.problem("s", known, {"p": value})
            assert problem is not None, (rule, value)
            assert problem.text.startswith("the argument 'p' must ")
            assert str(problem.place) == "p.toml:1:30"
        assert rules.problem("s", known, {}) is not None
        assert rules.problem("s", known) is None
        assert rules.problem("s", tool("u"), {}) is None
        spare = policy(f"[servers.s.tools.t.arguments.p]\noptional = true\n{rule}")
        assert spare.problem("s", known, {}) is None
        assert spare.problem("s", known, {"p": None}) is not None


def test_a_refusal_does_not_show_the_value() -> None:
    rules = policy("[servers.s.tools.t.arguments]\np = { prefix = 'x' }")
    problem = rules.problem("s", tool("t", None, "p"), {"p": "SECRET-123"})
    assert "SECRET" not in str(problem)


def test_a_pointer_reaches_into_arguments() -> None:
    schema = {
        "type": "object",
        "properties": {"o": {"properties": {"a/b": {"properties": {"c~d": True}}}}},
    }
    known = tool("t", schema)
    rules = policy("[servers.s.tools.t.arguments]\n'/o/a~1b/c~0d' = { equals = 1 }")
    assert rules.problem("s", known) is None
    assert rules.problem("s", known, {"o": {"a/b": {"c~d": 1}}}) is None
    wrong: list[JsonObject] = [
        *({"o": {"a/b": {"c~d": 2}}}, {"o": {"a/b": 1}}, {"o": {}}, {}, {"o": [1]}),
    ]
    for arguments in wrong:
        assert rules.problem("s", known, arguments) is not None
    spare = policy(
        "[servers.s.tools.t.arguments]\n'/o/a~1b/c~0d' = { equals = 1, optional = true }"
    )
    assert spare.problem("s", known, {"o": {"a/b": {}}}) is None
    assert spare.problem("s", known, {"o": {"a/b": 1}}) is not None


SCHEMAS: list[tuple[JsonObject, bool]] = [
    ({"properties": {"p": {}}}, True),
    ({"properties": {"p": True}}, True),
    ({"properties": {"p": False}}, False),
    ({"properties": {"P": {}}}, False),
    ({}, False),
    ({"properties": []}, False),
    ({"allOf": [{"properties": {"p": {}}}]}, True),
    ({"anyOf": [{}, {"oneOf": [{"properties": {"p": {}}}]}]}, True),
    ({"if": {}, "then": {"properties": {"p": {}}}}, True),
    ({"$ref": "#/$defs/a~1b", "$defs": {"a/b": {"properties": {"p": {}}}}}, True),
    ({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}, False),
    ({"$ref": "#"}, False),
    ({"$ref": "https://example.com/schema"}, False),
    ({"$ref": "#/properties/x/0"}, False),
    ({"allOf": "x", "then": 5, "$ref": 7}, False),
]


def test_a_rule_about_an_argument_that_the_tool_lacks_denies_and_is_reported() -> None:
    rules = policy("[servers.s.tools.t.arguments]\np = { equals = 1, optional = true }")
    for schema, has in SCHEMAS:
        known = tool("t", {"type": "object", **schema})
        for arguments in (None, {}, {"p": 1}):
            problem = rules.problem("s", known, arguments)
            assert (problem is None) is has, schema
        mistakes = [str(one) for one in rules.mistakes("s", {"t": known})]
        assert mistakes == [] if has else ["p.toml:2:1: the tool 't' has no argument 'p'"]


def test_tools_that_the_server_lacks_are_reported_with_the_nearest_name() -> None:
    rules = policy(
        '[servers.s]\ndenied_tools = ["delete_fiel", "admin_*", "read_*"]\n'
        'allowed_tools = ["reed"]\n'
        "[servers.s.tools.wirte]\nconfirm = true\n"
    )
    tools = {name: tool(name) for name in ("delete_file", "read_file", "write")}
    assert [str(one) for one in rules.mistakes("s", tools)] == [
        "p.toml:2:17: the server has no tool 'delete_fiel'. Did you mean 'delete_file'?",
        "p.toml:2:32: the server has no tool 'admin_*'",
        "p.toml:3:18: the server has no tool 'reed'",
        "p.toml:4:18: the server has no tool 'wirte'. Did you mean 'write'?",
    ]


@pytest.mark.parametrize("deep", [False, True])
def test_a_schema_of_a_peer_cannot_take_long(deep: bool) -> None:
    schema: JsonObject = {"allOf": [{"$ref": "#"}] * 10_000}
    for _ in range(5000 if deep else 0):
        schema = {"anyOf": [schema, schema]}
    rules = policy("[servers.s.tools.t.arguments]\np = { equals = 1 }")
    known = tool("t", {"type": "object"})
    object.__setattr__(known, "input_schema", schema)
    assert rules.problem("s", known) is not None
