"""The JSON Schema of the configuration file says what the file may have."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from kinwire.mgp.rules import config_file, policy_file
from kinwire.mgp.rules.config_section import SECTION_KEYS
from tests.runtime.mgp.rules.test_config_file import REFUSED, SPECIFICATION, WHOLE, entry
from tests.runtime.mgp.rules.test_policy_file import WHOLE as WHOLE_POLICY

ROOT = Path(__file__).parents[4]
FILE = ROOT / "generated" / "json-schema" / "mgp" / "servers-file.json"
SCHEMA: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))


def keys(kind: str) -> set[str]:
    return {*SCHEMA["$defs"][kind]["properties"]}


def is_valid(content: object) -> bool:
    # What TOML has and JSON lacks is a text there.
    return Draft202012Validator(SCHEMA).is_valid(json.loads(json.dumps(content, default=str)))


def test_the_schema_has_the_keys_that_are_read() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    elsewhere = {"trust", "default_policy"}  # in the table `mgp`, as the specification has it
    assert keys("ServersFile") == {*config_file._TOP} - {"mcpServers", "$schema"}
    assert keys("ServerEntry") == {*config_file._ENTRY}
    assert keys("ServerSection") == {*SECTION_KEYS}
    assert keys("ConfiguredPolicy") == {*policy_file.SERVER_KEYS} - elsewhere
    assert keys("ConfiguredTool") == {*policy_file._TOOL_KEYS}
    assert keys("ConfiguredArgument") == {*policy_file._ARGUMENT_KEYS}
    assert keys("ToolContextBudget") == {*config_file._BUDGET}


def test_whole_files_fit_the_schema() -> None:
    assert is_valid(tomllib.loads(WHOLE))
    assert is_valid(tomllib.loads(SPECIFICATION))
    policy = tomllib.loads(WHOLE_POLICY)["servers"]["files"]
    assert is_valid({"servers": [{"id": "a", "command": "x", "mgp": {"policy": policy}}]})


def test_a_value_of_another_type_fits_neither() -> None:
    wrong = {
        "servers = 5",
        "[[servers]]\ncommand = 'x'",
        entry("args = 'x y'"),
        entry("env = { PORT = 8080 }"),
        entry("[servers.mgp]\nrestart_policy = 'allways'"),
        entry("[servers.mgp]\nbackoff_max_ms = -1"),
        entry("[servers.mgp]\nping_misses = 0"),
        entry("[servers.mgp]\nleased = 1"),
        entry("mgp = 5"),
    }
    assert wrong <= {*REFUSED}
    assert [text for text in wrong if is_valid(tomllib.loads(text))] == []
