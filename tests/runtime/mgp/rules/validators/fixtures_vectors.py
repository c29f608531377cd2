"""The vectors of the validators, and tools to judge them with."""

from __future__ import annotations

__all__ = ("HOME", "known", "reasons", "shell_lines", "vectors")

import json
from pathlib import Path
from typing import Any

from kinwire.mgp.rules.server_policy import ServerPolicy
from kinwire.mgp.rules.tools import KnownTool, known_tool
from kinwire.mgp.rules.validators.judgement import ValidatorOptions
from kinwire.mgp.rules.validators.standard import judge

HOME = Path(__file__).parents[4] / "vectors" / "validators"


def vectors(name: str) -> Any:
    """Return what is in a file of JSON."""
    return json.loads((HOME / name).read_text("utf-8"))


def shell_lines(name: str) -> list[str]:
    """Return the commands in a file; `E:` marks a line with escapes."""
    lines = (HOME / name).read_text("utf-8").split("\n")
    return [_unescaped(line) for line in lines if line and not line.startswith("#")]


def _unescaped(line: str) -> str:
    if not line.startswith("E:"):
        return line
    return line[2:].encode("latin-1", "backslashreplace").decode("unicode_escape")


def known(name: str, side_effects: list[str] | None = None, **more: Any) -> KnownTool:
    """Return a tool; with side effects it declares them."""
    definition: dict[str, Any] = {"name": name, "inputSchema": {"type": "object"}, **more}
    if side_effects is not None:
        definition["security"] = {"risk_level": "safe", "side_effects": side_effects}
    found = known_tool(definition, ServerPolicy(), "standard")
    assert found is not None
    return found


def reasons(
    validator: str, arguments: dict[str, Any], tool: str | KnownTool = "run", **options: Any
) -> list[str]:
    """Return why a call is refused."""
    judged = known(tool) if isinstance(tool, str) else tool
    found = judge(validator, judged, arguments, ValidatorOptions(**options))
    return [f"{one.place}: {one.reason}" for one in found]
