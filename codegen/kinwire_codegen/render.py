"""Everything but the models, by Jinja: rows, errors, stubs, handlers and reference pages."""

from __future__ import annotations

__all__ = ("package_files", "protocol_files", "reference_page")

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from kinwire_codegen.document import Document, Documents, Reference, resolve
from kinwire_codegen.names import class_name, constant_name, snake_name
from kinwire_codegen.signatures import Module, Parameter
from kinwire_codegen.typerules import parts


@dataclass(frozen=True, slots=True)
class RowError:
    """One error that a method may be answered with."""

    home: str
    """The Python package of the protocol that declares it."""
    alias: str
    """What that protocol's errors module is called where the row stands."""
    name: str
    description: str

    @property
    def path(self) -> str:
        return f"{self.alias}.{self.name}"


@dataclass(frozen=True)
class Row:
    """One row of the method table as the templates read it."""

    wire: str
    content: dict[str, Any]
    params: str
    result: str | None
    parameters: tuple[Parameter, ...]
    errors: tuple[RowError, ...]
    imports: frozenset[str]

    @property
    def attribute(self) -> str:
        return snake_name(self.wire)

    @property
    def constant(self) -> str:
        return constant_name(self.wire)

    @property
    def kind(self) -> str:
        return str(self.content["kind"])

    @property
    def sender(self) -> str:
        return str(self.content["from"])

    @property
    def chosen(self) -> tuple[Parameter, ...]:
        """The parameters that leave something to choose; a constant tag does not."""
        return tuple(
            p
            for p in self.parameters
            if not (p.default and p.annotation == f"Literal[{p.default}]")
        )


def package_files(documents: Documents, package: str) -> dict[str, str]:
    """Return the modules that all protocols of the package share, by path."""
    files = {
        f"{name}.py": _environment().get_template(f"{name}.py.j2").render(package=package)
        for name in ("base", "peer", "problems")
    }
    files["__init__.py"] = (
        _environment().get_template("package.py.j2").render(documents=list(documents))
    )
    files["py.typed"] = ""
    kept = {
        "meta": documents.meta,
        "documents": {document.name: document.content for document in documents},
    }
    files["schema.json"] = json.dumps(kept, ensure_ascii=False, separators=(",", ":")) + "\n"
    return files


def protocol_files(
    documents: Documents, document: Document, modules: dict[str, Module], package: str
) -> dict[str, str]:
    """Return the modules of one protocol beside its models, by path."""
    rows = [
        _row(documents, document, wire, modules, package) for wire in document.content["methods"]
    ]
    stubs = {"client", "server"} if rows else set[str]()
    context = {
        "document": document,
        "package": package,
        "rows": rows,
        "names": sorted(modules[document.name].names),
        "error_names": [class_name(name) for name in document.content["errors"]],
        "imports": sorted({line for row in rows for line in row.imports}),
        "foreign": sorted({e.home for row in rows for e in row.errors} - {document.module}),
        "to_server": [row for row in rows if row.sender != "server"],
        "to_client": [row for row in rows if row.sender != "client"],
    }
    wanted = ("__init__", "errors", "methods", *sorted(stubs))
    templates = {
        name: "protocol.py.j2" if name == "__init__" else f"{name}.py.j2" for name in wanted
    }
    return {
        f"{document.module}/{name}.py": _environment().get_template(template).render(context)
        for name, template in templates.items()
    }


def reference_page(documents: Documents, document: Document) -> str:
    """Return the protocol's reference as Markdown."""
    return (
        _environment()
        .get_template("reference.md.j2")
        .render(document=document, documents=documents)
    )


def _row(
    documents: Documents, document: Document, wire: str, modules: dict[str, Module], package: str
) -> Row:
    content = document.content["methods"][wire]
    params = resolve(content["params"], document.name)
    result = resolve(content["result"], document.name) if "result" in content else None
    module = modules[params.protocol]
    models = f"{package}.{documents[params.protocol].module}.models"
    parameters = module.classes[params.name]
    imports = {
        f"from {package}.{documents[one.protocol].module}.models import {one.name}"
        for one in (params, result)
        if one
    }
    imports |= module.imports_for(parameters, models)
    errors = tuple(_error(documents, document, name) for name in content.get("errors", ()))
    return Row(
        wire,
        content,
        params.name,
        result.name if result else None,
        parameters,
        errors,
        frozenset(imports),
    )


