"""`kinwire config check`, and `kinwire import config`."""

from __future__ import annotations

import json
import stat
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from kinwire.mgp import load_config
from kinwire_cli import main
from kinwire_cli.config_import import _value

SECRET = "s3cr3t"
GOOD = f"""\
[[servers]]
id = "files"
command = {json.dumps(sys.executable)}
args = ["{SECRET}"]
env = {{ TOKEN = "${{TOKEN}}" }}
mgp = {{ trust_level = "trusted", restart_policy = "always" }}

[[servers]]
id = "away"
url = "https://user:{SECRET}@h.example:8443/{SECRET}"
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOKEN", SECRET)
    for name in ("MGP_CONFIG_PATH", "MCP_CONFIG_PATH", "NOT_SET"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "mgp.toml"


def checked(*words: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = main(["config", "check", *words])
    out, err = capsys.readouterr()
    assert SECRET not in out + err
    return code, out, err


def test_a_good_file_is_shown_without_its_secrets(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(GOOD)
    code, out, err = checked(capsys=capsys)
    assert (code, err) == (0, "mgp.toml: 2 of 2 servers can start\n")
    assert [line.split()[-3:] for line in out.splitlines()[1:]] == [
        [sys.executable, "trusted", "always"],
        ["https://h.example:8443", "standard", "on_failure"],
    ]


def test_mistakes_are_listed_with_their_lines(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = GOOD.replace("TOKEN}", "NOT_SET}") + 'insecur = true\n[[servers]]\nid = "c"\n'
    file.write_text(f'{text}command = "not-there --token {SECRET}"\n')
    code, out, err = checked(str(file), capsys=capsys)
    assert code == 1
    assert err.splitlines() == [
        f"error: {file}:5:17: the server 'files' cannot start: "
        "TOKEN: the variable NOT_SET is not set",
        f"warning: {file}:11:1: unknown key 'insecur'. Did you mean 'insecure'?",
        f"error: {file}:12:1: the server 'c' cannot start: there is no command 'not-there ...'. "
        "Write the words after it in args",
        f"{file}: 1 of 3 servers can start",
    ]
    assert out.splitlines()[1].split() == ["files", "-", "trusted", "-"]


def test_a_file_that_cannot_be_used_is_one_mistake(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(f"{GOOD}args = '{SECRET}'\n")
    code, out, err = checked("--format", "json", capsys=capsys)
    assert (code, err) == (1, "")
    assert json.loads(out) == {
        "file": "mgp.toml",
        "servers": [],
        "problems": [
            {
                "level": "error",
                "line": 11,
                "column": 1,
                "text": "args is for a server with a command",
            }
        ],
    }
    file.write_text(GOOD)
    code, out, _ = checked("--format", "json", capsys=capsys)
    assert code == 0
    assert json.loads(out)["servers"][1] == {
        "server": "away",
        "reached_by": "https://h.example:8443",
        "trust": "standard",
        "restart": "on_failure",
    }
    file.write_text("[[")
    code, out, err = checked(capsys=capsys)
    assert (code, out, len(err.splitlines())) == (1, "", 1)  # nothing is said of 0 servers
    file.unlink()
    assert checked(str(file), capsys=capsys)[0] == 2
    assert checked(capsys=capsys)[2].endswith("hint: Name it: kinwire config check mgp.toml\n")


OF_A_CLIENT: dict[str, Any] = {
    "mcpServers": {
        "files": {
            "command": "npx",
            "args": ["-y", 'a"\\\u007fé\n'],
            "env": {"T": "${env:TOKEN}", "a.b": SECRET, "D": "${X:-y}"},
        },
        "away": {
            "type": "streamable-http",
            "url": "https://h/",
            "headers": {"K": "${input:my-key}"},
        },
        "off": {"command": "x", "disabled": True},
        "own": {"command": "x", "mgp": {"policy": {"tools": {"t": {"enabled": False}}}}},
    },
    "theme": "dark",
}


def test_the_json_of_a_client_is_written_as_toml(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("client.json").write_text(json.dumps(OF_A_CLIENT, indent=1))
    assert main(["import", "config", "client.json"]) == 0
    out, err = capsys.readouterr()
    assert out == "mgp.toml\n"
    assert SECRET not in err
    assert [line.partition(": ")[2][:45] for line in err.splitlines()] == [
        "the input 'my-key' is the variable MY_KEY now",
        "client.json:39:2: unknown key 'theme'. The ke",
        "client.json:22:3: the server 'off' is disable",
        "files: values were copied; variables keep sec",
    ]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    monkeypatch.setenv("MY_KEY", "k")
    files, away, own = load_config().specs
    assert (files.command, files.args) == ("npx", ("-y", 'a"\\\u007fé\n'))
    assert files.env == {"T": SECRET, "a.b": SECRET, "D": "y"}
    assert (away.url, away.headers) == ("https://h/", {"K": "k"})
    assert own.command == "x"
    assert not load_config().policy.servers["own"].tools["t"].enabled
    assert load_config().warnings == ()


def test_nothing_is_overwritten_or_half_understood(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    client = Path("client.json")
    wrong = {
        '{"mcpServers": {"a": {}}}': "client.json:1:17: expected a command or a url",
        GOOD: "client.json is not JSON",
        "{": "client.json:1:2: not JSON",
    }
    for text, problem in wrong.items():
        client.write_text(text)
        assert main(["import", "config", "client.json"]) == 2
        assert problem in capsys.readouterr().err
    assert not file.exists()
    client.write_text(json.dumps(OF_A_CLIENT))
    file.write_text("mine")
    for words in (["client.json"], ["client.json"] * 2, ["client.json", "--protocol", "x"]):
        assert main(["import", "config", *words]) == 2
    assert "--protocol is not an option of import config" in capsys.readouterr().err
    assert file.read_text() == "mine"
    assert main(["import", "config", "client.json", "--out", "other.toml"]) == 0


VALUES = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(), below, max_size=3),
    max_leaves=8,
)


@given(VALUES)
def test_any_value_is_written_so_that_toml_reads_it(value: Any) -> None:
    assert tomllib.loads(f"a = {_value(value)}") == {"a": value}
