"""The examples of the reference run: what the client's side sends, and the handler's answers."""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from inspect import isawaitable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kinwire.rpc.negotiated import Negotiated
from kinwire_cli.members import members_from
from kinwire_protocols import mcp, mcpe, mcpl, mcplite, mgp
from kinwire_protocols.base import JsonObject, Message, from_wire, to_wire
from kinwire_protocols.peer import Handlers, Method
from kinwire_protocols.tool_methods import ToolHandlers
from tests.each import each
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
    command: str
    """A line for the shell; empty if there is no line."""


def examples() -> Iterator[Example]:
    """Yield the example of each page that has one."""
    for page in sorted(REFERENCE.glob("*/methods/*.md")) + sorted(REFERENCE.glob("*/tools/*.md")):
        text = page.read_text(encoding="utf-8")
        python = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
        blocks = re.findall(r"^```json\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
        shell = re.findall(r"^```sh\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
        if python:
            name = Path(page).relative_to(REFERENCE).with_suffix("").as_posix()
            call, handler = python
            yield Example(name, list(map(json.loads, blocks)), call, handler, "".join(shell))


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


@each("example", EXAMPLES, ids=lambda one: one.name)
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


def test_a_command_stands_by_each_request_and_tool_of_mcp_and_by_no_other() -> None:
    requests = [row.name for row in mcp.PROTOCOL.methods.values() if row.result is not None]
    sent = {name for name in requests if mcp.PROTOCOL.methods[name].sender != "server"}
    asked = {f"mcp/methods/{name.replace('/', '-')}" for name in sent - {"initialize"}}
    tools = {one.name for one in EXAMPLES if re.match("(mcpe|mgp)/tools/", one.name)}
    assert {one.name for one in EXAMPLES if one.command} == asked | tools


def everything(of: type[Message]) -> JsonObject:
    """Return capabilities that grant all that a gate may ask for."""
    return {field.alias or name: True for name, field in of.model_fields.items()}


@each("example", [one for one in EXAMPLES if one.command], ids=lambda one: one.name)
def test_a_command_sends_its_example_without_negotiated_extensions(
    example: Example,
) -> None:
    *command, name = shlex.split(example.command)[:4]
    words = shlex.split(example.command)[4:]
    assert command == ["kinwire", "call", "server.py"]
    sent = example.messages[0]
    row = mcp.PROTOCOL.methods[sent["method"]]
    agreed = Negotiated(everything(mcp.ClientCapabilities), everything(mcp.ServerCapabilities))
    assert agreed.denial_reason(row) is None
    if "/tools/" in example.name:
        assert {"name": name, "arguments": members_from(words, {})} == sent["params"]
    else:
        assert name == row.name
        schema = row.params.model_json_schema(by_alias=True)
        assert members_from(words, schema, closed=True) == sent["params"]


def test_examples_are_laid_out_as_this_project_lays_out_python(tmp_path: Path) -> None:
    for number, example in enumerate(EXAMPLES):
        (tmp_path / f"{number}_call.py").write_text(example.call, encoding="utf-8")
        (tmp_path / f"{number}_handler.py").write_text(example.handler, encoding="utf-8")
    command = [sys.executable, "-m", "ruff", "format", "--no-cache", "--diff"]
    command += ["--config", str(ROOT / "pyproject.toml"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    expected = f"{2 * len(EXAMPLES)} files already formatted\n"
    assert (done.stdout, done.stderr) == ("", expected)


@pytest.mark.slow
def test_every_example_in_python_passes_mypy_strict(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    program = [
        f"from kinwire_protocols import {', '.join(name for name in NAMES if name != 'from_wire')}",
        "from kinwire_protocols.base import from_wire",
        "from kinwire_protocols.peer import NoParams, Peer",
    ]
    for number, page in enumerate(sorted(REFERENCE.glob("**/*.md"))):
        text = page.read_text(encoding="utf-8")
        blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
        for block, code in enumerate(blocks):
            program.append(f"# {page.relative_to(REFERENCE)}")
            program.append(f"async def example_{number}_{block}(peer: Peer) -> None:")
            program.append(textwrap.indent(code, "    "))
    assert len(program) > 3 * len(EXAMPLES)
    file = tmp_path / "examples.py"
    file.write_text("\n".join(program), encoding="utf-8")
    options = ("--strict", "--config-file=", f"--cache-dir={os.devnull}")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, str(file)],
        env={**os.environ, "MYPYPATH": str(ROOT / "generated")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
