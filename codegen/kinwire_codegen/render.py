"""Everything but the models, by Jinja: rows, errors, stubs, handlers and reference pages."""

from __future__ import annotations

__all__ = ("borrowed_files", "package_files", "protocol_files", "reference_page")

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from kinwire_codegen.document import Document, Documents, Reference, resolve
from kinwire_codegen.markdown import link, members, shape
from kinwire_codegen.names import class_name, constant_name, snake_name
from kinwire_codegen.package import OWNED, Package
from kinwire_codegen.signatures import Module, Parameter


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


def package_files(documents: Documents, package: Package) -> dict[str, str]:
    """Return the modules that the package has beside those of its protocols, by path."""
    own = [document for document in documents if document.module in package.own]
    shared = ("base", "peer", "problems") if package.alone else ()
    files = {
        f"{name}.py": _environment().get_template(f"{name}.py.j2").render(package=package)
        for name in shared
    }
    files["__init__.py"] = _environment().get_template("package.py.j2").render(documents=own)
    files["py.typed"] = ""
    kept = {"meta": documents.meta, "documents": {one.name: one.content for one in own}}
    files["schema.json"] = json.dumps(kept, ensure_ascii=False, indent=1) + "\n"
    return files


def borrowed_files(module: str, names: Iterable[str], package: Package) -> dict[str, str]:
    """Return the modules that pass on the types of a protocol that the shared package holds."""
    home = f"{package.shared}.{module}.models"
    lines = [f"from {home} import {name} as {name}" for name in names]
    what = f'"""Types of {home}. Generated {OWNED}."""'
    return {
        f"{module}/__init__.py": what + "\n",
        f"{module}/models.py": "\n".join([what, *lines, ""]),
    }


def protocol_files(
    documents: Documents, document: Document, modules: dict[str, Module], package: Package
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
    documents: Documents,
    document: Document,
    wire: str,
    modules: dict[str, Module],
    package: Package,
) -> Row:
    content = document.content["methods"][wire]
    params = resolve(content["params"], document.name)
    result = resolve(content["result"], document.name) if "result" in content else None
    module = modules[params.protocol]

    def module_of(reference: Reference) -> str:
        return documents[reference.protocol].module

    models = f"{package.home(module_of(params))}.{module_of(params)}.models"
    parameters = module.classes[params.name]
    imports = {
        f"from {package.home(module_of(one))}.{module_of(one)}.models import {one.name}"
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
        "link": link,
        "shape": shape,
    }
    environment.globals |= {"members": members, "error_entry": _error_entry}
    return environment


def _error_entry(documents: Documents, document: Document, text: str) -> dict[str, Any]:
    protocol, _, name = text.rpartition("#")
    home = documents[protocol or document.name]
    return {"name": name, "protocol": home.name, **home.content["errors"][name]}


def _docstring(text: str) -> str:
    """Return `text` as it may stand in a docstring, also at its end."""
    escaped = text.strip().replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return escaped[:-1] + '\\"' if escaped.endswith('"') else escaped
