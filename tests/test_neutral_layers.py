"""The layers below `mcp` name no method, header or version of MCP. Read from the source."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

from tests.each import each
from tests.fixtures_imports import modules_of

ROOT = Path(__file__).parents[1]
RUNTIME = ROOT / "runtime" / "kinwire"
FOLDERS = ("support", "rpc", "storage", "transports", "managers")

METHODS = sorted(json.loads((ROOT / "schema/mcp.json").read_text(encoding="utf-8"))["methods"])
WORDS = re.compile(
    "|".join(
        (
            *(rf"(?<![\w/]){re.escape(method)}(?![\w/])" for method in METHODS),
            r"\bmcp-(?:session-id|protocol-version|method|name)\b",
            r"\b20\d\d-\d\d-\d\d\b",  # versions are dates, those of tomorrow too
        )
    ),
    re.IGNORECASE,
)


def texts(tree: ast.Module) -> Iterator[str]:
    """Yield the strings and bytes of a module; docstrings are only for readers."""
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in prose:
            if isinstance(node.value, str):
                yield node.value
            elif isinstance(node.value, bytes):
                yield node.value.decode("latin-1")


def words_in(tree: ast.Module) -> set[str]:
    """Return the words of MCP in the strings of a module."""
    return {word.lower() for text in texts(tree) for word in WORDS.findall(text)}


@each(
    ("source", "word"),
    [
        ("METHOD = 'initialize'", "initialize"),
        ("send({'method': 'ping'})", "ping"),
        ("raise Error(f'{name}: Send initialize for a new one.')", "initialize"),
        ("if frame.method == 'notifications/progress': ...", "notifications/progress"),
        ("match method:\n    case 'tools/call': ...", "tools/call"),
        ("headers['Mcp-Session-Id'] = session", "mcp-session-id"),
        ("headers.get(b'mcp-protocol-version')", "mcp-protocol-version"),
        ("VERSIONS = ('2025-11-25',)", "2025-11-25"),
    ],
)
def test_a_word_of_mcp_is_found(source: str, word: str) -> None:
    assert words_in(ast.parse(source)) == {word}


@each(
    "source",
    [
        '"""How a session begins: with initialize."""',
        'def open() -> None:\n    """Send initialize."""',
        "class Frame:\n    method: str\n    '''As in tools/call.'''",
        "initialize = ping = 1  # 2025-11-25",
        "reason = 'pinging, initialized, tools/caller'",
        "header = 'last-event-id'",
    ],
)
def test_prose_names_and_longer_words_are_not(source: str) -> None:
    assert words_in(ast.parse(source)) == set()


def test_layers_below_mcp_name_nothing_of_it() -> None:
    found = {
        module.file.relative_to(RUNTIME).as_posix(): words
        for module in modules_of(RUNTIME).values()
        if module.file.relative_to(RUNTIME).parts[0] in FOLDERS
        and (words := words_in(ast.parse(module.source)))
    }
    assert found == {}
