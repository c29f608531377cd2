"""`kinwire serve`: a server over stdin and stdout, from a file or the demo's."""

from __future__ import annotations

__all__ = ("Serve",)

import sys
from argparse import ArgumentParser, Namespace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from traceback import extract_tb
from types import ModuleType
from typing import TYPE_CHECKING, ClassVar

from kinwire.cli.completion import complete_served, completed_by
from kinwire.cli.failure import UsageError
from kinwire.cli.layout import printable
from kinwire.cli.target import file_and_name

if TYPE_CHECKING:
    from kinwire.server import Server

_USAGE = "kinwire serve demo PROTOCOL | FILE.py[:SERVER]"


class Serve:
    """`kinwire serve demo mcp`, `kinwire serve FILE.py[:SERVER]`."""

    name: ClassVar[str] = "serve"
    summary: ClassVar[str] = "serve a file, or the demo, over stdin and stdout"

    @staticmethod
    def configure(parser: ArgumentParser) -> None:
        """Add the verb's arguments."""
        parser.usage = _USAGE
        text = "the demo server, or a file"
        what = parser.add_argument("what", metavar="demo | FILE.py", help=text)
        completed_by(what, complete_served)
        parser.add_argument("protocol", nargs="?", metavar="PROTOCOL", help="the demo's: mcp")

    def run(self, arguments: Namespace) -> int:
        """Serve until the input ends."""
        what: str = arguments.what
        protocol: str | None = arguments.protocol
        if what == "demo":
            server = _demo(protocol)
        elif protocol is not None:
            raise UsageError(f"{protocol!r} is one word too many.", f"usage: {_USAGE}")
        else:
            server = _from_file(what)
        server.run()
        return 0


def _demo(protocol: str | None) -> Server:
    if protocol != "mcp":
        got = "none" if protocol is None else repr(protocol)
        raise UsageError(f"The demo needs a protocol it has, got {got}.", "kinwire serve demo mcp")
    from kinwire.demo import server

    return server


def _from_file(what: str) -> Server:
    from kinwire.server import Server

    file, wanted = file_and_name(what)
    path = Path(file)
    if path.suffix != ".py" or not path.is_file():
        raise UsageError(f"There is no Python file {file!r}.", f"usage: {_USAGE}")
    found: dict[Server, str] = {}
    for name, value in vars(_module(path)).items():
        if isinstance(value, Server):
            if name == wanted:
                return value
            found.setdefault(value, name)
    if len(found) == 1 and not wanted:
        return next(iter(found))
    which = f" called {wanted!r}" if wanted else ""
    got = ", ".join(found.values()) or "none"
    raise UsageError(
        f"{file}: expected one Server{which} at the top of the module, got {got}.",
        f"Name it: {file}:{next(iter(found.values()))}"
        if found
        else f"A server of another library is started by its own command: -- python {file}",
    )


def _module(path: Path) -> ModuleType:
    if path.stem in sys.stdlib_module_names:
        note = f"note: {path} stands in for Python's own module {path.stem!r}. Rename it."
        print(printable(note), file=sys.stderr)
    spec = spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} cannot be imported.")
    module = module_from_spec(spec)
    sys.path.insert(0, str(path.resolve().parent))  # as `python FILE.py` does
    sys.modules[path.stem] = module  # dataclasses and the like look their module up
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        text = error.msg if isinstance(error, SyntaxError) else error
        raise UsageError(
            f"{_place(error, path)}: {type(error).__name__}: {text}",
            f"python {path} shows the whole traceback.",
        ) from error
    return module


def _place(error: Exception, path: Path) -> str:
    """Return the line of the file that failed, whatever it called."""
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}"
    file = str(path.absolute())
    frames = [frame for frame in extract_tb(error.__traceback__) if frame.filename == file]
    return f"{path}:{frames[-1].lineno}" if frames else str(path)
