"""Protocol documents found, read, and checked against the meta-schema.

`lint.py` has the rules that the meta-schema cannot say.
"""

from __future__ import annotations

__all__ = ("META", "load_documents")

import json
import os
import re
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinwire_codegen.load.compiled import compiled, registry_of
from kinwire_codegen.load.document import Document, Documents
from kinwire_codegen.load.findings import DocumentError, Finding, Place, pointer
from kinwire_codegen.load.including import included_names, merged
from kinwire_codegen.load.meta_schema import META, meta_problems, meta_validator
from kinwire_codegen.load.names import nearest
from kinwire_codegen.load.parsing import TooDeepError, parse, read_text

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

HINTS = {
    "required": "Add it.",
    "additionalProperties": "Remove it, or correct its name.",
    "pattern": "Write it in that form.",
    "enum": "Choose one of them.",
    "type": "Write a value of that type.",
}
BUNDLED = "schema.json"  # what the generated package keeps: the meta-schema and the documents


def load_documents(folder: Path | None) -> Documents:
    """Return the documents in `folder`, or those of the installed package if it is None.

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
        own, meta = _read_folder(folder, bundled)
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
    folder: Path, bundled: dict[str, Any] | None
) -> tuple[dict[str, Document], dict[str, Any]]:
    contents, findings = _read_files(folder)
    has_meta = META in contents
    meta = contents.pop(META) if has_meta else (bundled or {}).get("meta")
    ours = _is_ours(meta, bundled)
    if has_meta and not ours:
        findings += meta_problems(meta)
    if not contents and not findings:
        findings.append(
            Finding(
                str(folder),
                "",
                "no protocol documents (*.json) there",
                "Name the folder that holds them with --schema.",
            )
        )
    elif any(finding.file == META for finding in findings):
        pass  # nothing can be checked against it
    elif meta is None:
        findings.append(
            Finding(META, "", "the meta-schema is missing", f"Put {META} next to the documents.")
        )
    else:
        findings += _judged(contents, meta, ours=ours)
    if findings:
        raise DocumentError(sorted(set(findings)), folder)
    return _whole(contents, folder), meta or {}


def _is_ours(meta: Any, bundled: dict[str, Any] | None) -> bool:
    """Return whether the package has the same meta-schema; 1 is not `true` there."""
    if bundled is None or meta != bundled["meta"]:
        return False
    return json.dumps(meta, sort_keys=True) == json.dumps(bundled["meta"], sort_keys=True)


def _read_files(folder: Path) -> tuple[dict[str, Any], list[Finding]]:
    """Return what the JSON files of a folder say, by their names, and which cannot be read."""
    contents: dict[str, Any] = {}
    findings: list[Finding] = []
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else []:
        name = os.fsencode(path.name).decode("utf-8", "backslashreplace")  # names may be any bytes
        try:
            contents[name] = parse(read_text(path))
        except TooDeepError as error:
            findings.append(Finding(name, "", str(error), error.hint))
        except ValueError as error:
            findings.append(Finding(name, "", f"cannot be read as JSON: {error}", "Fix the file."))
    return contents, findings


def _included(contents: dict[str, Any]) -> set[str]:
    """Return the files that are included by others."""
    return {name for content in contents.values() for name in included_names(content)}


def _whole(contents: dict[str, Any], folder: Path) -> dict[str, Document]:
    """Return the documents with what they include.

    Raises:
        DocumentError: an included file is missing, or a name occurs twice.
    """
    found: dict[str, Document] = {}
    findings: list[Finding] = []
    for file in contents.keys() - _included(contents):
        content, origins, faults = merged(file, contents)
        findings += faults
        found[content["protocol"]] = Document(content, origins)
    if findings:
        raise DocumentError(sorted(findings), folder)
    return found


def _judged(contents: dict[str, Any], meta: dict[str, Any], *, ours: bool) -> Iterator[Finding]:
    """Yield what breaks the meta-schema; `ours` says whether it is that of the package.

    Another one may be wrong itself, which `jsonschema` says.
    """
    part = meta.get("$defs", {}).get("included", {})
    entries = part.get("properties", {}).keys()
    included = _included(contents)
    fits: Callable[[Any], bool] = _no
    fits_part: Callable[[Any], bool] = _no
    if ours:
        registry = registry_of({META: meta})
        fits = compiled({"$ref": META}, registry)
        if included:
            fits_part = compiled({"$ref": f"{META}#/$defs/included"}, registry)
    for name, content in contents.items():
        if name in included:
            if not fits_part(content):
                yield from _against_meta(name, content, meta, part)
        elif isinstance(content, dict) and content.keys() <= entries and content:
            what = "it is not a protocol document, and no document includes it"
            hint = 'Name it in the "include" of a document, or complete it.'
            yield Finding(name, "", what, hint)
        else:
            if not fits(content):
                yield from _against_meta(name, content, meta, meta)
            yield from _named_otherwise(name, content)


def _no(_: Any) -> bool:
    return False


def _against_meta(
    file: str, content: Any, meta: dict[str, Any], rules: dict[str, Any]
) -> Iterator[Finding]:
    """Yield what breaks the `rules`, which are the meta-schema or a part of it."""
    from jsonschema.exceptions import best_match
    from referencing.exceptions import Unresolvable

    try:
        errors = list(meta_validator(meta, rules).iter_errors(content))
    except Unresolvable as fault:
        what = f"a reference leads nowhere: {fault.ref}"
        errors = []
        yield Finding(META, "", what, "Correct it.")
    except RecursionError:
        errors = []
        yield Finding(META, "", "a reference leads back to itself", "Correct it.")
    for error in errors:
        deepest = best_match([error]) or error
        what = _message(deepest)
        what = what if len(what) < 200 else what[:200] + "…"
        yield Finding(file, pointer(*_place(deepest)), what, _hint(deepest))


def _named_otherwise(file: str, content: Any) -> Iterator[Finding]:
    name = content.get("protocol") if isinstance(content, dict) else None
    if isinstance(name, str) and file != f"{name}.json":
        what = f"the protocol is called {name!r}"
        yield Finding(file, "/protocol", what, f"Rename the file to {name}.json.")


def _message(error: ValidationError) -> str:
    """Return what is wrong, without the patterns that names of vendors have."""
    unexpected = _unexpected(error)
    if not unexpected:
        return str(error.message)
    named = ", ".join(map(repr, unexpected))
    verb = "was" if len(unexpected) == 1 else "were"
    return f"Additional properties are not allowed ({named} {verb} unexpected)"


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
    known, patterns = rule.get("properties", {}), rule.get("patternProperties", {})
    return [
        name
        for name in given
        if name not in known and not any(re.search(one, name) for one in patterns)
    ]


def _hint(error: ValidationError) -> str:
    """Return what to do about an error of the meta-schema.

    That is the nearest right word if it is near, or else an example if the meta-schema has one.
    """
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
    examples = rule.get("examples") if isinstance(rule, dict) else None
    if examples:
        return f"Write a value such as {json.dumps(examples[0])}."
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
