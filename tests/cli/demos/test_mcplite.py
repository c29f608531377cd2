"""What the demo of MCP-lite says."""

from __future__ import annotations

import anyio
import pytest

from kinwire_cli.demos.lite_conversation import converse
from kinwire_cli.demos.narration import Line
from kinwire_cli.extras import is_installed

SAID = [
    "LiteServer(server).asgi().run(port=0)",
    "search_documents (query)",
    "answer MCP Protocol Overview",
    "failure DIVISION_BY_ZERO",
    "Did you mean 'search_documents'?",
    "promise a token, to be redeemed",
    "answer 1000000",
    "elicitation Two things are needed",
    "answer A short letter to Ada about engines.",
    "part Executive Summary",
    "answer increased by 15%",
]


class Heard:
    """Keeps what the demo says."""

    def __init__(self) -> None:
        self.titles: list[str] = []
        self.lines: list[Line] = []

    def begin(self, title: str) -> None:
        self.titles.append(title)

    def tell(self, line: Line) -> None:
        self.lines.append(line)


def test_the_demo_shows_each_kind_of_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kinwire.mcplite.client.promise.next_poll", lambda *_, **__: 0.01)
    heard = Heard()
    anyio.run(converse, heard)  # on asyncio, as the command runs it
    said = iter(heard.lines)
    for words in SAID:
        kind, _, text = words.partition(" ")
        assert any(
            words in line.text or (line.method == kind and text in line.text) for line in said
        ), words
    assert len(heard.titles) == 6
    assert is_installed("grpc") is not heard.lines[-1].text.startswith("skipped")
