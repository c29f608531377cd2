"""Documents put together from JSON Schemas and rows of methods: what several importers share."""

from __future__ import annotations

__all__ = ("OWN_CODES", "PARTS", "MethodDraft", "ProtocolDraft", "assembled", "document_head")

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from kinwire_codegen.imports.drafts import DraftTypes
from kinwire_codegen.imports.fitting import drop_misfits
from kinwire_codegen.imports.imported import Imported
from kinwire_codegen.imports.names import defined_name, pascal, summary_and_rest
from kinwire_codegen.load.loading import META

Node = dict[str, Any]

PARTS = ("params", "result", "partialResult", "registrationOptions")
"""The parts of a method that are types."""
OWN_CODES = range(-32700, -32599)
"""The codes of JSON-RPC itself, which documents do not repeat."""


@dataclass(slots=True)
class MethodDraft:
    """A method whose params and results are JSON Schemas, with references into `$defs`."""

    kind: str
    sender: str
    section: str
    description: str
    parts: Node = field(default_factory=dict[str, Any])
    """JSON Schemas: `params`, `result`, `partialResult` and `registrationOptions`."""
    more: Node = field(default_factory=dict[str, Any])
    """Fields that are in the document as they are here."""


@dataclass(slots=True, kw_only=True)
class ProtocolDraft:
    """A document whose types are not made yet."""

    name: str
    title: str
    version: str
    description: str
    roles: Mapping[str, str]
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Further fields of the document, which begin with `x-`."""
    methods: Mapping[str, MethodDraft]
    errors: Mapping[str, Node] = field(default_factory=dict[str, Any])
    """Errors by name: `code`, `message`, `description`, and a JSON Schema as `data`."""
    records: Mapping[str, Node] = field(default_factory=dict[str, Any])
    """Files and stored objects; the `type` of each is the name of a definition."""
    left_out: Iterable[str] = ()
    folded: Iterable[str] = ()
    became: Mapping[str, str] = field(default_factory=dict[str, str])
    """What became of definitions that are not types in the document."""
    keeps_unused: bool = False
    """Whether types that no message uses are in the document too, as records."""


def document_head(
    name: str, title: str, version: str, description: str, roles: Mapping[str, str]
) -> Node:
    """Return the fields that each imported document begins with."""
    return {
        "$schema": META,
        "protocol": name,
        "title": title,
        "version": version,
        "description": description,
        "capability": None,
        "roles": dict(roles),
    }


def assembled(draft: ProtocolDraft, types: DraftTypes) -> Imported:
    """Return the document of a draft, with the types that it needs."""
    methods = {name: _row(name, one, types) for name, one in sorted(draft.methods.items())}
    own = {name: one for name, one in draft.errors.items() if one["code"] not in OWN_CODES}
    errors = {name: _error(name, one, types) for name, one in own.items()}
    unused = _unused(draft, types.source)
    kept = {name: _record(name) for name in unused} if draft.keeps_unused else {}
    records = {
        name: {**one, "type": types.reference(one["type"])}
        for name, one in (*draft.records.items(), *kept.items())
    }
    types.finish()
    content = {
        **document_head(draft.name, draft.title, draft.version, draft.description, draft.roles),
        **draft.extra,
        "methods": methods,
        "errors": errors,
        "$defs": dict(sorted(types.made.items())),
        **({"records": records} if records else {}),
    }
    absent = [name for name in types.source if types.name_of(name) not in types.made]
    lost = sorted(name for name in absent if name not in draft.became)
    return Imported(
        content,
        (
            *draft.left_out,
            *(f"{name}: no method uses this type" for name in lost),
            *drop_misfits(content),
        ),
        widened=types.widened(),
        folded=(*draft.folded, *_folded({name: draft.became.get(name, "") for name in absent})),
        without_effect=types.without_effect(),
    )


def _unused(draft: ProtocolDraft, source: Node) -> list[str]:
    """Return the definitions that no message leads to, and that did not become anything else."""
    waiting: list[Any] = [draft.errors, *(method.parts for method in draft.methods.values())]
    waiting += [source[record["type"]] for record in draft.records.values()]
    reached = {record["type"] for record in draft.records.values()}
    while waiting:
        here = waiting.pop()
        if isinstance(here, list):
            waiting += here
        elif isinstance(here, dict):
            waiting += here.values()
            name = defined_name(here.get("$ref", ""))
            if name in source and name not in reached:
                reached.add(name)
                waiting.append(source[name])
    return sorted(source.keys() - reached - draft.became.keys())


def _record(name: str) -> Node:
    summary = f"The type `{name}`, which no message refers to."
    return {"type": name, "section": "Types", "summary": summary}


def _folded(became: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each place that definitions went to."""
    places: dict[str, list[str]] = {}
    for name, target in became.items():
        if target:
            places.setdefault(target, []).append(name)
    for target, names in sorted(places.items()):
        yield f"{', '.join(sorted(names))} into {target}"


def _row(name: str, draft: MethodDraft, types: DraftTypes) -> Node:
    row: Node = {"kind": draft.kind, "from": draft.sender, "section": draft.section}
    summary, rest = summary_and_rest(draft.description)
    row["summary"] = summary or f"`{name}`."
    if rest:
        row["description"] = rest
    for part in PARTS:
        if part in draft.parts:
            row[part] = _reference(f"{pascal(name)}{pascal(part)}", draft.parts[part], types)
    return row | draft.more


def _reference(name: str, node: Node, types: DraftTypes) -> str:
    """Return a reference to a type: the one that a schema is a mere reference to, or a new one."""
    defined = defined_name(node.get("$ref", ""))
    return types.reference(defined) if defined in types.source else types.add(name, node)


def _error(name: str, error: Node, types: DraftTypes) -> Node:
    data = {"data": _reference(f"{name}Data", error["data"], types)} if "data" in error else {}
    return {**error, **data}
