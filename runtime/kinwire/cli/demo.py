"""`kinwire demo`: the whole line, from documents to a call. No network, no key."""

from __future__ import annotations

__all__ = ("Demo",)

import subprocess
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import indent
from typing import TYPE_CHECKING, Any, ClassVar

from kinwire.cli.extras import install_command, is_installed
from kinwire.cli.layout import columns, printable
from kinwire.cli.verb import verb_names

if TYPE_CHECKING:
    from kinwire.connection import Connection
    from kinwire_protocols import mcp

_KINWIRE = (sys.executable, "-m", "kinwire")
_SERVER = ("serve", "demo", "mcp")

_CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("add", {"a": 1, "b": 2}),
    ("echo", {"message": "hello"}),
    ("countdown", {"start": 3}),
    ("divide", {"a": 1, "b": 0}),
    ("add", {"a": "1", "b": 2}),
)


class Demo:
    """`kinwire demo`."""

    name: ClassVar[str] = "demo"
    summary: ClassVar[str] = "generate the bindings, start a server and call it"

    @staticmethod
    def configure(parser: ArgumentParser) -> None:
        """Add the verb's arguments: there are none."""

    def run(self, arguments: Namespace) -> int:
        """Show each step."""
        import anyio

        code = _generate()
        if code == 0:
            anyio.run(_talk)
            _show("\nNext: kinwire list mcp, kinwire call add a=1 b=2 -- kinwire serve demo mcp")
        return code


def _generate() -> int:
    _title(1, "Bindings from the protocol documents")
    if "generate" not in verb_names() or not is_installed("codegen"):
        _step(f"skipped: the generator needs more, which this brings: {install_command('codegen')}")
        return 0
    with TemporaryDirectory(prefix="kinwire-demo-") as folder:
        _step("$ kinwire generate --out a temporary folder")
        command = (*_KINWIRE, "generate", "--out", folder)
        # Only its answer is caught: what it says while it works goes to the terminal at once.
        # It works in the new folder: the one that the user is in may hold documents, or be gone.
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, cwd=folder, text=True
        )
        _step(done.stdout.rstrip())
        written = [path for path in Path(folder).rglob("*") if path.is_file()]
        lines = sum(path.read_bytes().count(b"\n") for path in written)
        _step(f"written: {len(written)} files, {lines} lines")
    return done.returncode


async def _talk() -> None:
    from kinwire.cli.target import Target, reach, started_by

    _title(2, "A server in a child process")
    _step(f"$ kinwire {' '.join(_SERVER)}")
    child = started_by([*_KINWIRE, *_SERVER])
    async with reach(Target(child, child)) as server:
        _title(3, "Negotiated")
        _step(
            columns(
                [
                    ("protocol", f"mcp {server.protocol_version}"),
                    ("server", f"{server.server_info.name} {server.server_info.version}"),
                    ("capabilities", ", ".join(server.capabilities.model_dump())),
                    ("instructions", server.instructions or "none"),
                ]
            )
        )
        _title(4, "Called through the generated client")
        tools = (await server.mcp.tools_list()).tools
        _step("await server.mcp.tools_list()")
        _step("  " + ", ".join(tool.name for tool in tools))
        for name, arguments in _CALLS:
            await _call(server, name, arguments)


async def _call(server: Connection, name: str, arguments: dict[str, Any]) -> None:
    from kinwire_protocols.base import RpcError

    def show(report: mcp.ProgressNotificationParams) -> None:
        _step(f"  progress {report.progress}/{report.total}  {report.message}")

    _step(f"await server.mcp.tools_call(name={name!r}, arguments={arguments})")
    try:
        result = await server.with_options(on_progress=show).mcp.tools_call(
            name=name, arguments=arguments
        )
    except RpcError as error:
        _step(f"  {type(error).__name__}: {error}")
        return
    kind = "error of the tool" if result.is_error else "result"
    for block in result.content:
        _step(f"  {kind}: {getattr(block, 'text', block.type)}")


def _title(number: int, text: str) -> None:
    _show(f"{'' if number == 1 else chr(10)}{number}. {text}")


def _step(text: str) -> None:
    _show(indent(text, "   "))


def _show(text: str) -> None:
    print(printable(text), flush=True)  # the child process writes to the same terminal
