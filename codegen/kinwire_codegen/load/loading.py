"""Protocol documents found, read, and checked against the meta-schema.

`lint.py` has the rules that the meta-schema cannot say.
"""

from __future__ import annotations

__all__ = ("META", "load_documents")

import json
import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinwire_codegen.load.document import Document, Documents
from kinwire_codegen.load.findings import DocumentError, Finding, Place, pointer
from kinwire_codegen.load.names import nearest
from kinwire_codegen.load.parsing import TooDeepError, parse

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

META = "meta.schema.json"
HINTS = {
    "required": "Add it.",
    "additionalProperties": "Remove it, or correct its name.",
    "pattern": "Write it in that form.",
    "enum": "Choose one of them.",
    "type": "Write a value of that type.",
}
BUNDLED = "schema.json"  # what the generated package keeps: the meta-schema and the documents


def load_documents(folder: Path | None, *, recheck: bool = False) -> Documents:
    """Return the documents in `folder`, or those of the installed package if it is None.

    Documents that those in the folder extend are taken from the installed package where the folder
    lacks them. Those that equal the installed package's were checked before these were made of
    them; `recheck` checks them too.

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
                        "the installed package has no documents",
                        "Name a folder with --schema.",
                    )
                ]
            )
        own, meta = (
            {name: Document(content) for name, content in bundled["documents"].items()},
            bundled["meta"],
        )
    else:
        own, meta = _read_folder(folder, bundled, recheck=recheck)
    chosen = tuple(sorted(own))
    found = _with_extended(own, bundled["documents"] if bundled else {})
    return Documents(found, meta, chosen, folder)


def _bundled() -> dict[str, Any] | None:
    spec = find_spec("kinwire_protocols")  # its data are read; it is never imported
    for place in spec.submodule_search_locations or () if spec else ():
        path = Path(place, BUNDLED)
        if path.is_file():
            found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            return found
    return None


def _read_folder(
    folder: Path, bundled: dict[str, Any] | None, *, recheck: bool
) -> tuple[dict[str, Document], dict[str, Any]]:
    findings: list[Finding] = []
    contents: dict[str, Any] = {}
    paths = sorted(folder.glob("*.json")) if folder.is_dir() else []
    for path in paths:
        name = os.fsencode(path.name).decode("utf-8", "backslashreplace")  # names may be any bytes
        try:
            if path.exists() and not path.is_file():  # nobody may ever write to a named pipe
                raise OSError("it is not a regular file")
            contents[name] = parse(path.read_text(encoding="utf-8"))
        except TooDeepError as error:
            findings.append(Finding(name, "", str(error), error.hint))
        except (ValueError, OSError) as error:
            findings.append(Finding(name, "", f"cannot be read as JSON: {error}", "Fix the file."))
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
            Finding(META, "", "the meta-schema is missing", f"Put {META} next to the documents.")
        )
    else:
        known = set() if recheck else set(_known(contents, meta, bundled or {}))
        new = {name: content for name, content in contents.items() if name not in known}
        findings += _judged(new, meta)
    if findings:
        raise DocumentError(sorted(findings), folder)
    return {document.name: document for document in map(Document, contents.values())}, meta or {}


def _known(
    contents: dict[str, Any], meta: dict[str, Any], bundled: dict[str, Any]
) -> Iterator[str]:
    """Yield the files whose documents, judged by the same meta-schema, the package brings too."""

    def same(one: Any, other: Any) -> bool:
        # As text: 1, 1.0 and true are equal in Python, and not to a schema.
        return one == other and json.dumps(one) == json.dumps(other)

    if same(meta, bundled.get("meta")):
        for name, content in bundled["documents"].items():
            if same(contents.get(f"{name}.json"), content):
                yield f"{name}.json"


def _judged(contents: dict[str, Any], meta: dict[str, Any]) -> Iterator[Finding]:
    rules = _without_small_references(meta)
    for name, content in contents.items():
        yield from _against_meta(name, content, rules)


def _without_small_references(meta: dict[str, Any]) -> dict[str, Any]:
    """Return a schema that says the same, with definitions that refer to nothing put in place.

    Looking them up, at every text of every document, is a third of the time of the check.
    """
    small: dict[str, Any] = {}

    def put(node: Any) -> Any:
        if isinstance(node, list):
            return [put(inner) for inner in node]
        if not isinstance(node, dict):
            return node
        made = {key: put(inner) for key, inner in node.items()}
        meant = small.get(made["$ref"]) if isinstance(made.get("$ref"), str) else None
        if meant is None or meant.keys() & made.keys() - {"description"}:
            return made
        del made["$ref"]
        return {**meant, **made}

    for name, definition in meta.get("$defs", {}).items():
        if '"$ref"' not in json.dumps(definition):
            small[f"#/$defs/{name}"] = definition
    return dict(put(meta))


def _against_meta(file: str, content: Any, meta: dict[str, Any]) -> Iterator[Finding]:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match
    from referencing import Registry

    # An empty registry: without one a reference to a URL would be fetched.
    for error in Draft202012Validator(meta, registry=Registry()).iter_errors(content):
        deepest = best_match([error]) or error
        what = deepest.message if len(deepest.message) < 200 else deepest.message[:200] + "…"
        yield Finding(file, pointer(*_place(deepest)), what, _hint(deepest))
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


def _place(error: ValidationError) -> Place:
    """Return where an error of the meta-schema is: a name that is wrong has a place of its own."""
    named = [error.instance] if "propertyNames" in error.absolute_schema_path else []
    return (*error.absolute_path, *(named or _unexpected(error)[:1]))


def _unexpected(error: ValidationError) -> list[str]:
    """Return the names that an object has and may not have."""
    rule: Any = error.schema
    given: Any = error.instance
    if error.validator != "additionalProperties":
        return []
    return [name for name in given if name not in rule.get("properties", {})]


def _hint(error: ValidationError) -> str:
    """Return what to do about an error of the meta-schema: the nearest right word if it is near."""
    rule: Any = error.schema
    given: Any = error.instance
    words: list[str] = []
    known: list[str] = []
    if error.validator == "enum":
        words, known = [str(given)], [str(one) for one in rule["enum"]]
    elif error.validator == "additionalProperties":
        words, known = _unexpected(error), list(rule.get("properties", ()))
    for word in words:
        near = nearest(word, known, cutoff=0.75)
        if near:
            return f"Did you mean {near!r}?"
    return HINTS.get(str(error.validator), f"See {META}.")


def _with_extended(own: dict[str, Document], bundled: dict[str, Any]) -> dict[str, Document]:
    found = dict(own)
    waiting = ["jsonrpc", *(name for document in own.values() for name in document.extends)]
    while waiting:
        name = waiting.pop()
        if name not in found and name in bundled:
            found[name] = Document(bundled[name])
            waiting += found[name].extends
    return dict(sorted(found.items()))
