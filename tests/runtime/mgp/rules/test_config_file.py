"""What a configuration file says, and where it is wrong: with line, column and what was meant."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
from hypothesis import given, strategies as st

from kinwire.mgp import ServerPolicy, ServerSpec
from kinwire.mgp.rules import config_file
from kinwire.mgp.rules.config_file import config_from
from kinwire.mgp.rules.config_problem import ConfigError
from kinwire.mgp.rules.config_section import SECTION_KEYS
from kinwire.mgp.rules.config_way import ValueSource
from kinwire.mgp.rules.kernel_config import KernelConfig
from kinwire.mgp.rules.restart_rules import RestartRules
from kinwire_protocols.mgp.models import ServerProfile, ToolContextBudget
from tests.absent import shared

SPECIFICATION = """\
[[servers]]
id = "mind.cerebras"
command = "python"
args = ["mcp-servers/cerebras/server.py"]
transport = "stdio"

[servers.mgp]
extensions = ["security", "lifecycle", "streaming"]
permissions_required = ["network.outbound"]
trust_level = "standard"
restart_policy = "on_failure"

[servers.env]
CEREBRAS_API_KEY = "${CEREBRAS_API_KEY}"
"""
WHOLE = """\
other_servers = "allow"
tool_context_budget.max_tokens = 9000
tool_context_budget.pinned_reserve = 1000
tool_context_budget.discovery_reserve = 5
tool_context_budget.cache_limit = 6

[[servers]]
id = "files"
command = "files-server"
args = ["--root", ""]
cwd = "data/x"
env = { TOKEN = "${TOKEN}" }

[servers.mgp]
trust_level = "trusted"
default_policy = "opt-in"
pinned_tools = ["read"]
restart_policy = "always"
max_restarts = 0
restart_window_secs = 60.5
backoff_base_ms = 250
backoff_max_ms = 10_000
start_timeout_secs = 3
ping_interval_secs = 0
ping_timeout_secs = 2.5
ping_misses = 5
idle_timeout_secs = 600
max_memory_bytes = 1_000_000
drain_timeout_secs = 0
when_restarting = "wait"
wait_timeout_secs = 9
leased = true

[servers.mgp.policy]
approval = "config_only"
permissions = ["filesystem.read"]
validator = "sandbox"
denied_tools = ["delete_*"]
tools.read.arguments.path = { prefix = "/srv" }

