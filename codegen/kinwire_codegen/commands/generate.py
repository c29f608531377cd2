"""`kinwire generate`: documents to bindings, a check that they agree, or a watch over them.

The bindings are a Python package, or files of TypeScript.
"""

from __future__ import annotations

__all__ = ("GenerateCommand", "without_collection")

import gc
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from kinwire_codegen.commands.common import (
    add_schema,
    count,
    print_difference,
    project_of,
    refuse,
    usage,
)

if TYPE_CHECKING:
    from kinwire_codegen.atomic_files import FileChange
    from kinwire_codegen.load.document import Document, Documents

GENERATED = Path("generated")
PACKAGE = "kinwire_protocols"
LANGUAGES = ("python", "typescript")


class GenerateCommand:
    """Writes what changed, shows it (--check), or keeps doing so on each save (--watch)."""

    name = "generate"
    summary = "make the bindings and reference pages from the documents"
    group = "protocols and generation"
    exit_codes: ClassVar[dict[int, str]] = {
        0: "success; also Ctrl-C while it watches",
        1: "problems were found, or files are stale (--check)",
    }
    examples = (
        "kinwire generate --out generated --package notes_bindings",
        "kinwire generate --out generated --package notes_bindings --check",
        "kinwire generate --out generated --package notes_bindings --watch",
        "kinwire generate --language typescript --out src/protocols",
    )

    @staticmethod
    def configure(parser: ArgumentParser) -> None:
        """Add the subcommand's arguments."""
        add_schema(parser)
        text = "write a Python package (the default), or types and method tables of TypeScript"
        parser.add_argument("--language", choices=LANGUAGES, default="python", help=text)
        text = (
            "where it goes (default: ./generated if the documents are in ./schema, "
            "or ./generated/typescript)"
        )
        parser.add_argument("--out", type=Path, metavar="DIR", help=text)
        text = f"import name of the package (default: {PACKAGE}, if MCP is among the documents)"
        parser.add_argument("--package", metavar="NAME", help=text)
        text = f"put all that it needs into the package, so that it works without {PACKAGE}"
        parser.add_argument("--standalone", action="store_true", help=text)
        how = parser.add_mutually_exclusive_group()
        text = "write nothing; list the files that differ, show how, and exit with 1"
        how.add_argument("--check", action="store_true", help=text)
        text = "do it again on each save of a document, and say what changed; end with Ctrl-C"
        how.add_argument("--watch", action="store_true", help=text)

    @staticmethod
    def run(arguments: Namespace) -> int:
        """Return 0 if nothing is left to do, 1 on findings or drift, 2 if the command is wrong."""
        from kinwire_codegen.load.findings import DocumentError

        try:
            task = _task_of(arguments)
            return _watch(task) if arguments.watch else _once(task, check=arguments.check)
        except DocumentError as error:
            return refuse(error)
        except BrokenPipeError:
            raise  # the reader of the output was closed: the folder is fine
        except OSError as error:
            where = error.filename or arguments.out
            return usage(f"{where}: {error.strerror}.", "Choose another --out.")
        except EmptyDocumentsError:
            print("nothing to do: the documents have no methods, types and errors")
            return 0
        except UnusableTaskError as error:
            return usage(*error.args)


@dataclass(frozen=True, slots=True)
class Task:
    """From where to where."""

    folder: Path | None
    out: Path
    package: str | None
    standalone: bool
    typescript: bool

    def must_not_be_among_documents(self) -> None:
        """Return if nothing would be written into the folder of the documents itself.

        Raises:
            UnusableTaskError: something would.
        """
        out = self.out.resolve()
        if self.folder and self.folder.resolve() in (out, out / (self.package or PACKAGE)):
            text = "the generated files would be among the documents."
            raise UnusableTaskError(text, "Choose another --out.")


def _task_of(arguments: Namespace) -> Task:
    folder, root = project_of(arguments)
    typescript = arguments.language == "typescript"
    default = GENERATED / "typescript" if typescript else GENERATED
    out = arguments.out or (None if root is None else root / default)
    if out is None:
        raise UnusableTaskError("the output folder is unknown.", "Name a folder with --out.")
    package = arguments.package
    if typescript and (package is not None or arguments.standalone):
        text = "--package and --standalone are for Python only."
        raise UnusableTaskError(text, "Leave them out.")
    if package is not None and not package.isidentifier():
        text = f"{package!r} is not a valid Python name."
        raise UnusableTaskError(text, "Correct --package.")
    return Task(folder, out, package, arguments.standalone, typescript)


