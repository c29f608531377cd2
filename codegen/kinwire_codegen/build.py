"""Documents to files: all is made in memory, then compared with a folder."""

from __future__ import annotations

__all__ = ("build", "build_typescript", "changes")

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from kinwire_codegen.atomic_files import FileChange
from kinwire_codegen.emit.layout import formatted
from kinwire_codegen.emit.package import OWNED, Package
from kinwire_codegen.lint import lint
from kinwire_codegen.load.document import Document, Documents
from kinwire_codegen.load.findings import DocumentError, Finding
from kinwire_codegen.load.notes import class_of_values

UNMARKED = frozenset({"py.typed", "schema.json"})

_SUFFIXES = frozenset({".py", ".md", ".json", ".proto", ".typed"})

_USES_DEPRECATED = "# pyright: reportDeprecated=false\n# mypy: disable-error-code=deprecated\n"


def build(
    documents: Documents,
    name: str,
    *,
    shared: str | None = None,
    said: Callable[[str], None] = lambda _: None,
) -> dict[str, str]:
    """Return every generated file by its path below the output folder.

    `name` is the package's import name. `shared` is the installed package that has the base classes
    and the protocols that came along; None puts all of them into the package. `said` is called
    with one line for each step.

    Raises:
        DocumentError: the documents have findings.
    """
    said("checking the documents")
    _must_be_clean(documents)
    from kinwire_codegen.emit.models import make_models
    from kinwire_codegen.emit.render import package_files, protocol_files

    package = _package(documents, name, shared)
    said("making the models")
    made = make_models(documents, package)
    for document in documents:
        constants = {class_of_values(*one) for one in document.definitions.items()} - {None}
        if {*made[document.name].names} != document.definitions.keys() | constants:
            raise RuntimeError(f"{document.file} and its models define other names")
    said("writing rows, stubs, handlers and pages")
    files = package_files(documents, package)
    own = [document for document in documents if document.module in package.own]
    for document in own:
        files |= made[document.name].sources
        files |= protocol_files(documents, document, made, package)
    said("laying out")
    below = {f"{name}/{path}": text for path, text in _quiet(files).items()}
    return dict(sorted((formatted(below, name) | _other_files(documents, own)).items()))


def _quiet(files: dict[str, str]) -> dict[str, str]:
    """Return modules in which type checkers report no use of the deprecated classes there."""
    marked = re.compile(r"^@deprecated\(.*\nclass (\w+)", re.MULTILINE)
    sources = (source for source in files.values() if "@deprecated(" in source)
    names = {name for source in sources for name in marked.findall(source)}
    used = re.compile(rf"\b(?:{'|'.join(sorted(names))})\b")
    return {
        path: f"{_USES_DEPRECATED}{source}"
        if names and path.endswith(".py") and used.search(source)
        else source
        for path, source in files.items()
    }


def build_typescript(
    documents: Documents, *, said: Callable[[str], None] = lambda _: None
) -> dict[str, str]:
    """Return the TypeScript of all documents, those included that the chosen ones extend.

    Raises:
        DocumentError: the documents have findings.
    """
    said("checking the documents")
    _must_be_clean(documents)
    from kinwire_codegen.exports.typescript import typescript_files

    said("writing types and method tables")
    return typescript_files(documents)


def _must_be_clean(documents: Documents) -> None:
    findings = lint(documents)
    if findings:
        raise DocumentError(findings, documents.folder)


def _package(documents: Documents, name: str, shared: str | None) -> Package:
    if shared is None:
        return Package.standing_alone(name, documents)
    return Package(name, shared, frozenset(documents[one].module for one in documents.chosen))


def _other_files(documents: Documents, own: list[Document]) -> dict[str, str]:
    """Return the files next to the package: the reference, and files for other tools."""
    from kinwire_codegen.docs.reference import reference_files
    from kinwire_codegen.exports.jsonschema import jsonschema_files
    from kinwire_codegen.exports.openrpc import openrpc_files
    from kinwire_codegen.exports.proto import proto_files

    files = reference_files(documents, own)
    for document in own:
        files |= jsonschema_files(documents, document) | openrpc_files(documents, document)
        files |= proto_files(document)
    return files


def changes(files: dict[str, str], out: Path) -> list[FileChange]:
    """Return how `out` differs from `files`, generated files that must go included.

    Raises:
        DocumentError: a file that somebody wrote by hand stands where a generated one belongs.
    """
    present = {path.relative_to(out).as_posix(): path for path in _present(files, out)}
    found: list[FileChange] = []
    foreign: list[Finding] = []
    for name, path in sorted(present.items()):
        text = path.read_text(encoding="utf-8", errors="replace")
        ours = OWNED in text[:1000] or path.name in UNMARKED
        if name in files and text != files[name] and not ours:
            foreign.append(
                Finding(
                    name,
                    "",
                    "is not a generated file",
                    "Move it, or choose another folder with --out.",
                )
            )
        elif files.get(name) != text and (ours or name in files):
            found.append(FileChange(name, text, files.get(name)))
    if foreign:
        raise DocumentError(foreign)
    found += [FileChange(name, None, text) for name, text in files.items() if name not in present]
    return sorted(found, key=lambda change: change.path)


def _present(files: dict[str, str], out: Path) -> Iterator[Path]:
    """Yield the files that may be generated ones: in the folders that `files` go into.

    In `out` itself only those of the same kinds: other generated files may be there too.
    """
    for top in {path.partition("/")[0] for path in files if "/" in path}:
        for path in sorted((out / top).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts and path.suffix in _SUFFIXES:
                yield path
    kinds = {Path(path).suffix for path in files if "/" not in path}
    yield from (path for path in sorted(out.glob("*")) if path.suffix in kinds and path.is_file())
