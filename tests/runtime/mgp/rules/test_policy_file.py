"""A policy file is refused where it is wrong: with line, column, and the name that was meant."""

from __future__ import annotations

import pytest

from kinwire.mgp.rules.config_problem import ConfigError
from kinwire.mgp.rules.policy import Policy
from kinwire.mgp.rules.policy_file import _SERVER_FIELDS, _TOOL_FIELDS, policy_from
from kinwire.mgp.rules.server_policy import CallLimit, ServerPolicy, ToolPolicy

WHOLE = """\
other_servers = "allow"

[servers.files]
trust = "trusted"
default_policy = "opt-in"
approval = "config_only"
permissions = ["filesystem.read", "shell", "com.example.custom"]
needs_all = true
needs_agent = true
code_safety = "strict"
confirm = ["moderate", "dangerous"]
validator = "sandbox"
allowed_hosts = ["intranet"]
rate = { calls = 10, seconds = 60 }
quota = 1000
credentials_expire = 2026-02-27T12:00:00Z
allowed_tools = ["read_*"]
denied_tools = ["read_secret"]

[servers.files.tools.read_text]
risk = "dangerous"
confirm = false
enabled = true
code_arguments = ["script"]
allowed_commands = ["make *"]
without_shell = true
permissions = ["code_execution"]
arguments.path = { prefix = "/srv/" }
arguments.mode = { one_of = ["text", 1, [true]], optional = true }
arguments.size = { minimum = 0, maximum = 10.5 }
arguments."/options/deep" = { equals = { a = 1 }, glob = "x*" }
"""


def test_a_file_says_all_that_a_program_can_say() -> None:
    policy = policy_from(WHOLE, "p.toml")
    assert policy.others_allowed
    assert policy.servers == {
        "files": ServerPolicy(
            trust="trusted",
            access="opt-in",
            approval="config_only",
            permissions=("filesystem.read", "shell", "com.example.custom"),
            needs_all=True,
            needs_agent=True,
            code_safety="strict",
            confirm=("moderate", "dangerous"),
            validator="sandbox",
            allowed_hosts=("intranet",),
            rate=CallLimit(10, 60),
            quota=1000,
            credentials_expire=1_772_193_600.0,
            tools={
                "read_text": ToolPolicy(
                    risk="dangerous",
                    confirm=False,
                    code_arguments=("script",),
                    allowed_commands=("make *",),
                    without_shell=True,
                    permissions=("code_execution",),
                )
            },
        )
    }
    rules = policy.rules["files"]
    assert rules.allowed is not None
    assert ({*rules.allowed.names}, {*rules.denied.names}) == ({"read_*"}, {"read_secret"})
    assert str(rules.denied.names["read_secret"]) == "p.toml:18:17"
    found = {rule.name: rule for rule in rules.tools["read_text"].arguments}
    assert {name: (rule.place.line, rule.optional) for name, rule in found.items()} == {
        "path": (28, False),
        "mode": (29, True),
        "size": (30, False),
        "/options/deep": (31, False),
    }
    assert [len(rule.conditions) for rule in found.values()] == [1, 1, 1, 2]


def test_all_options_of_servers_and_tools_can_be_written() -> None:
    fields = {name for name, _ in _SERVER_FIELDS.values()}
    assert {*ServerPolicy.__slots__} == fields | {"tools"}
    assert {*ToolPolicy.__slots__} == {name for name, _ in _TOOL_FIELDS.values()}


