"""`docs/architecture.md` against the code: what it names exists, a call goes the way it shows."""

from __future__ import annotations

import ast
import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

from kinwire import Connection, connect, stdio
from kinwire_protocols.mcp.models import TextContent
from tests.each import each

ROOT = Path(__file__).parents[1]
RUNTIME = ROOT / "runtime" / "kinwire"
PAGE = ROOT / "docs" / "architecture.md"

NAMED = re.compile(r"`((?:[\w.-]+/)+(?:[\w-]+\.\w+)?|[\w-]+\.(?:toml|py|md))(?::([\w.]+))?`")


@cache
def text() -> str:
    return re.sub(r"^```.*?^```$", "", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL | re.M)


def named() -> list[tuple[str, str]]:
    """Return the paths on the page, each with the name that is looked for in it, or ""."""
    return sorted({(found[1], found[2] or "") for found in NAMED.finditer(text())})


def file_of(path: str) -> Path:
    """Return the file or folder: of the runtime, or of the repository."""
    inside = RUNTIME / path
    return inside if inside.exists() else ROOT / path


def defined(tree: ast.Module | ast.ClassDef) -> Iterator[tuple[str, ast.AST]]:
    """Yield what a module or a class defines, by name."""
    for node in tree.body:
        match node:
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                yield node.name, node
            case ast.Assign(targets=targets):
                yield from ((one.id, node) for one in targets if isinstance(one, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name, node
            case _:
                pass


def has(path: Path, name: str) -> bool:
    """Return whether the module defines a dotted name."""
    node: ast.AST = ast.parse(path.read_text(encoding="utf-8"))
    for part in name.split("."):
        inside = dict(defined(node)) if isinstance(node, ast.Module | ast.ClassDef) else {}
        if part not in inside:
            return False
        node = inside[part]
    return True


@each(("path", "name"), named())
def test_what_the_page_names_exists(path: str, name: str) -> None:
    place = file_of(path)
    assert place.is_dir() if path.endswith("/") else place.is_file(), f"{path} does not exist"
    if name:
        assert has(place, name), f"{path} defines no {name}"


def test_the_page_names_much_of_the_code() -> None:
    assert len([name for _, name in named() if name]) > 60


def test_a_name_that_is_not_there_is_noticed() -> None:
    assert has(RUNTIME / "rpc" / "session.py", "Session.call")
    assert not has(RUNTIME / "rpc" / "session.py", "Session.calls")
    assert not has(RUNTIME / "rpc" / "session.py", "Session.call.name")


def test_the_page_has_a_row_for_every_layer() -> None:
    rows = set(re.findall(r"^\| `(\w+)/` \|", text(), re.MULTILINE))
    assert rows == {path.parent.name for path in RUNTIME.glob("*/__init__.py")}


# The way of a call.

SERVER = """
import json, sys
from kinwire import Server

server, called = Server("adder", "1.0"), set()

@server.tool
def add(a: int, b: int) -> int:
    return a + b

@server.tool
def functions() -> str:
    return json.dumps(sorted(called))

def note(frame, event, argument):
    if event == "call":
        called.add(f"{frame.f_code.co_filename}:{frame.f_code.co_qualname}")

sys.setprofile(note)
if __name__ == "__main__":
    server.asgi().run(port=0) if "http" in sys.argv else server.run()
"""


VARIABLES = {f"{RUNTIME}/rpc/response_stream.py:current_stream"}


def qualified(code: CodeType) -> str:
    return f"{code.co_filename}:{code.co_qualname}"


def steps(title: str) -> set[str]:
    """Return the functions that the numbered steps below a title name, as `file:name`."""
    _, _, below = text().partition(f"\n### {title}\n")
    section = re.split(r"^#", below, maxsplit=1, flags=re.MULTILINE)[0]
    lists = re.findall(r"^\d+\. .*(?:\n {3,}.*)*", section, re.MULTILINE)
    found = (one for item in lists for one in NAMED.finditer(item))
    functions = {f"{file_of(one[1])}:{one[2]}" for one in found if one[2]}
    return {one for one in functions if re.search(r"[:.]_?[a-z]\w*$", one)} - VARIABLES


async def traced(client: Connection) -> set[str]:
    """Return the functions of both sides that a second call of the tool goes through."""
    arguments = {"a": 1, "b": 2}
    await client.mcp.tools_call(name="add", arguments=arguments)
    called: set[str] = set()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            called.add(qualified(frame.f_code))

    sys.setprofile(note)
    try:
        await client.mcp.tools_call(name="add", arguments=arguments)
    finally:
        sys.setprofile(None)
    (block,) = (await client.mcp.tools_call(name="functions")).content
    assert isinstance(block, TextContent)
    return called | set(json.loads(block.text))


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "adder.py"
    path.write_text(SERVER, encoding="utf-8")
    return str(path)


def test_a_call_over_stdio_goes_the_way_that_the_page_shows(program: str) -> None:
    async def call() -> set[str]:
        async with connect(stdio(sys.executable, program)) as client:
            return await traced(client)

    expected = steps("Over stdio")
    assert len(expected) > 20
    assert expected - asyncio.run(call()) == set()


def test_a_call_over_http_goes_the_way_that_the_page_shows(program: str) -> None:
    async def call(url: str) -> set[str]:
        async with connect(url) as client:
            return await traced(client)

    command = [sys.executable, program, "http"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            found = asyncio.run(call(server.stderr.readline().split()[-1]))
        finally:
            server.terminate()
    expected = steps("Over HTTP")
    assert len(expected) > 10
    assert expected - found == set()
