"""References brought together: of a description in several files one whose references are simple.

A reference to a schema then names an entry of `components/schemas`. What another reference names
stands in its place. Nothing is read over the network, or outside of one folder.
"""

from __future__ import annotations

__all__ = ("Bundler",)

from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from kinwire_codegen.imports.imported import UselessFileError
from kinwire_codegen.imports.names import pascal
from kinwire_codegen.imports.reading import read_data

Node = dict[str, Any]

_SECTION = ("components", "schemas")
_POINTER = "#/components/schemas/"
_VALUES = ("const", "enum", "examples", "default")
_BY_NAME = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")
_DEEPEST = 20  # references to references outside of schemas; nobody writes more


class Bundler:
    """Rewrites one description, whose own schemas are in `components/schemas`."""

    def __init__(self, content: Node, path: Path, root: Path) -> None:
        """Keep what the file `path` says; references may lead to files below `root`."""
        self._root = root.resolve()
        self._home = path.resolve()
        self._files: dict[Path, Any] = {self._home: content}
        self._schemas: Node = {}
        self._names: dict[tuple[Path, str], str] = {}
        self.unresolved: dict[str, str] = {}
        """References that lead to nothing, each with the reason."""
        self._used: set[str] = set()

    def bundled(self) -> Node:
        """Return the description with simple references alone."""
        content: Node = self._files[self._home]
        own = content.get("components", {}).get("schemas", {})
        for name in own:
            pointer = "/components/schemas/" + name.replace("~", "~0").replace("/", "~1")
            self._names[self._home, pointer] = name
            self._schemas[name] = {}
        for name, node in own.items():
            made = self._schema(node, self._home)
            if not isinstance(made, dict) or made.get("$ref") != _POINTER + _escaped(name):
                self._schemas[name] = made  # else it is a schema of another file by the same name
        rest = {key: value for key, value in content.items() if key != "components"}
        found: Node = self._other(rest, self._home, 0)
        return {**found, "components": {"schemas": self._schemas}}

    def unused(self) -> list[str]:
        """Return the entries of `components`, except schemas, that nothing refers to."""
        sections = self._files[self._home].get("components", {}).items()
        return [
            f"components/{section}/{name}"
            for section, entries in sections
            if section != "schemas" and isinstance(entries, dict)
            for name in entries
            if f"/components/{section}/{_escaped(name)}" not in self._used
        ]

    def _other(self, node: Any, file: Path, depth: int) -> Any:
        """Return what is not a schema, with what it refers to in place."""
        if isinstance(node, list):
            return [self._other(inner, file, depth) for inner in node]
        if not isinstance(node, dict):
            return node
        if isinstance(node.get("$ref"), str):
            target = self._target(node["$ref"], file) if depth < _DEEPEST else None
            if target is None:
                return node
            there, _, found = target
            return self._other(found, there, depth + 1)
        return {key: self._part(key, value, file, depth) for key, value in node.items()}

    def _part(self, key: str, value: Any, file: Path, depth: int) -> Any:
        if key == "schema" or (key == "data" and _is_schema(value)):
            return self._schema(value, file)
        return value if key == "value" else self._other(value, file, depth)

    def _schema(self, node: Any, file: Path, *, by_name: bool = False) -> Any:
        """Return a schema, or schemas `by_name` or in a list."""
        if isinstance(node, list):
            return [self._schema(inner, file) for inner in node]
        if not isinstance(node, dict):
            return node
        if by_name:
            return {name: self._schema(inner, file) for name, inner in node.items()}
        found = {
            key: value if key in _VALUES else self._schema(value, file, by_name=key in _BY_NAME)
            for key, value in node.items()
        }
        if isinstance(node.get("$ref"), str):
            target = self._target(node["$ref"], file)
            if target is not None:
                found["$ref"] = _POINTER + _escaped(self._named(*target))
        return found

    def _named(self, file: Path, pointer: str, node: Any) -> str:
        """Return the name of a schema in the bundle, which is added to it if it is new."""
        if (file, pointer) not in self._names:
            name = self._free(_name(file, pointer), file, pointer)
            self._names[file, pointer] = name
            self._schemas[name] = {}
            self._schemas[name] = self._schema(node, file)
        return self._names[file, pointer]

    def _free(self, name: str, file: Path, pointer: str) -> str:
        own = self._files[self._home].get("components", {}).get("schemas", {}).get(name)
        if isinstance(own, dict) and isinstance(own.get("$ref"), str):
            target = self._target(own["$ref"], self._home)
            if target is not None and target[:2] == (file, pointer):
                return name  # it is this one under the same name
        found, number = name, 2
        while found in self._schemas:
            found, number = f"{name}{number}", number + 1
        return found

    def _target(self, text: str, file: Path) -> tuple[Path, str, Any] | None:
        """Return where a reference leads, and what is there; None after noting why not."""
        parts = urlsplit(text)
        if parts.scheme or parts.netloc:
            self._nothing(text, "nothing is read over the network")
            return None
        there = self._file(unquote(parts.path), file) if parts.path else file
        if there is None:
            self._nothing(text, f"there is no such file below {self._root.name or 'the folder'}")
            return None
        try:
            content = self._content(there)
        except UselessFileError as error:
            self._nothing(text, str(error).rstrip("."))
            return None
        pointer = unquote(parts.fragment).rstrip("/")
        if pointer and not pointer.startswith("/"):
            self._nothing(text, "it is not a JSON pointer")
            return None
        found, here = _at(content, pointer)
        if not found:
            self._nothing(text, "it leads to nothing in the file")
            return None
        if there == self._home:
            self._used.add(pointer)
        return there, pointer, here

    def _nothing(self, text: str, why: str) -> None:
        """Note that a reference leads to nothing."""
        self.unresolved[text] = why

    def _content(self, file: Path) -> Any:
        if file not in self._files:
            self._files[file] = read_data(file)
        return self._files[file]

    def _file(self, name: str, file: Path) -> Path | None:
        """Return the file that a reference in `file` names; None if it is not below the root.

        Some projects write references as seen from a folder above: all folders up to the first
        that has the file are tried.
        """
        for folder in file.parents:
            found = (folder / name).resolve()
            if found.is_relative_to(self._root) and found.is_file():
                return found
        return None


def _at(content: Any, pointer: str) -> tuple[bool, Any]:
    """Return whether a pointer leads to something, and to what."""
    here = content
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(here, list) and key.isdecimal() and int(key) < len(here):
            here = here[int(key)]
        elif isinstance(here, dict) and key in here:
            here = here[key]
        else:
            return False, None
    return True, here


def _is_schema(node: Any) -> bool:
    """Return whether the data of an error is a schema, which OpenRPC does not say."""
    kinds = {"object", "array", "string", "integer", "number", "boolean", "null"}
    return isinstance(node, dict) and ("$ref" in node or str(node.get("type")) in kinds)


def _name(file: Path, pointer: str) -> str:
    whole = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")]
    steps = [step for step in whole if step and step not in _UNNAMED]
    if len(steps) == 1 or whole[-2:-1] in (["schemas"], ["$defs"], ["definitions"]):
        return whole[-1]
    return pascal(" ".join(steps)) if steps else pascal(file.stem)


_UNNAMED = {*_SECTION, "$defs", "definitions", "properties", "schema"}


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