S = "[servers.s]\n"
T = "[servers.s.tools.t]\n"
A = "[servers.s.tools.t.arguments]\n"
WRONG: list[tuple[str, str, str]] = [
    # keys
    ("", "1:1", r"expected a table \[servers.NAME\]"),
    ('other_serves = "deny"\n[servers]', "1:1", "key 'other_serves'. Did you mean 'other_servers'"),
    ("[server.s]", "1:2", "unknown key 'server'. Did you mean 'servers'"),
    (f"{S}denyed_tools = []", "2:1", "Did you mean 'denied_tools'"),
    (f"{S}x = 1", "2:1", "The keys here are allowed_hosts, allowed_tools"),
    (f"{T}argument = 1", "2:1", "Did you mean 'arguments'"),
    (f"{A}p = {{ prefx = 'a' }}", "2:7", "Did you mean 'prefix'"),
    (f"{A}p = {{ optional = true }}", "2:1", "p: expected one or more of equals, one_of, prefix"),
    (f"{A}p = {{}}", "2:1", "expected one or more of"),
    (f"{S}rate = {{ calls = 1, second = 2 }}", "2:21", "Did you mean 'seconds'"),
    # values
    ("servers = 1", "1:11", "servers: expected a table, got 1"),
    ("[[servers]]\nid = 's'", "1:3", r"for each server, as \[servers.files\], got an array"),
    ("[servers]\ns = 1", "2:5", "s: expected a table, got 1"),
    ("other_servers = true\n[servers]", "1:17", "one of 'allow', 'deny', got true"),
    (f'{S}trust = "truste"', "2:9", "got 'truste'. Did you mean 'trusted'"),
    (f'{S}default_policy = "optout"', "2:18", "Did you mean 'opt-out'"),
    (f"{S}trust = 5", "2:9", "one of 'sandboxed', 'standard', 'trusted', got 5"),
    (f'{S}code_safety = "lax"', "2:15", "code_safety: expected one of"),
    (f'{S}approval = "yes"', "2:12", "approval: expected one of"),
    (f'{S}confirm = ["safe", "risky"]', "2:20", "got 'risky'"),
    (f"{S}confirm = true", "2:11", "expected an array, got true"),
    (f'{S}validator = "sandbx"', "2:13", "Did you mean 'sandbox'"),
    (f"{S}quota = -1", "2:9", "expected a whole number from 0"),
    (f"{S}quota = true", "2:9", "expected a whole number"),
    (f"{S}rate = {{ calls = 0, seconds = 1 }}", "2:18", "expected a whole number from 1"),
    (f"{S}rate = {{ calls = 1, seconds = inf }}", "2:31", "seconds: expected a number, got inf"),
    (f"{S}rate = {{ calls = 1, seconds = 0 }}", "2:31", "expected seconds above 0"),
    (f"{S}rate = {{ calls = 1 }}", "2:8", "expected { calls = 10, seconds = 60 }"),
    (f"{S}rate = 'often'", "2:8", "rate: expected a table, got 'often'"),
    (f'{S}needs_all = "yes"', "2:13", "expected true or false, got 'yes'"),
    (f"{S}credentials_expire = 2026-02-27T12:00:00", "2:22", "a date-time with a zone"),
    (f"{S}allowed_hosts = ['a', 5]", "2:23", "expected a string that is not empty, got 5"),
    (f"{S}denied_tools = 'delete'", "2:16", "expected an array, got 'delete'"),
    (f"{S}denied_tools = ['a',\n  '']", "3:3", "expected a string that is not empty"),
    (f'{S}allowed_tools = ["a\\u0007"]', "2:18", "printable"),
    ('[servers.""]', "1:10", "expected a name of 1 to 256"),
    (f'{S}tools."" = {{}}', "2:7", "expected a name of 1 to 256"),
    (f"{S}tools = 5", "2:9", "tools: expected a table"),
    (f"{A}p = 5", "2:5", "p: expected a table, got 5"),
    (f"{A}'' = {{ equals = 1 }}", "2:1", "expected 1 to 256 characters"),
    (f"{A}p = {{ one_of = [] }}", "2:16", "expected an array with values"),
    (f"{A}p = {{ one_of = 'a' }}", "2:16", "expected an array"),
    (f"{A}p = {{ prefix = '' }}", "2:16", "expected a string that is not empty"),
    (f"{A}p = {{ glob = 5 }}", "2:14", "expected a string"),
    (f"{A}p = {{ glob = '{'x' * 600}' }}", "2:14", "expected 1 to 512 characters"),
    (f"{A}p = {{ minimum = 'a' }}", "2:17", "expected a number, got 'a'"),
    (f"{A}p = {{ minimum = nan }}", "2:17", "expected a number"),
    (f"{A}p = {{ minimum = 2, maximum = 1 }}", "2:17", "not above the maximum 1, got 2"),
    (f"{A}p = {{ equals = 2026-02-27 }}", "2:16", "expected a number, got datetime.date"),
    (f"{A}p = {{ equals = [1, inf] }}", "2:20", "expected a number, got inf"),
    (f"{A}p = {{ equals = 1, optional = 1 }}", "2:30", "expected true or false"),
    # names of permissions
    (f"{S}permissions = ['filesystem.raed']", "2:16", "Did you mean 'filesystem.read'"),
    (f"{S}permissions = ['shell.execute', 'Shell.Execute']", "2:33", "mean 'shell.execute'"),
    (f"{S}permissions = ['com.example']", "2:16", "A custom one is com.example"),
    (f"{S}permissions = ['filesystem.read.all']", "2:16", "is not a permission"),
    (f"{S}permissions = ['com.example.a b']", "2:16", "is not a permission"),
    (f"{T}permissions = ['shel']", "2:16", "Did you mean 'shell'"),
    # not TOML
    (f'{S}trust = "standard"\ntrust = "trusted"', "3:18", "not TOML: Cannot overwrite a value"),
    (f"{S}[servers.s]", "2:11", "not TOML: Cannot declare"),
    (f"{S}x = ", "2:5", "not TOML: Invalid value: the text ends there"),
    (f"{S}x = '", "2:6", "not TOML"),
    (f"{S}quota = {'1' * 5000}", "2:5009", "not TOML: Exceeds the limit"),
    (f"{S}x = {'[' * 3000}{']' * 3000}", "1:1", "too deep in one another"),
]


def test_what_is_wrong_is_refused_with_its_place() -> None:
    for text, place, problem in WRONG:
        with pytest.raises(ConfigError, match=problem) as refused:
            policy_from(text, "p.toml")
        assert str(refused.value).startswith(f"p.toml:{place}: "), (text, str(refused.value))
        assert isinstance(refused.value, ValueError)


def test_servers_that_the_file_does_not_name_are_denied_by_default() -> None:
    assert not policy_from("[servers]", "p.toml").others_allowed
    assert policy_from('other_servers = "allow"\n[servers]', "p.toml") == Policy(
        "p.toml", others_allowed=True
    )
