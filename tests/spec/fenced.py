"""The blocks of the specifications, and where `blocks/<protocol>.json` says that each lives.

A row is about one value of one block (`part`, from 1, where a block holds several):

- `{"block", "line", "is": "example", "of": "Type", "at"?}`: an example of that type, of which the
  block, or what it has at the pointer `at`, is the model.
- `{"block", "line", "is": "frame", "message", "method"?, "within"?}`: a message; `method` names
  what a response answers, `within` is the pointer at which the block stands in it.
- `{"block", "line", "is": "definition", "of": "Type", "protocol"?}`: a type of that document, of
  which the block is the source text.

`outlined.py` finds the blocks of a text without fences; `test_outlined_blocks.py` has its rows.

Comments of a block are left out; `...`, as text too, a comment between `/*` and `*/` and the bare
name of a type stand for anything that belongs there.
"""

from __future__ import annotations

__all__ = ("LANGUAGES", "Block", "at", "blocks_of", "covers", "rows_of", "values_of")

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.spec.outlined import ANYTHING, language_of, runs_of, values_in

# A fence without a language draws a picture or lists names; it is not a message.
LANGUAGES = ("json", "jsonc", "toml", "typescript")

TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/|\.\.\.|\b[A-Z]\w*|[{}\[\]]', re.DOTALL)
FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """One block of a specification."""

    number: int
    """Its place among the blocks that count, from 1."""
    line: int
    """The line of the text on which it begins."""
    language: str
    text: str


def blocks_of(text: str) -> list[Block]:
    """Return the blocks of a text that are messages, parts of messages or types."""
    if not text.startswith("# "):
        runs = enumerate(runs_of(text), start=1)
        return [Block(number, line, language_of(run), run) for number, (line, run) in runs]
    found = [one for one in FENCED.finditer(text) if one[1] in LANGUAGES]
    return [
        Block(number, 1 + text.count("\n", 0, one.start()), one[1], one[2])
        for number, one in enumerate(found, start=1)
    ]


def rows_of(protocol: str) -> list[dict[str, Any]]:
    """Return the rows of a protocol."""
    file = Path(__file__).with_name("blocks") / f"{protocol}.json"
    found: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
    return found


def values_of(block: Block) -> list[Any]:
    """Return the values that a block writes down; types in source text have none."""
    if block.language == "typescript":
        return []
    if block.language == "toml":
        return [tomllib.loads(block.text)]
    if not block.language.startswith("json"):
        return values_in(block.language, block.text)
    return list(_json_values(_without_comments(block.text)))


def at(value: Any, pointer: str) -> Any:
    """Return what `value` has at a JSON pointer.

    Raises:
        LookupError: it has nothing there.
    """
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        value = value[int(name)] if isinstance(value, list) else value[name]
    return value


def covers(written: Any, value: Any) -> bool:
    """Return whether `value` is what was written down, with what was left out filled in."""
    if isinstance(written, dict) and isinstance(value, dict):
        named = {name: member for name, member in written.items() if name != ANYTHING}
        complete = (
            named.keys() < value.keys() if ANYTHING in written else named.keys() == value.keys()
        )
        return complete and all(covers(member, value[name]) for name, member in named.items())
    if isinstance(written, list) and isinstance(value, list):
        items = [item for item in written if item != ANYTHING]
        complete = len(items) < len(value) if ANYTHING in written else len(items) == len(value)
        return complete and all(map(covers, items, value))
    return type(written) is type(value) and bool(written == value)


def _json_values(text: str) -> Iterator[Any]:
    """Yield one value after the other; a member that stands alone is an object of one member."""
    decoder = json.JSONDecoder()
    rest = text.strip()
    while rest:
        value, end = decoder.raw_decode(rest)
        rest = rest[end:].lstrip()
        if rest.startswith(":"):
            member, end = decoder.raw_decode(rest := rest[1:].lstrip())
            value, rest = {value: member}, rest[end:].lstrip()
        yield value


def _without_comments(text: str) -> str:
    """Return the text as JSON, `ANYTHING` in the place of what it leaves out."""
    open_brackets: list[str] = []

    def replaced(token: re.Match[str]) -> str:
        found = token[0]
        if found in "{[":
            open_brackets.append(found)
        elif found in "}]":
            open_brackets.pop()
        elif found.startswith("//"):
            return ""
        elif found == '"..."':  # MGP's text has whole schemas left out as { "..." : "..." }
            return f'"{ANYTHING}"'
        elif not found.startswith('"'):
            return f'"{ANYTHING}": null' if open_brackets[-1] == "{" else f'"{ANYTHING}"'
        return found

    return TOKEN.sub(replaced, text)
