"""What the shell offers for the words of a subcommand; asked only under the extra [cli].

No server is started for it: methods come from the documents that the package holds, tools from the
source of the file that is named. Left out: the tools of a command after `--`, and what `--package`
names, which would have to be imported.
"""

from __future__ import annotations

__all__ = (
    "complete_call",
    "complete_demo",
    "complete_demo_server",
    "complete_described",
    "complete_listed",
    "complete_served",
    "completed_by",
)

from argparse import Action, Namespace
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from kinwire_cli.demos import SERVERS
from kinwire_cli.protocols import TABLES, protocol_documents
from kinwire_cli.target import file_and_name, is_file, is_server

if TYPE_CHECKING:
    import ast

Completer = Callable[..., Iterable[str]]
A = TypeVar("A", bound=Action)


def completed_by(action: A, completer: Completer) -> A:
    """Return `action`, whose values `completer` offers: it gets `prefix` and `parsed_args`."""
    action.completer = completer  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
    return action


def complete_served(prefix: str, **_: Any) -> Iterator[str]:
    """Yield what `kinwire serve` takes."""
    yield from ("demo", "lite")
    yield from _python_files(prefix)


def complete_demo(parsed_args: Namespace, **_: Any) -> Iterable[str]:
    """Return the protocols that have a demo; a file that is served takes none."""
    return SERVERS if getattr(parsed_args, "what", "demo") == "demo" else ()


def complete_demo_server(parsed_args: Namespace, **_: Any) -> Iterable[str]:
    """Return the servers of which `kinwire serve demo PROTOCOL` takes one."""
    return SERVERS.get(parsed_args.protocol, ()) if parsed_args.what == "demo" else ()


def complete_listed(prefix: str, **_: Any) -> Iterator[str]:
    """Yield what `kinwire list` takes."""
    yield from (name for name, document in protocol_documents().items() if document["methods"])
    yield from _python_files(prefix)


def complete_described(**_: Any) -> Iterator[str]:
    """Yield what `kinwire describe` takes."""
    for document in protocol_documents().values():
        for table in TABLES:
            yield from document.get(table, ())


def complete_call(prefix: str, parsed_args: Namespace, **_: Any) -> Iterator[str]:
    """Yield files and methods, the tools of a file, and then the members of what is called."""
    words: list[str] = parsed_args.words or []
    server = words.pop(0) if words and is_server(words[0]) else None
    tools = _tools(Path(file_and_name(server)[0])) if server and is_file(server) else {}
    if words:
        given = {word.partition("=")[0] for word in words[1:]}
        names = tools.get(words[0]) or dict.fromkeys(_members(words[0]))
        yield from (f"{name}=" for name in names if name not in given)
        return
    yield from tools
    yield from dict.fromkeys(_methods(every=parsed_args.raw))
    if server is None:
        yield from _python_files(prefix)


def _python_files(prefix: str) -> Iterable[str]:
    from argcomplete.completers import FilesCompleter

    found: Iterable[str] = FilesCompleter(allowednames=["py"])(prefix)
    return found


def _methods(*, every: bool) -> Iterator[str]:
    """Yield what a client may send: of MCP, which alone is negotiated, or of `every` protocol."""
    for protocol, document in protocol_documents().items():
        if every or protocol == "mcp":
            rows = document["methods"].items()
            yield from (name for name, row in rows if row["from"] != "server")


def _members(method: str) -> Iterator[str]:
    for document in protocol_documents().values():
        params = document["methods"].get(method, {}).get("params", "")
        if params.startswith("#"):
            definition = document["$defs"][params.rpartition("/")[2]]
            for part in (definition, *definition.get("allOf", ())):
                yield from part.get("properties", ())


def _tools(path: Path) -> dict[str, list[str]]:
    """Return the functions of the file that are tools by their decorator, and their parameters."""
    import ast

    found: dict[str, list[str]] = {}
    with suppress(OSError, SyntaxError, ValueError):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _is_tool(node):
                names = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
                found[node.name] = [name.arg for name in names if not _is_context(name)]
    return found


def _is_context(parameter: ast.arg) -> bool:
    """Return whether the server fills it in, by the annotation as it is written."""
    import ast

    words = ast.unparse(parameter.annotation) if parameter.annotation else ""
    return words.strip("'").rpartition(".")[2] == "Context"


def _is_tool(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    import ast

    calls = (one.func if isinstance(one, ast.Call) else one for one in node.decorator_list)
    return any(isinstance(one, ast.Attribute) and one.attr == "tool" for one in calls)