[[servers]]
id = "away"
url = "https://example.com/mcp"
headers = { Authorization = "Bearer ${TOKEN}" }
insecure = false
"""
SECRET = "s3cr3t-value"
VARIABLES = {"TOKEN": SECRET, "LINES": f"{SECRET}\nX: y"}


def read(text: str, **variables: str) -> KernelConfig:
    return config_from(text, "f", ValueSource({**VARIABLES, **variables}, "/etc/kernel"))


def entry(text: str) -> str:
    return f'[[servers]]\nid = "a"\ncommand = "c"\n{text}\n'


def url(text: str) -> str:
    return f'[[servers]]\nid = "a"\nurl = "http://localhost/"\n{text}\n'


def test_the_example_is_that_of_the_specification() -> None:
    assert f"```toml\n{SPECIFICATION}```" in shared("specs/mgp.md").read_text("utf-8")


@pytest.mark.spec(
    "mgp-15.2-Configuration-File-Discovery-3",
    "mgp-15.2-Configuration-File-Discovery-4",
    "mgp-15.3-2",
)
def test_the_example_of_the_specification_is_read() -> None:
    config = read(SPECIFICATION, CEREBRAS_API_KEY="k")
    assert config.specs == [
        ServerSpec(
            "mind.cerebras",
            command="python",
            args=["mcp-servers/cerebras/server.py"],
            env={"CEREBRAS_API_KEY": "k"},
        )
    ]
    assert config.servers[0].profile == ServerProfile(
        extensions=["security", "lifecycle", "streaming"],
        permissions_required=["network.outbound"],
        trust_level="standard",
    )
    assert config.policy.servers == {"mind.cerebras": ServerPolicy(trust="standard")}
    assert (config.warnings, config.refused) == ((), {})


def test_a_file_says_all_that_a_program_can_say() -> None:
    config = read(WHOLE)
    restart = RestartRules(
        policy="always", max_restarts=0, window=60.5, backoff_base=0.25, backoff_max=10
    )
    assert config.specs == [
        ServerSpec(
            "files",
            command="files-server",
            args=["--root", ""],
            cwd="/etc/kernel/data/x",
            env={"TOKEN": SECRET},
            restart=restart,
            start_timeout=3,
            ping_interval=None,
            ping_timeout=2.5,
            ping_misses=5,
            idle_timeout=600,
            max_memory_bytes=1_000_000,
            drain_timeout=0,
            when_restarting="wait",
            wait_timeout=9,
            leased=True,
        ),
        ServerSpec(
            "away",
            url="https://example.com/mcp",
            headers={"Authorization": f"Bearer {SECRET}"},
        ),
    ]
    assert config.policy.servers["files"] == ServerPolicy(
        trust="trusted",
        access="opt-in",
        approval="config_only",
        permissions=("filesystem.read",),
        validator="sandbox",
    )
    rules = config.policy.rules["files"]
    assert (str(rules.place), str(rules.denied.find("delete_all"))) == ("f:34:14", "f:38:17")
    assert rules.tools["read"].arguments[0].name == "path"
    assert config.policy.others_allowed
    assert config.servers[0].pinned_tools == ("read",)
    assert config.tool_context_budget == ToolContextBudget(
        max_tokens=9000, pinned_reserve=1000, discovery_reserve=5, cache_limit=6
    )
    assert config.warnings == ()
    assert {*tomllib.loads(WHOLE)["servers"][0]["mgp"]} >= {*SECTION_KEYS} - {
        "extensions",
        "permissions_required",
    }


@pytest.mark.spec(
    "mgp-15.2-Configuration-File-Discovery-6", "mgp-15.2-Configuration-File-Discovery-7"
)
def test_a_server_without_a_section_is_as_a_reader_of_mcp_alone_sees_it() -> None:
    with_section = read(SPECIFICATION, CEREBRAS_API_KEY="k").specs
    start, end = SPECIFICATION.index("[servers.mgp]"), SPECIFICATION.index("[servers.env]")
    plain = read(SPECIFICATION[:start] + SPECIFICATION[end:], CEREBRAS_API_KEY="k")
    assert plain.specs == with_section
    assert plain.policy.servers == {"mind.cerebras": ServerPolicy()}
    assert plain.servers[0].profile == ServerProfile(trust_level="standard")
    (server,) = tomllib.loads(SPECIFICATION)["servers"]
    assert {*server} == {"id", "command", "args", "transport", "env", "mgp"}


@pytest.mark.spec("mgp-15.2-Configuration-File-Discovery-5")
def test_a_variable_that_is_not_set_refuses_its_server_alone() -> None:
    text = entry('env = { A = "${A_SRC}", B = "${NOT_SET}" }') + WHOLE
    config = read(text.replace(WHOLE[: WHOLE.index("[[")], ""), A_SRC="x")
    assert [spec.id for spec in config.specs] == ["files", "away"]
    assert {name: str(problem) for name, problem in config.refused.items()} == {
        "a": "f:4:29: B: the variable NOT_SET is not set"
    }
    assert config.servers[0].spec is None
    assert {*config.policy.rules} == {"a", "files", "away"}
    header = '[[servers]]\nid = "b"\nurl = "https://h/"\nheaders = { K = "${LINES}" }\n'
    assert str(read(header).refused["b"]) == (
        "f:4:17: K: the value of a header has more than one line"
    )
    plain = f'[[servers]]\nid = "b"\nurl = "http://h.example/{SECRET}"\n'
    assert str(read(plain).refused["b"]) == (
        "f:3:7: plain text would go to h.example. Use https, or insecure = true"
    )
    assert read(f"{plain}insecure = true").specs[0].insecure
    assert read(entry('env = { A = "${A_SRC}" }'), A_SRC="p$q${r}").specs[0].env == {"A": "p$q${r}"}


WARNED = {
    "servrs = 1\n": "f:1:1: unknown key 'servrs'. Did you mean 'servers'?",
    entry('comand = "x"'): "f:4:1: unknown key 'comand'. Did you mean 'command'?",
    entry("[servers.mgp]\nmax_restart = 5"): "f:5:1: unknown key 'max_restart'. Did you mean",
    entry("[servers.other]\nx = 1"): "f:4:10: unknown key 'other'. The keys here are args, command",
    entry('[servers.mgp]\ntrust_level = "sandbox"'): "f:5:15: trust_level: expected one of",
    entry('[servers.mgp]\npermissions_required = ["network.outbond"]'): (
        "f:5:25: 'network.outbond' is not a permission. Did you mean 'network.outbound'?"
    ),
    entry('args = ["a", "${TOKEN}"]'): "f:4:14: ${TOKEN} stays as it is here",
}


def test_what_other_readers_may_understand_is_reported_with_its_line() -> None:
    for text, warning in WARNED.items():
        config = read(text)
        assert [str(one)[: len(warning)] for one in config.warnings] == [warning]
        assert config.refused == {}
    for word, end in (
        ("untrusted", "Did you mean 'trusted'? It counts as sandboxed"),
        ("x", "got 'x'. It counts as sandboxed"),
    ):
        config = read(entry(f'[servers.mgp]\ntrust_level = "{word}"'))
        assert config.policy.servers["a"].trust == "sandboxed"
        assert config.warnings[0].text.endswith(end)


BUDGET = "tool_context_budget = { pinned_reserve = 1, discovery_reserve = 2, cache_limit = 3"
REFUSED = {
    "servers = 5": "1:11: servers: expected [[servers]] for each server",
    '[servers.files]\ntrust = "standard"': "1:2: servers: expected [[servers]] for each server",
    "[[servers]]\ncommand = 'x'": "1:1: expected an id for the server",
    "[[servers]]\nid = ''": "2:6: id: expected a string that is not empty",
    '[[servers]]\nid = "a\\n"': "2:1: expected a name of 1 to",
    '[[servers]]\nid = "a "\ncommand = "x"': "1:1: ServerSpec.id: expected a name",
    '[[servers]]\nid = "a"': "1:1: expected a command or a url",
    entry('url = "https://x"'): "1:1: expected either a command or a url, got both",
    entry("") + entry(""): "5:1: the id 'a' is that of the server in line 1",
    entry("args = 'x y'"): "4:8: args: expected an array, got a string",
    entry(f"args = ['{SECRET}', 5]"): "4:25: 1: expected a string, got another value",
    entry(f"env = ['{SECRET}']"): "4:7: env: expected a table, got an array",
    entry("env = { PORT = 8080 }"): "4:16: PORT: expected a string, got another value",
    entry(f"env = {{ T = '{SECRET} ${{x-y}}' }}"): "4:13: T: expected ${NAME}",
    entry(f"env = {{ 'A=B' = '{SECRET}' }}"): "4:9: expected a name of a variable",
    entry(f"env = {{ 'T={SECRET}' = '' }}"): "4:9: expected a name of a variable",
    url("insecure = 1"): "4:12: insecure: expected true or false",
    f'[[servers]]\nid = "a"\nurl = "http://:5/{SECRET}"': "3:7: url: expected a URL with a host",
    entry("headers = { a = 'b' }"): "4:1: headers is for a server with a url",
    entry("transport = 'htp'"): "4:13: transport: expected one of",
    entry("transport = 'sse'"): "4:13: transport: expected stdio, since the server has a command",
    entry("cwd = '../x'"): "4:7: cwd: expected an absolute path, or one that stays in the folder",
    entry("cwd = 'a/../../kernel2'"): "4:7: cwd: expected an absolute path",
    entry("denied_tools = ['x']"): "4:1: denied_tools has no effect here. Write",
    entry("trust_level = 'trusted'"): "4:1: trust_level has no effect here. Write",
    entry("[servers.mgp]\napproval = 'deny_all'"): "5:1: approval has no effect here",
    entry("[servers.mgp.policy]\ntrust = 'trusted'"): "5:1: trust stands in the table mgp",
    entry("[servers.mgp.policy]\ndenied_tolls = ['x']"): "5:1: unknown key 'denied_tolls'. Did you",
    entry("[servers.mgp.policy]\npermissions = ['shel']"): "5:16: 'shel' is not a permission",
    entry(
        "[servers.mgp]\nrestart_policy = 'allways'"
    ): "5:18: restart_policy: expected one of 'nev",
    entry("[servers.mgp]\nbackoff_max_ms = -1"): "5:18: backoff_max_ms: expected a number from 0",
    entry("[servers.mgp]\nping_misses = 0"): "5:15: ping_misses: expected a whole number from 1",
    entry("[servers.mgp]\nleased = 1"): "5:10: leased: expected true or false",
    entry("mgp = 5"): "4:7: mgp: expected a table",
    f'[[servers]]\nid = "a"\nurl = "ftp://{SECRET}/"': "3:7: url: expected a URL of http",
    url("mgp = { max_memory_bytes = 5 }"): "1:1: ServerSpec 'a': ",
    url('transport = "ws"'): "4:13: transport: expected the tr",
    url(f'headers = {{ "a b" = "{SECRET}" }}'): "4:13: expected",
    f"{BUDGET}, max_tokens = 5 }}": "1:1: the parts are 6 tokens together, and max_tokens is 5",
    f"{BUDGET} }}": "1:1: tool_context_budget: expected all four numbers, and these "
    "are missing: max_tokens",
    "tool_context_budget.max_tokens = 1": "1:1: tool_context_budget: expected all four numbers, "
    "and these are missing: pinned_reserve, discovery_reserve, cache_limit",
    entry("tool_context_budget.max_tokens = 9"): "4:1: tool_context_budget has no effect here. "
    "Write it at the top of the file",
    entry("[servers.mgp]\nother_servers = 'allow'"): "5:1: other_servers has no effect here. Write",
    entry("[servers.mgp.policy]\nother_servers = 'allow'"): "5:1: ",
    "tool_context_budget = { most = 10 }": "1:25: unknown key 'most'. The keys here are",
    '{"mcpServers": {"": {"command": "x"}}}': "1:17: expected a name of 1 to",
    '{"mcpServers": {"a": {"command": "x", "type": "htp"}}}': "1:47: type: expected one of",
    '{"mcpServers": {"a": {"command": "x"}, "a": {}}}': "1:40: the key 'a' is there twice",
    '{"mcpServers": []} x': "1:20: not JSON",
}


def test_what_cannot_be_read_is_refused_with_its_place_and_without_its_secrets() -> None:
    for text, problem in REFUSED.items():
        if problem:
            with pytest.raises(ConfigError) as refused:
                read(text)
            assert str(refused.value).startswith(f"f:{problem}"), text
            assert SECRET not in str(refused.value)


MCP_SERVERS: dict[str, Any] = {
    "mcpServers": {
        "files": {"command": "npx", "args": ["-y", "files"], "env": {"T": "${TOKEN}"}},
        "away": {"type": "http", "url": "https://h/", "headers": {"K": "${TOKEN}"}},
        "old": {"type": "sse", "url": "https://h/sse", "alwaysAllow": ["x"]},
        "off": {"command": "x", "disabled": True},
        "on": {"command": "x", "disabled": False, "mgp": {"restart_policy": "never"}},
    },
    "theme": "dark",
}


@pytest.mark.parametrize("key", ["mcpServers", "servers"])
def test_the_json_of_other_clients_is_read(key: str) -> None:
    content = {key: MCP_SERVERS["mcpServers"], "theme": "dark"}
    config = read(json.dumps(content, indent=1))
    assert config.specs == [
        ServerSpec("files", command="npx", args=["-y", "files"], env={"T": SECRET}),
        ServerSpec("away", url="https://h/", headers={"K": SECRET}),
        ServerSpec("old", url="https://h/sse"),
        ServerSpec("on", command="x", restart=RestartRules(policy="never")),
    ]
    found = [str(one).partition(": ")[2] for one in config.warnings]
    assert [one.partition(".")[0] for one in found] == [
        "unknown key 'theme'",
        "unknown key 'alwaysAllow'",
        "the server 'off' is disabled, and so it is left out",
    ]


def test_a_server_that_is_disabled_is_left_out_of_toml_too() -> None:
    text = '[[servers]]\nid = "{}"\ncommand = "x"\ndisabled = {}\n'
    config = read(text.format("off", "true") + text.format("on", "false"))
    assert [spec.id for spec in config.specs] == ["on"]
    (warning,) = config.warnings
    assert str(warning).endswith(":1:1: the server 'off' is disabled, and so it is left out")
    with pytest.raises(ConfigError, match="disabled"):
        read(text.format("odd", '"yes"'))


def test_the_same_file_can_be_json() -> None:
    content = json.dumps(tomllib.loads(WHOLE))
    assert read(content).specs == read(WHOLE).specs
    assert read(content).policy.servers == read(WHOLE).policy.servers


def test_a_file_has_at_most_a_thousand_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert config_file.MOST_SERVERS == 1000
    monkeypatch.setattr(config_file, "MOST_SERVERS", 5)
    one = '[[servers]]\nid = "{}"\ncommand = "x"\n'
    text = "".join(map(one.format, range(5)))
    assert len(read(text).specs) == 5
    with pytest.raises(ConfigError, match=r"^f:16:1: expected at most 5 servers"):
        read(text + one.format("x"))


def test_nothing_that_is_read_shows_a_secret() -> None:
    config = read(WHOLE)
    assert SECRET not in repr(config)
    assert config.specs[0].env == {"TOKEN": SECRET}


KINDS = st.sampled_from([WHOLE, SPECIFICATION, json.dumps(MCP_SERVERS), *WARNED, *REFUSED])
MARKS = st.sampled_from([SECRET, "${", "}", "$${", "'", '"', "[", "{", "=", "\n", "9" * 50, "\x00"])


@given(KINDS, st.lists(st.tuples(st.integers(0, 1500), MARKS), max_size=4), st.integers(0, 1500))
def test_any_file_is_read_or_refused_by_name(
    text: str, marks: list[tuple[int, str]], end: int
) -> None:
    for place, mark in marks:
        text = text[:place] + mark + text[place:]
    for cut in (text, text[:end]):  # one that is written by half, too
        try:
            config = read(cut)
        except ConfigError:
            continue
        assert {*config.policy.rules} == {one.id for one in config.servers}
