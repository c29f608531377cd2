"""Imported documents checked in a temporary folder, and only then put in place."""

from __future__ import annotations

__all__ = ("MadeFile", "made_file", "write_files")

import json
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kinwire_codegen.imports.imported import UselessFileError
from kinwire_codegen.lint import lint
from kinwire_codegen.load.findings import DocumentError
from kinwire_codegen.load.loading import META, load_documents


@dataclass(frozen=True, slots=True)
class MadeFile:
    """A document that is not written yet."""

    content: dict[str, Any]
    target: Path

    @property
    def text(self) -> str:
        """The text of the file."""
        return _text(self.content)

    def findings(self) -> list[str]:
        """Return what is wrong with the document, together with its neighbours in the folder."""
        with TemporaryDirectory() as folder:
            for other in self.target.parent.glob("*.json"):
                shutil.copyfile(other, Path(folder, other.name))
            _write(Path(folder, self.target.name), self.text)
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
    made = MadeFile(content, out / (version or "version") / f"{content['protocol']}.json")
    if made.target.exists() and made.target.read_text(encoding="utf-8") != made.text:
        what = f"{made.target} exists already."
        raise UselessFileError(what, "Choose another folder with --out.")
    return made


def write_files(files: Sequence[MadeFile]) -> None:
    """Write documents, each with the meta-schema next to it."""
    for made in files:
        made.target.parent.mkdir(parents=True, exist_ok=True)
        _write(made.target, made.text)
        _write(made.target.with_name(META), _text(load_documents(None).meta))


def _text(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
