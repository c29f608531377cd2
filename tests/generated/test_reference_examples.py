"""The examples of the reference run: what the client's side sends, and the handler's answers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from inspect import isawaitable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kinwire_protocols import mcp, mcpe, mcpl, mcplite, mgp
from kinwire_protocols.base import JsonObject, Message, from_wire, to_wire
from kinwire_protocols.peer import Handlers, Method
from kinwire_protocols.tool_methods import ToolHandlers
from tests.generated.interpreter import ROOT

pytestmark = pytest.mark.anyio

REFERENCE = ROOT / "generated" / "reference"
NAMES = {
    "from_wire": from_wire,
    "mcp": mcp,
    "mcpe": mcpe,
    "mcpl": mcpl,
    "mcplite": mcplite,
    "mgp": mgp,
}


class Example(NamedTuple):
    """The blocks of one page."""

    name: str
    messages: list[Any]
    call: str
    handler: str


def examples() -> Iterator[Example]:
    """Yield the example of each page that has one."""
    import json

    for page in sorted(REFERENCE.glob("*/methods/*.md")) + sorted(REFERENCE.glob("*/tools/*.md")):
        text = page.read_text(encoding="utf-8")
        python = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
        blocks = re.findall(r"^```json\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
        if python:
            name = Path(page).relative_to(REFERENCE).with_suffix("").as_posix()
            yield Example(name, [json.loads(block) for block in blocks], *python)


EXAMPLES = list(examples())


class Wire:
    """A peer that hands every message to handlers, and keeps what was sent."""

    def __init__(self, handlers: Any) -> None:
        self._handlers = handlers
        self.sent: list[JsonObject] = []
        self.answers: list[Any] = []

    async def call(self, method: Method[Any, Any], params: Message) -> Any:
        answer = await self._handled(method, params)
        self.answers.append(answer)
        return method.decode_result(answer)

    async def notify(self, method: Method[Any, Any], params: Message) -> None:
        await self._handled(method, params)

    async def _handled(self, method: Method[Any, Any], params: Message) -> Any:
        self.sent.append(to_wire(params))
        if isinstance(self._handlers, ToolHandlers):
            arguments = self.sent[-1].get("arguments")
            return await self._handlers.call(self.sent[-1]["name"], arguments)
        assert isinstance(self._handlers, Handlers)
        return await self._handlers.dispatch(method.name, self.sent[-1])


def test_every_method_and_tool_that_has_a_stub_has_an_example() -> None:
    pages = [*REFERENCE.glob("*/methods/*.md"), *REFERENCE.glob("*/tools/*.md")]
    without = {
        page.relative_to(REFERENCE).with_suffix("").as_posix()
        for page in pages
        if "only considers it" in page.read_text(encoding="utf-8")
    }
    assert {one.name for one in EXAMPLES} == {
        page.relative_to(REFERENCE).with_suffix("").as_posix() for page in pages
    } - without


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda one: one.name)
async def test_an_example_sends_what_it_shows_and_is_answered_so(example: Example) -> None:
    space: dict[str, Any] = dict(NAMES)
    exec(compile(example.handler, example.name, "exec"), space)
    handlers = space.get("Handlers") or space["Tools"]
    wire = Wire(handlers())
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    code = compile(example.call, example.name, "eval", flags=flags)
    result = eval(code, space | {"peer": wire})
    if isawaitable(result):
        await result
    assert wire.sent == [example.messages[0]["params"]]
    if wire.answers and len(example.messages) > 1:
        shown = example.messages[1]
        assert wire.answers[0] == shown.get("result", shown) or shown in (
            wire.answers[0].get("structuredContent"),
        )
