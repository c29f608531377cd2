"""One side of a comparison from where it lies: a folder, a file, a commit, or the package."""

from __future__ import annotations

__all__ = ("DocumentSource", "SourceError", "open_source")

import re
import shutil
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kinwire_codegen.load.commits import SourceError, checked_out
from kinwire_codegen.load.document import Document, Documents
from kinwire_codegen.load.findings import DocumentError, Place, pointer
from kinwire_codegen.load.including import included_names
from kinwire_codegen.load.loading import META, load_documents
from kinwire_codegen.load.parsing import TooDeepError, parse
from kinwire_codegen.load.positions import Position, nearest_position, positions

_PROTOCOL = re.compile(r"[A-Za-z0-9-]{1,80}")  # enough to be the name of a file
_FILE = re.compile(r"\w[\w.-]{0,99}")  # in the same folder


@dataclass(frozen=True)
class DocumentSource:
    """Documents, and where they lie."""

    name: str
    """As it was given."""
    documents: Documents
    files: dict[str, tuple[str, str]]
    """The path and the text of each document by protocol, and of each included file by its name;
    none for the installed package's."""
    chosen: tuple[str, ...] | None = None
    """The one protocol, if a file was given."""

    def position(self, protocol: str, place: Place) -> tuple[str, Position]:
        """Return the file of `protocol` and where a place stands there, or what is around it."""
        origins = self.documents[protocol].origins if protocol in self.documents else {}
        file, entry = origins.get(pointer(*place[:2]), (protocol, place[:2]))
        place = (*entry, *place[2:])
        path, _ = self.files.get(file, (f"{protocol}.json", ""))
        return path, nearest_position(self._positions.get(file, {}), place)

    @cached_property
    def _positions(self) -> dict[str, dict[Place, Position]]:
        return {name: positions(text) for name, (_, text) in self.files.items()}


def open_source(given: Path | str | None, location: Path | None = None) -> DocumentSource:
    """Return the documents of a folder, a file or a commit; None: those of the installed package.

    A commit is of the repository that contains `location`; its documents at that path are returned.

    Raises:
        SourceError: there is nothing of that name.
        DocumentError: the documents cannot be used.
    """
    if given is None:
        return DocumentSource("the installed package", load_documents(None), {})
    path = Path(given)
    if path.is_dir():
        return _folder(str(given), path, shown=path)
    if path.is_file():
        return _file(str(given), path)
    if location is None:
        raise SourceError(f"{given}: there is no such file or folder.", "Correct the path.")
    with checked_out(str(given), location) as found:
        open_one = _folder if found.is_dir() else _file
        return open_one(str(given), found, shown=location)


def _folder(name: str, path: Path, *, shown: Path) -> DocumentSource:
    documents = load_documents(path)
    files = {}
    for one in documents.chosen:
        for key, file in _files_of(documents[one]).items():
            files[key] = (str(shown / file), (path / file).read_text(encoding="utf-8"))
    return DocumentSource(name, documents, files)


def _files_of(document: Document) -> dict[str, str]:
    """Return the files of a document: its own by protocol, included ones by their names."""
    included = sorted({file for file, _ in document.origins.values()})
    return {document.name: document.file, **{file: file for file in included}}


def _file(name: str, path: Path, *, shown: Path | None = None) -> DocumentSource:
    """Return the document of a file of any name; those it extends may be in the same folder."""
    if not path.is_file():
        raise SourceError(f"{name}: {path.name} is not there.", "Name a commit that has it.")
    try:
        text = path.read_text(encoding="utf-8")
        content = parse(text)
    except TooDeepError as error:
        raise SourceError(f"{shown or path}: {error}.", error.hint) from None
    except ValueError as error:
        raise SourceError(
            f"{shown or path}: it is not valid JSON: {error}.", "Fix the file."
        ) from None
    protocol = content.get("protocol") if isinstance(content, dict) else None
    if not isinstance(protocol, str) or not _PROTOCOL.fullmatch(protocol):
        hint = "kinwire import makes a document of another description."
        raise SourceError(f"{shown or path}: it is not a protocol document.", hint)
    with TemporaryDirectory() as folder:
        _gather(Path(folder), path.parent, content)
        Path(folder, f"{protocol}.json").write_text(text, encoding="utf-8")
        try:
            documents = load_documents(Path(folder))
        except DocumentError as error:
            raise DocumentError(error.findings, path) from None
    files = {
        key: (str((shown or path).parent / file), (path.parent / file).read_text(encoding="utf-8"))
        for key, file in _files_of(documents[protocol]).items()
        if key != protocol
    }
    files[protocol] = str(shown or path), text
    return DocumentSource(name, documents, files, (protocol,))


def _parsed(path: Path) -> Any:
    """Return what is in a file, None if it is not JSON: the documents are checked later."""
    try:
        return parse(path.read_text(encoding="utf-8"))
    except ValueError:
        return None


def _needed(content: Any) -> list[str]:
    """Return the files of what a document extends and includes, which nobody has checked yet."""
    names = content.get("extends") if isinstance(content, dict) else None
    names = names if isinstance(names, list) else []
    extended = [f"{name}.json" for name in names if _PROTOCOL.fullmatch(str(name))]
    return [*extended, *(name for name in included_names(content) if _FILE.fullmatch(name))]


def _gather(folder: Path, location: Path, content: Any) -> None:
    """Copy the meta-schema and what a document extends and includes from its own folder.

    What those extend and include comes along, at any depth.
    """
    waiting = [META, "jsonrpc.json", *_needed(content)]
    while waiting:
        file = waiting.pop()
        if (location / file).is_file() and not (folder / file).exists():
            shutil.copyfile(location / file, folder / file)
            if file != META:
                waiting += _needed(_parsed(folder / file))
