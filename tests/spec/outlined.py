"""The unfenced blocks of a plain text: JSON, HTTP requests, event streams, Protocol Buffers.

Where paragraphs are single lines, a run of lines without an empty one between them is a block; a
line inside a block that looks empty has a space. `fenced.py` says what becomes of blocks.
"""

from __future__ import annotations

__all__ = ("ANYTHING", "language_of", "runs_of", "values_in")

import json
import re
from collections.abc import Iterator
from typing import Any

ANYTHING = "…"
"""Stands for what a block leaves out: an item of a list, a name in an object."""

BEGINNINGS = {
    "json": r"\{",
    "http": r"POST ",
    "sse": r"event: ",
    "proto": r"syntax = |message ",  # declarations
    "protobuf": r"// |\w+ \{",  # messages in protobuf's text format, and calls with one
}

TOKEN = re.compile(
    r'\s+|//[^\n]*|(?P<text>"(?:\\.|[^"\\])*")|(?P<left_out>/\*.*?\*/)'
    r"|(?P<number>-?\d+)|(?P<name>[\w.]+)|(?P<mark>[{}\[\]():=])",
    re.DOTALL,
)


def runs_of(text: str) -> Iterator[tuple[int, str]]:
    """Yield the blocks of a plain text, each with the line on which it begins."""
    run: list[str] = []
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        if line:
            run.append(line)
            continue
        if len(run) > 1:
            yield number - len(run), "\n".join(run)
        run = []


def language_of(text: str) -> str:
    """Return what a block is written in.

    Raises:
        ValueError: it begins like nothing that is known.
    """
    for language, beginning in BEGINNINGS.items():
        if re.match(beginning, text):
            return language
    raise ValueError(f"a block of no known language: {text.splitlines()[0]}")


def values_in(language: str, text: str) -> list[Any]:
    """Return the values that a block writes down; declarations have none."""
    if language == "http":
        return [_request(text)]
    if language == "sse":
        return list(_events(text))
    return list(_messages(text)) if language == "protobuf" else []


def _request(text: str) -> dict[str, Any]:
    head, _, body = text.partition("\n \n")
    first, *headers = (line.strip() for line in head.splitlines())
    verb, path, _version = first.split()
    fields = dict(header.split(": ", 1) for header in headers)
    return {"verb": verb, "path": path, "headers": fields, "body": json.loads(body)}


def _events(text: str) -> Iterator[dict[str, Any]]:
    for one in filter(str.strip, re.split(r"\n +\n", text)):
        fields = dict(line.strip().split(": ", 1) for line in one.strip().splitlines())
        yield {"event": fields["event"], "data": json.loads(fields["data"])}


def _messages(text: str) -> Iterator[dict[str, Any]]:
    """Yield each outermost message as an object of one member, its name."""
    tokens = _Tokens(text)
    while (token := tokens.take()) is not None:
        if tokens.next == "{":
            yield {token: tokens.value()}


class _Tokens:
    """The text format of Protocol Buffers, read from left to right."""

    def __init__(self, text: str) -> None:
        self._rest = [one for one in TOKEN.finditer(text) if one.lastgroup]

    @property
    def next(self) -> str | None:
        return self._rest[0][0] if self._rest else None

    def take(self) -> str | None:
        return self._rest.pop(0)[0] if self._rest else None

    def value(self) -> Any:
        kind = self._rest[0].lastgroup
        token = self.take()
        if token == "{":
            return dict(self._members())
        if token == "[":
            return list(self._items())
        return json.loads(token) if token and kind in ("text", "number") else token

    def _members(self) -> Iterator[tuple[str, Any]]:
        while (name := self.take()) != "}":
            assert name is not None, "a message has no end"
            if name.startswith("/*"):
                yield ANYTHING, None
                continue
            if self.next == ":":
                self.take()
            yield json.loads(name) if name.startswith('"') else name, self.value()

    def _items(self) -> Iterator[Any]:
        while self.next != "]":
            yield self.value()
        self.take()
