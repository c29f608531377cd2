"""Imported documents checked in a temporary folder, and only then put in place."""

from __future__ import annotations

__all__ = ("MadeFile", "made_file", "write_files")

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kinwire_codegen.atomic_files import write_file
from kinwire_codegen.imports.imported import UselessFileError
from kinwire_codegen.lint import lint
from kinwire_codegen.load.canonical import document_text, meta_schema_text
from kinwire_codegen.load.findings import DocumentError
from kinwire_codegen.load.loading import META, load_documents


@dataclass(frozen=True, slots=True)
class MadeFile:
    """A document that is not written yet."""

    content: dict[str, Any]
    target: Path
    text: str
    """The document in the canonical layout."""

    def findings(self) -> list[str]:
        """Return what is wrong with the document, together with its neighbours in the folder."""
        with TemporaryDirectory() as folder:
            for other in self.target.parent.glob("*.json"):
                shutil.copyfile(other, Path(folder, other.name))
            Path(folder, self.target.name).write_text(self.text, encoding="utf-8")
            try:
                found = lint(load_documents(Path(folder)))
            except DocumentError as error:
                found = list(error.findings)
        return [str(finding) for finding in found]


def made_file(content: dict[str, Any], out: Path) -> MadeFile:
    """Return a document as the file `OUT/VERSION/PROTOCOL.json`.

    Raises:
        UselessFileError: another document is there.
    """
    version = re.sub(r"[^\w.-]", "-", str(content["version"])).lstrip(".")
    target = out / (version or "version") / f"{content['protocol']}.json"
    text = document_text(content, load_documents(None).meta)
    if target.exists() and target.read_text(encoding="utf-8") != text:
        what = "it exists already and differs."
        raise UselessFileError(
            what, "Choose another folder with --out, or remove it first.", target
        )
    return MadeFile(content, target, text)


def write_files(files: Sequence[MadeFile]) -> None:
    """Write documents, each with the meta-schema next to it; each file whole or not at all.

    Raises:
        UselessFileError: two of the documents have one target.
        OSError: a file cannot be written.
    """
    texts: dict[Path, str] = {}
    for made in files:
        if texts.setdefault(made.target, made.text) != made.text:
            what = "it would be made of two files that differ."
            hint = "Import them one by one, with --out or --protocol."
            raise UselessFileError(what, hint, made.target)
    meta = meta_schema_text(load_documents(None).meta)
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path.with_name(META), meta)
        write_file(path, text)
