"""An OpenRPC description in the pieces that projects assemble it of: a folder of YAML or JSON."""

from __future__ import annotations

__all__ = ("read_folder",)

from pathlib import Path
from typing import Any

from kinwire_codegen.imports.imported import UselessFileError
from kinwire_codegen.imports.reading import SUFFIXES, read_data

Node = dict[str, Any]

SECTIONS = ("schemas", "contentDescriptors", "errors", "error-groups", "examples", "links", "tags")


def read_folder(folder: Path) -> Node:
    """Return one OpenRPC description made of all files in a folder, at any depth.

    A file is a description or a part of one, a list of methods, or, in a folder that is called as
    a section of `components`, the entries of this section.

    Raises:
        UselessFileError: a file cannot be read or is not one of these, or two files have
            different entries with one name.
    """
    whole: Node = {"methods": [], "components": {}}
    paths = sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES)
    for path in paths:
        _add(whole, path, read_data(path))
    if not whole["methods"]:
        raise UselessFileError("no file in it has methods.", "Name another folder.")
    return whole


def _add(whole: Node, path: Path, content: Any) -> None:
    section = path.parent.name
    if isinstance(content, list) and all(
        isinstance(one, dict) and "name" in one for one in content
    ):
        whole["methods"] += content
    elif isinstance(content, dict) and content.keys() & {"openrpc", "methods", "components"}:
        whole["methods"] += content.get("methods", [])
        for name, entries in content.get("components", {}).items():
            _merge(whole["components"].setdefault(name, {}), entries, path)
        whole |= {key: one for key, one in content.items() if key not in ("methods", "components")}
    elif isinstance(content, dict) and section in SECTIONS:
        _merge(whole["components"].setdefault(section, {}), content, path)
    elif isinstance(content, dict) and "name" in content and "params" in content:
        whole["methods"].append(content)
    else:
        what = "it is neither a part of an OpenRPC description nor in a folder of a section."
        raise UselessFileError(what, f"Sections are {', '.join(SECTIONS)}.", path)


def _merge(known: Node, more: Node, path: Path) -> None:
    for name, entry in more.items():
        if known.setdefault(name, entry) != entry:
            what = f"{name!r} is also in another file, where it differs."
            raise UselessFileError(what, "Rename one of them.", path)
