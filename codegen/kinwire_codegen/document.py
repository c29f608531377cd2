"""Protocol documents: found, read, and checked against the meta-schema.

`lint.py` has the rules that the meta-schema cannot say.
"""

from __future__ import annotations

__all__ = (
    "Document",
    "Documents",
    "Place",
    "Reference",
    "all_types",
    "inner_types",
    "load_documents",
    "resolve",
)

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kinwire_codegen.findings import DocumentError, Finding, pointer

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

META = "meta.schema.json"
MENDS = {
    "required": "Add it.",
    "additionalProperties": "Remove it, or correct its name.",
    "pattern": "Write it in that form.",
    "enum": "Choose one of them.",
    "type": "Write a value of that type.",
}
BUNDLED = "schema.json"  # what the generated package keeps: the meta-schema and the documents


Place = tuple[str | int, ...]
"""The steps of a JSON pointer into a document."""


class Reference(NamedTuple):
    """A definition by protocol and name."""

    protocol: str
    name: str


@dataclass(frozen=True)
class Document:
    """One protocol as its file gives it."""

    content: dict[str, Any]

    @property
    def name(self) -> str:
        """The protocol's name."""
        return str(self.content["protocol"])

    @property
    def file(self) -> str:
        """The file's name."""
        return f"{self.name}.json"

    @property
    def module(self) -> str:
        """The name of the Python package: a protocol's name without dashes."""
        return self.name.replace("-", "")

    @property
    def definitions(self) -> dict[str, dict[str, Any]]:
        """The types by name."""
        found: dict[str, dict[str, Any]] = self.content["$defs"]
        return found

    @property
    def extends(self) -> list[str]:
        """The protocols that this one builds on."""
        return list(self.content.get("extends", ()))

    def types(self) -> Iterator[tuple[dict[str, Any], Place]]:
        """Yield every type of the document, at any depth, with its place."""
        for name, definition in self.definitions.items():
            yield from all_types(definition, ("$defs", name))

    def references(self) -> Iterator[tuple[Place, Reference]]:
        """Yield every definition that the document refers to with the place where it does."""
        for node, place in self.types():
            if "$ref" in node:
                yield (*place, "$ref"), resolve(node["$ref"], self.name)
        for table, parts in (("methods", ("params", "result")), ("errors", ("data",))):
            for name, row in self.content[table].items():
                for part in parts:
                    if part in row:
                        yield (table, name, part), resolve(row[part], self.name)


@dataclass(frozen=True)
class Documents:
    """The documents of one package, by protocol, sorted by name."""

    by_name: dict[str, Document]
    meta: dict[str, Any]
    chosen: tuple[str, ...] = field(default=())
    """The protocols that were asked for; the others came along because these extend them."""

    def __iter__(self) -> Iterator[Document]:
        return iter(self.by_name.values())

    def __getitem__(self, name: str) -> Document:
        return self.by_name[name]

    def __contains__(self, name: object) -> bool:
        return name in self.by_name

    def definition(self, reference: Reference) -> dict[str, Any]:
        """Return the type that `reference` names."""
        return self.by_name[reference.protocol].definitions[reference.name]


def resolve(text: str, here: str) -> Reference:
    """Return what `#/$defs/Name` or `other.json#/$defs/Name` names, read in the document `here`."""
    file, _, path = text.partition("#")
    return Reference(file.removesuffix(".json") or here, path.rpartition("/")[2])


def inner_types(node: dict[str, Any]) -> Iterator[tuple[dict[str, Any], Place]]:
    """Yield the types inside a type, each with the steps that lead to it."""
    for name, member in node.get("properties", {}).items():
        yield member, ("properties", name)
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            yield node[key], (key,)
    for key in ("anyOf", "oneOf", "allOf"):
        for index, branch in enumerate(node.get(key, ())):
            yield branch, (key, index)


def all_types(node: dict[str, Any], place: Place) -> Iterator[tuple[dict[str, Any], Place]]:
    """Yield a type at `place` and every type inside it, at any depth, with its place."""
    yield node, place
    for inner, step in inner_types(node):
        yield from all_types(inner, (*place, *step))


