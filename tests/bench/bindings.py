"""The generator and the bindings: regeneration, import, and the way of one result."""

from __future__ import annotations

__all__ = ("rows",)

import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import from_json, to_json

from kinwire_protocols.base import from_wire, to_wire
from kinwire_protocols.mcp.models import CallToolResult
from tests.bench.measure import Row, at_most, cpu_of_calls, cpu_of_process, ratio

ROOT = Path(__file__).parents[2]
RESULT = b'{"content":[{"type":"text","text":"Current weather: 20 C, sunny"}],"isError":false}'


class PlainText(BaseModel):
    """A text block with nothing but pydantic."""

    model_config = ConfigDict(extra="allow")
    type: Literal["text"]
    text: str
    annotations: dict[str, Any] | None = None


class PlainImage(BaseModel):
    """An image block with nothing but pydantic."""

    model_config = ConfigDict(extra="allow")
    type: Literal["image"]
    data: str
    mime_type: str = Field(alias="mimeType")


class PlainResult(BaseModel):
    """A result with nothing but pydantic."""

    model_config = ConfigDict(extra="allow")
    content: list[PlainText | PlainImage]
    is_error: bool | None = Field(default=None, alias="isError")
    meta: dict[str, Any] | None = Field(default=None, alias="_meta")


def plain() -> bytes:
    """Decode, validate, dump and encode with plain models; absent members left out."""
    result = PlainResult.model_validate(from_json(RESULT))
    return to_json(result.model_dump(by_alias=True, exclude_none=True))


def ours() -> bytes:
    """Decode, validate, dump and encode with the generated models."""
    return to_json(to_wire(from_wire(CallToolResult, from_json(RESULT))))


def rows() -> Iterator[Row]:
    """Yield the measurements."""
    assert ours() == plain() == RESULT
    mine, theirs, times = ratio(partial(cpu_of_calls, ours), partial(cpu_of_calls, plain), 9)
    yield Row(
        "tools/call result: decode, validate, encode",
        f"{mine * 1e6:.2f} us",
        f"plain pydantic {theirs * 1e6:.2f} us: {times:.2f}x",
        "at most 1.5x",
        verdict=at_most(times, 1.5),
    )
    yield _import("the models of MCP", ["mcp"], 40)
    yield _import("the models of all five protocols", [*SESSION], 100)
    # In memory where a machine has such a folder: ext4 takes up to a millisecond for a new file
    # while others have been deleted a moment ago, as by the run before.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with TemporaryDirectory(dir=memory) as folder:
        # Each run has a folder of its own: where files are, none is written.
        command = ("-m", "kinwire", "generate", "--schema", str(ROOT / "schema"), "--out")
        seconds = min(cpu_of_process(*command, f"{folder}/{run}") for run in range(5))
    yield Row(
        "regenerate everything, into an empty folder in memory",
        f"{seconds:.2f} s of CPU",
        f"the interpreter alone {cpu_of_process('-c', ''):.2f} s",
        "at most 2 s",
        verdict=at_most(seconds, 2),
    )


SESSION = {
    "mcp": (
        "InitializeRequestParams, InitializeResult, ListToolsResult, CallToolRequestParams, "
        "CallToolResult"
    ),
    "mcpl": "McplCapability",
    "mgp": "ClientOffer, ServerOffer",
    "mcpe": "MCPECapabilities, MCPEClientCapabilities",
    "mcplite": "CallToolParams, ListToolsResult, ToolResult",
}
"""The types that a session needs for its handshake and for the calls of tools."""


def _import(what: str, protocols: Sequence[str], most: float) -> Row:
    programs = ["from pydantic import BaseModel, Field"]
    for names in (SESSION, dict.fromkeys(protocols, "*")):
        homes = [(f"kinwire_protocols.{one}.models", names[one]) for one in protocols]
        programs.append("\n".join(f"from {home} import {name}" for home, name in homes))
    found: list[list[float]] = [[] for _ in programs]
    for _ in range(15):
        for times, code in zip(found, programs, strict=True):
            times.append(cpu_of_process("-c", code) * 1e3)
    bare, session, every = map(median, found)
    over = session - bare
    return Row(
        f"import of {what}, as far as a session needs them",
        f"{session:.0f} ms",
        f"import pydantic {bare:.0f} ms: {over:.0f} ms more, {every - bare:.0f} with all of them",
        f"at most {most:g} ms more",
        verdict=at_most(over, most),
    )
