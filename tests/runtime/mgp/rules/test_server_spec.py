"""What a spec of a supervised server accepts, and what it shows."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kinwire.mgp.rules.restart_rules import RestartRules
from kinwire.mgp.rules.server_spec import ServerSpec

DOCUMENT = Path(__file__).parents[4] / "schema" / "mgp.json"
EXAMPLE = json.loads(DOCUMENT.read_text("utf-8"))["$defs"]["RestartConfig"]["examples"][0]
COMMAND: dict[str, Any] = {"command": "python"}
URL: dict[str, Any] = {"url": "https://example.org/mcp"}


@pytest.mark.spec("mgp-11.5-5")
def test_defaults_are_those_of_the_specification() -> None:
    """As the example of section 11.5 has them."""
    rules = RestartRules()
    assert {
        "restart_policy": rules.policy,
        "max_restarts": rules.max_restarts,
        "restart_window_secs": rules.window,
        "backoff_base_ms": rules.backoff_base * 1000,
        "backoff_max_ms": rules.backoff_max * 1000,
    } == EXAMPLE
    spec = ServerSpec("a", "python")
    assert (spec.ping_timeout, spec.ping_misses, spec.drain_timeout) == (5.0, 3, 30.0)


def test_the_transport_follows_from_the_way() -> None:
    assert ServerSpec("a", **COMMAND).transport == "stdio"
    assert ServerSpec("a", **URL).transport == "http"
    assert ServerSpec("a", url="WSS://example.org/mcp").transport == "ws"


def test_equal_specs_are_equal_whatever_they_were_made_of() -> None:
    one = ServerSpec("a", command="python", args=["x"], cwd="/srv", env={"A": "1"})
    other = ServerSpec("a", command=Path("python"), args=("x",), cwd=Path("/srv"), env={"A": "1"})  # type: ignore[arg-type]
    assert one == other
    assert one != replace(one, env={"A": "2"})


def test_later_changes_of_what_was_passed_change_no_spec() -> None:
    args, env = ["x"], {"A": "1"}
    spec = ServerSpec("a", "python", args=args, env=env)
    args.append("y")
    env["B"] = "2"
    assert (spec.args, spec.env) == (("x",), {"A": "1"})


def test_secrets_are_not_shown() -> None:
    specs = (
        ServerSpec("a", "python", args=["--key=SECRET"], env={"KEY": "SECRET"}),
        ServerSpec("a", url="https://example.org/SECRET", headers={"Authorization": "SECRET"}),
    )
    assert not any("SECRET" in repr(spec) for spec in specs)


def test_wrong_values_are_refused_with_their_names() -> None:
    wrong: tuple[tuple[dict[str, Any], str], ...] = (
        ({}, "either a command or a url"),
        ({**COMMAND, **URL}, "either a command or a url"),
        ({"command": ""}, "empty"),
        ({"url": "ftp://SECRET"}, 'Write ServerSpec("files", url="http://127.0.0.1:8000/mcp")'),
        (
            {**URL, "headers": {"A": 1}},
            'Write ServerSpec("files", url="http://127.0.0.1:8000/mcp", headers={',
        ),
        ({"url": "/SECRET"}, "url"),
        ({**COMMAND, "headers": {"A": "SECRET"}}, "headers: expected nothing, as it is for a url"),
        ({**COMMAND, "insecure": True}, "insecure: expected nothing, as it is for a url"),
        ({**URL, "args": ["SECRET"]}, "args: expected nothing, as it is for a command"),
        ({**URL, "env": {"A": "SECRET"}}, "env: expected nothing, as it is for a command"),
        ({**URL, "cwd": "/"}, "cwd: expected nothing, as it is for a command"),
        (
            {**URL, "max_memory_bytes": 1},
            "max_memory_bytes: expected nothing, as it is for a command",
        ),
        ({**COMMAND, "public_only": True}, "public_only: expected nothing, as it is for a url"),
        ({"url": "wss://SECRET", "public_only": True}, "public_only: expected a url of http"),
        ({**COMMAND, "args": "SECRET"}, "args"),
        ({**COMMAND, "args": [1]}, "args"),
        ({**COMMAND, "env": {"A": 1}}, "env"),
        ({**COMMAND, "restart": "always"}, "restart"),
        ({**COMMAND, "when_restarting": "hope"}, "when_restarting"),
        *(({**COMMAND, name: -1}, name) for name in ("ping_misses", "max_memory_bytes")),
        *(({**COMMAND, name: 0}, name) for name in ("ping_misses", "max_memory_bytes")),
        *(({**COMMAND, name: 0}, name) for name in ("start_timeout", "ping_interval")),
        *(({**COMMAND, name: 0}, name) for name in ("ping_timeout", "idle_timeout")),
        *(({**COMMAND, name: float("nan")}, name) for name in ("drain_timeout", "wait_timeout")),
        ({**COMMAND, "leased": 1}, "leased"),
    )
    for arguments, words in wrong:
        with pytest.raises((TypeError, ValueError), match=re.escape(words)) as caught:
            ServerSpec("a", **arguments)
        assert "SECRET" not in str(caught.value) or "args" in arguments
    for name in ("", " a", "a\nb", None, 1):
        with pytest.raises((TypeError, ValueError), match=r"ServerSpec\.id"):
            ServerSpec(name, **COMMAND)  # type: ignore[arg-type]


def test_wrong_restart_rules_are_refused() -> None:
    wrong: tuple[dict[str, Any], ...] = (
        {"policy": "sometimes"},
        {"max_restarts": -1},
        {"max_restarts": 1.5},
        {"max_restarts": True},
        *({name: -0.1} for name in ("window", "backoff_base", "backoff_max")),
        *({name: float("inf")} for name in ("window", "backoff_base", "backoff_max")),
    )
    for arguments in wrong:
        with pytest.raises(ValueError, match=f"RestartRules.{next(iter(arguments))}"):
            RestartRules(**arguments)