def load_documents(folder: Path | None) -> Documents:
    """Return the documents in `folder`, or those that the installed package brings if it is None.

    Documents that those in the folder extend are taken from the installed package where the folder
    lacks them.

    Raises:
        DocumentError: a file cannot be read, is not JSON, or breaks the meta-schema.
    """
    bundled = _bundled()
    if folder is None:
        if bundled is None:
            raise DocumentError(
                [
                    Finding(
                        BUNDLED,
                        "",
                        "the installed package brings no documents",
                        "Name a folder with --schema.",
                    )
                ]
            )
        own, meta = (
            {name: Document(content) for name, content in bundled["documents"].items()},
            bundled["meta"],
        )
    else:
        own, meta = _read_folder(folder, bundled)
    chosen = tuple(sorted(own))
    return Documents(_with_extended(own, bundled["documents"] if bundled else {}), meta, chosen)


def _bundled() -> dict[str, Any] | None:
    spec = find_spec("kinwire_protocols")  # its data are read; it is never imported
    for place in spec.submodule_search_locations or () if spec else ():
        path = Path(place, BUNDLED)
        if path.is_file():
            found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            return found
    return None


def _read_folder(
    folder: Path, bundled: dict[str, Any] | None
) -> tuple[dict[str, Document], dict[str, Any]]:
    findings: list[Finding] = []
    contents: dict[str, Any] = {}
    paths = sorted(folder.glob("*.json")) if folder.is_dir() else []
    for path in paths:
        try:
            contents[path.name] = _parse(path)
        except (ValueError, OSError, RecursionError) as error:
            findings.append(
                Finding(path.name, "", f"cannot be read as JSON: {error}", "Mend the file.")
            )
    meta = contents.pop(META, None) or (bundled or {}).get("meta")
    if not contents and not findings:
        findings.append(
            Finding(
                str(folder),
                "",
                "no protocol documents (*.json) there",
                "Name the folder that holds them with --schema.",
            )
        )
    elif meta is None:
        findings.append(
            Finding(META, "", "the meta-schema is missing", f"Put {META} beside the documents.")
        )
    else:
        for name, content in contents.items():
            findings += _against_meta(name, content, meta)
    if findings:
        raise DocumentError(sorted(findings))
    return {document.name: document for document in map(Document, contents.values())}, meta or {}


def _parse(path: Path) -> Any:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"the member {twice!r} stands twice in one object")
        return found

    def refuse(constant: str) -> Any:
        raise ValueError(f"{constant} is not JSON")

    return json.loads(
        path.read_text(encoding="utf-8"), object_pairs_hook=unique, parse_constant=refuse
    )


def _against_meta(file: str, content: Any, meta: dict[str, Any]) -> Iterator[Finding]:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    for error in Draft202012Validator(meta).iter_errors(content):
        deepest = best_match([error]) or error
        what = deepest.message if len(deepest.message) < 200 else deepest.message[:200] + "…"
        yield Finding(file, pointer(*deepest.absolute_path), what, _mend(deepest))
    if (
        isinstance(content, dict)
        and isinstance(content.get("protocol"), str)
        and file != f"{content['protocol']}.json"
    ):
        yield Finding(
            file,
            "/protocol",
            f"the protocol is called {content['protocol']!r}",
            f"Rename the file to {content['protocol']}.json.",
        )


def _mend(error: ValidationError) -> str:
    """Return what to do about an error of the meta-schema: the nearest right word if it is near."""
    rule: Any = error.schema
    given: Any = error.instance
    words: list[str] = []
    known: list[str] = []
    if error.validator == "enum":
        words, known = [str(given)], [str(one) for one in rule["enum"]]
    elif error.validator == "additionalProperties":
        known = list(rule.get("properties", ()))
        words = [word for word in given if word not in known]
    for word in words:
        near = get_close_matches(word, known, n=1, cutoff=0.75)
        if near:
            return f"Did you mean {near[0]!r}?"
    return MENDS.get(str(error.validator), f"See {META}.")


def _with_extended(own: dict[str, Document], bundled: dict[str, Any]) -> dict[str, Document]:
    found = dict(own)
    waiting = ["jsonrpc", *(name for document in own.values() for name in document.extends)]
    while waiting:
        name = waiting.pop()
        if name not in found and name in bundled:
            found[name] = Document(bundled[name])
            waiting += found[name].extends
    return dict(sorted(found.items()))