def _error(documents: Documents, document: Document, text: str) -> RowError:
    entry = _error_entry(documents, document, text)
    home = documents[entry["protocol"]].module
    alias = "errors" if home == document.module else f"{home}_errors"
    return RowError(home, alias, class_name(entry["name"]), entry["description"])


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("kinwire_codegen"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # the output is Python and Markdown
    )
    environment.filters |= {
        "docstring": _docstring,
        "cell": lambda text: str(text).replace("|", "\\|").replace("\n", " "),
        "class_name": class_name,
        "pretty": lambda value: json.dumps(value, indent=2, ensure_ascii=False),
        "python_tuple": lambda values: repr(tuple(values)),
        "link": _link,
        "shape": _shape,
    }
    environment.globals |= {"members": _members, "error_entry": _error_entry}
    return environment


def _members(
    documents: Documents, document: Document, name: str
) -> list[tuple[str, Any, bool, str]]:
    """Return name, type, whether required, and home of a type's members, what it extends first."""
    own, *others = parts(documents, Reference(document.name, name))
    required = {member for _, part in (own, *others) for member in part.get("required", ())}
    found: dict[str, tuple[Any, str]] = {}
    for owner, part in [*others, own]:
        found |= {key: (node, owner.protocol) for key, node in part.get("properties", {}).items()}
    return [(member, node, member in required, home) for member, (node, home) in found.items()]


def _error_entry(documents: Documents, document: Document, text: str) -> dict[str, Any]:
    protocol, _, name = text.rpartition("#")
    home = documents[protocol or document.name]
    return {"name": name, "protocol": home.name, **home.content["errors"][name]}


def _docstring(text: str) -> str:
    """Return `text` as it may stand in a docstring, also at its end."""
    escaped = text.strip().replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return escaped[:-1] + '\\"' if escaped.endswith('"') else escaped


def _link(text: str, home: str, page: str) -> str:
    """Return a link to the type that `text` names in `home`, for the page of `page`."""
    protocol, name = resolve(text, home)
    return f"[{name}]({'' if protocol == page else f'{protocol}.md'}#{name.lower()})"


def _shape(node: dict[str, Any], home: str, page: str) -> str:
    """Return a type in a few words of Markdown."""
    if "$ref" in node:
        return _link(node["$ref"], home, page)
    if "const" in node:
        return f"`{json.dumps(node['const'])}`"
    if "enum" in node:
        return " or ".join(f"`{json.dumps(value)}`" for value in node["enum"])
    for key in ("anyOf", "oneOf", "allOf"):
        branches = [branch for branch in node.get(key, ()) if set(branch) - {"required"}]
        if branches:
            word = " and " if key == "allOf" else " or "
            return word.join(_shape(branch, home, page) for branch in branches)
    return _plain_shape(node, home, page)


def _plain_shape(node: dict[str, Any], home: str, page: str) -> str:
    kinds = node.get("type", "any JSON value")
    if kinds == "array":
        return f"array of {_shape(node.get('items', {}), home, page)}"
    values = node.get("additionalProperties")
    if kinds == "object" and isinstance(values, dict) and values:
        return f"object of {_shape(values, home, page)}"
    words = kinds if isinstance(kinds, str) else " or ".join(kinds)
    bounds = [f"{sign} {node[key]}" for key, sign in BOUNDS.items() if key in node]
    return words + (f" ({', '.join(bounds)})" if bounds else "")


BOUNDS = {
    "minimum": "at least",
    "maximum": "at most",
    "exclusiveMinimum": "above",
    "exclusiveMaximum": "below",
    "minLength": "length at least",
    "maxLength": "length at most",
    "pattern": "matching",
}