class UnusableTaskError(Exception):
    """Nothing can be made. The arguments say why, and what to do."""


class EmptyDocumentsError(Exception):
    """There is nothing to make a package of."""


def _has_content(document: Document) -> bool:
    content = document.content
    return bool(document.definitions or content["methods"] or content.get("errors"))


def _once(task: Task, *, check: bool) -> int:
    begun = time.perf_counter()
    with without_collection():
        documents, made, found = _make(task)
        if check:
            return _show(found)
        from kinwire_codegen.atomic_files import apply_changes

        apply_changes(found, task.out)
        _print_result(documents, made, found, time.perf_counter() - begun)
    return 0


@contextmanager
def without_collection() -> Iterator[None]:
    """Switch the garbage collector off: nearly all that is made is needed until the end."""
    searches = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if searches:
            gc.freeze()
            gc.unfreeze()  # all is in the oldest generation now, which the next collection skips
            gc.enable()


def _make(task: Task) -> tuple[Documents, int, list[FileChange]]:
    from kinwire_codegen.build import build_typescript, changes
    from kinwire_codegen.load.loading import load_documents

    task.must_not_be_among_documents()
    documents = load_documents(task.folder)
    if not any(map(_has_content, map(documents.__getitem__, documents.chosen))):
        raise EmptyDocumentsError
    if task.typescript:
        files = build_typescript(documents, said=_say_on_terminal)
    else:
        files = _python_files(task, documents)
    return documents, len(files), changes(files, task.out)


def _python_files(task: Task, documents: Documents) -> dict[str, str]:
    from kinwire_codegen.build import build

    package = task.package or (PACKAGE if "mcp" in documents.chosen else None)
    if package is None:
        # Protocols of others must not get the name of ours.
        raise UnusableTaskError("the package has no name.", "Give it one with --package.")
    shared = None if task.standalone or package == PACKAGE else PACKAGE
    return build(documents, package, shared=shared, said=_say_on_terminal)


def _watch(task: Task) -> int:
    from kinwire_codegen.commands.watching import watch

    if task.folder is None:
        return usage("there is no folder to watch.", "Name one with --schema.")
    try:
        watch(task.folder, lambda: _make(task), task.out)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
    return 0


def _show(found: list[FileChange]) -> int:
    if not found:
        print("up to date")
        return 0
    print(f"{count(len(found), 'file')} out of date. Run the same command without --check.")
    for change in found:
        print(f"  {_action(change):6}  {change.path}")
    print()
    for change in found:
        print_difference(change.path, change.old or "", change.new or "")
    return 1


def _action(change: FileChange) -> str:
    """Return what `kinwire generate` does to the file."""
    if change.old is None:
        return "add"
    return "remove" if change.new is None else "change"


def _print_result(documents: Documents, made: int, found: list[FileChange], seconds: float) -> None:
    for document in map(documents.__getitem__, documents.chosen):
        name, module = document.name, document.module
        places = [f"/{module}/", f"reference/{name}/", f"json-schema/{name}.json"]
        places += [f"json-schema/{name}/"]
        places += [f"openrpc/{name}-server.json", f"openrpc/{name}-client.json"]
        places += [f"proto/{module}.proto"]
        own = tuple(f"{name}.{end}" for end in ("d.ts", "methods.d.ts", "methods.js"))
        changed = sum(
            change.path in own or any(place in change.path for place in places) for change in found
        )
        methods = count(len(document.content["methods"]), "method")
        types = count(len(document.definitions), "type")
        print(f"{document.name:10} {methods:>11} {types:>10}   {count(changed, 'file')} changed")
    unchanged = made - sum(change.new is not None for change in found)
    print(f"{count(len(found), 'file')} changed, {unchanged} unchanged ({seconds:.1f} s)")


def _say_on_terminal(step: str) -> None:
    if sys.stderr.isatty():
        print(f"{step} …", file=sys.stderr)
